"""From the user's keywords to what the native core takes: the same for every environment."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

from warpzone import _native
from warpzone.envs.actions import resolve_actions
from warpzone.envs.options import RomFile, Weight, check_keywords, check_names
from warpzone.errors import ConfigError
from warpzone.named_box import NamedBox
from warpzone.rom.image import GAMES, SMB
from warpzone.rom.locate import load_game

#: Where the whole game is played from the title screen.
WHOLE_GAME = "game"


@dataclass(frozen=True)
class EnvSetup:
    """A checked configuration with the cartridge it is for."""

    image: bytes
    game: str
    config: _native.EnvConfig
    weights: _native.RewardWeights

    @property
    def action_space(self) -> spaces.Discrete[np.int64]:
        """One action for each button combination."""
        return spaces.Discrete(len(self.config.actions))


def prepare(
    level: str | Sequence[str] = "1-1",
    *,
    rom: RomFile = None,
    game: str = SMB,
    weights: Mapping[str, Weight] | None = None,
    **parameters: Any,
) -> EnvSetup:
    """Checks keywords and finds the cartridge.

    Args:
        level: A level ('1-1'), several ('1-1,1-2', '1-1..1-4', a list), 'all', or 'game'.
        rom: The cartridge; by default the one that is installed.
        game: 'smb' or 'lost-levels'.
        weights: Reward weights that differ from the defaults.
        parameters: Any of `parameter_help()`; `actions` may also name a set, `size` be one number.

    Raises:
        ConfigError: With one sentence that names the parameter, its value and what is allowed.
        RomError: When no usable cartridge is found.
    """
    if game not in GAMES:
        raise ConfigError(f"game is {game!r}; it must be one of {', '.join(GAMES)}")
    check_keywords(parameters)
    if not isinstance(weights or {}, Mapping) or not all(isinstance(n, str) for n in weights or ()):
        raise ConfigError(f"weights are {weights!r}; they must be a dict of names and numbers")
    if rom is not None and not isinstance(rom, str | os.PathLike):
        raise ConfigError(f"rom is {rom!r}; it must be the path of a .nes file")
    if "actions" in parameters:
        parameters["actions"] = resolve_actions(parameters["actions"])
    if isinstance(parameters.get("size"), int | np.integer):
        parameters["size"] = (int(parameters["size"]), int(parameters["size"]))
    config = _native.EnvConfig(level=expand_levels(level, game), **parameters)
    _native.check(config, game)
    return EnvSetup(load_game(game, rom), game, config, reward_weights(weights or {}))


def reward_weights(weights: Mapping[str, Weight]) -> _native.RewardWeights:
    """Checks reward weights; those that are not given keep their defaults."""
    check_names(weights, _native.RewardWeights().as_dict(), "a reward weight")
    return _native.RewardWeights(**weights)


def expand_levels(level: str | Sequence[str], game: str = SMB) -> list[str]:
    """Turns '1-1', '1-1,1-2', '1-1..1-4', 'all' or a list of these into a list of level names.

    Raises:
        ConfigError: When something else than text, or a span of unknown levels, is given.
    """
    if not isinstance(level, str | Sequence):
        raise ConfigError(f"level is {level!r}; levels are written like '1-1', or as a list")
    names = level.split(",") if isinstance(level, str) else level
    result: list[str] = []
    for name in names:
        if not isinstance(name, str):
            raise ConfigError(f"level {name!r} is not text; levels are written like '1-1'")
        if name.strip() == "all":
            result.extend(_native.level_names(game))
        elif ".." in name:
            result.extend(_span(name.strip(), _native.level_names(game)))
        else:
            result.append(name.strip())
    return result


def _span(text: str, levels: list[str]) -> list[str]:
    """The levels from the first to the last that '1-3..2-1' names, both included."""
    first, _, last = (part.strip() for part in text.partition(".."))
    if first not in levels or last not in levels or levels.index(first) > levels.index(last):
        raise ConfigError(
            f"level {text!r} is not a range of levels; write it as '1-1..1-4', from {levels[0]} to "
            f"{levels[-1]}"
        )
    return levels[levels.index(first) : levels.index(last) + 1]


def feature_names() -> list[str]:
    """Names of the features of a tile observation, in their order."""
    return [_native.feature_name(index) for index in range(_native.FEATURE_COUNT)]


def spaces_of(setup: EnvSetup) -> tuple[Any, Any]:
    """The spaces of one environment's observations and actions, without making one."""
    image = _native.ImageWriter(setup.config, setup.game)
    stack = _native.stack_of(setup.config, setup.game)
    space = observation_space(setup.config, image.height, image.width, stack)
    return space, setup.action_space


def observation_space(config: _native.EnvConfig, height: int, width: int, stack: int) -> Any:
    """The space of one environment's observations."""
    if config.obs == "tiles":
        planes, rows, columns = _native.TILES_SHAPE
        return spaces.Dict(
            {
                "tiles": spaces.Box(0, 255, (planes * stack, rows, columns), np.uint8),
                "features": NamedBox(feature_names()),
            }
        )
    count = 3 * stack if config.obs == "rgb" else stack
    last = config.obs == "rgb" and config.channels == "last"
    shape = (height, width, count) if last else (count, height, width)
    return spaces.Box(0, 255, shape, np.uint8)
