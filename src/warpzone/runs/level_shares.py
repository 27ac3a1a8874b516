"""Factors by which a run prefers some of its levels: set at the start, or steered."""

from __future__ import annotations

import math
from dataclasses import replace

from warpzone.config import EnvOptions
from warpzone.config.values import show, suggestion
from warpzone.errors import ConfigError
from warpzone.runs.levels import draws_levels, trained_levels

_LARGEST_SHARE = 1e6


def level_shares(options: EnvOptions) -> dict[str, float]:
    """The factor of every trained level, 1 where none is given; empty if none is given at all.

    Raises:
        ConfigError: A factor is malformed, names another level, or nothing would read it.
    """
    if not options.level_shares:
        return {}
    check_shares_apply(options)
    levels = trained_levels(options)
    shares = dict.fromkeys(levels, 1.0)
    for text in options.level_shares.split(","):
        level, equals, number = (part.strip() for part in text.partition("="))
        if not equals:
            raise ConfigError(f"env.level_shares has {text!r}; write LEVEL=SHARE, such as 1-2=3")
        check_level(level, levels)
        shares[level] = parse_share(number, level)
    if not any(shares.values()):
        raise ConfigError("env.level_shares is 0 for all levels; give at least one a share above 0")
    return shares


def with_level_share(options: EnvOptions, level: str, share: str) -> EnvOptions:
    """The options with another factor for one level.

    Raises:
        ConfigError: The run does not train the level, or the factor is not allowed.
    """
    check_shares_apply(options)
    levels = trained_levels(options)
    check_level(level, levels)
    shares = (level_shares(options) or dict.fromkeys(levels, 1.0)) | {
        level: parse_share(share, level)
    }
    texts = [f"{name}={show(factor)}" for name, factor in shares.items() if factor != 1.0]
    changed = replace(options, level_shares=",".join(texts))
    level_shares(changed)
    return changed


def shares_apply(options: EnvOptions) -> bool:
    """Whether the run chooses the level of each episode, so that factors have an effect."""
    chooses = options.level_order == "curriculum" or draws_levels(options)
    return chooses and options.vector == "native"


def check_shares_apply(options: EnvOptions) -> None:
    """Refuses factors for a run that does not choose levels.

    Raises:
        ConfigError: It does not.
    """
    if not shares_apply(options):
        raise ConfigError(
            f"level shares do not apply with env.level_order {options.level_order!r} and "
            f"env.vector {options.vector!r}; they need --level-order curriculum or random and "
            "--vector native"
        )


def check_level(level: str, levels: list[str]) -> None:
    """Refuses a level that the run does not train.

    Raises:
        ConfigError: It does not.
    """
    if level not in levels:
        raise ConfigError(
            f"{level!r} is not a level that this run trains; it trains {', '.join(levels)}"
            f"{suggestion(level, levels)}"
        )


def parse_share(text: str, level: str) -> float:
    """Reads a factor.

    Raises:
        ConfigError: It is not a finite number from 0 up.
    """
    try:
        share = float(text)
    except ValueError:
        share = math.nan
    if not 0.0 <= share <= _LARGEST_SHARE:
        raise ConfigError(
            f"level-share:{level} is {text!r}; it must be a number from 0 to {_LARGEST_SHARE:,.0f}"
        )
    return share
