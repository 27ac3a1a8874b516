"""Which levels a run trains on, and which it must never see."""

from __future__ import annotations

from warpzone import _native
from warpzone.config import EnvOptions
from warpzone.envs.setup import expand_levels
from warpzone.errors import ConfigError
from warpzone.rom.image import SMB

RANDOM = "random"
"""All levels, sampled at random."""


def named_levels(text: str, game: str = SMB) -> list[str]:
    """The levels that an option names: one, several, a span such as '1-1..1-4', or 'random'."""
    return expand_levels("all" if text.strip() == RANDOM else text, game)


def held_out_levels(options: EnvOptions) -> list[str]:
    """Levels that are kept for evaluation.

    Raises:
        ConfigError: For one that does not exist.
    """
    levels = named_levels(options.held_out, options.game) if options.held_out else []
    known = _native.level_names(options.game)
    for level in levels:
        if level not in known:
            raise ConfigError(
                f"env.held_out names {level!r}; levels are written like '1-3', up to {known[-1]}"
            )
    return levels


def trained_levels(options: EnvOptions) -> list[str]:
    """Levels that are played while training.

    Raises:
        ConfigError: When none is left.
    """
    held_out = held_out_levels(options)
    levels = [level for level in named_levels(options.level, options.game) if level not in held_out]
    if not levels:
        raise ConfigError(
            f"env.held_out is {options.held_out!r}, which leaves no level of {options.level!r} to "
            "train on"
        )
    return levels


def draws_levels(options: EnvOptions) -> bool:
    """Whether every episode samples its level."""
    return options.level.strip() == RANDOM or options.level_order == "random"
