"""The keywords of every environment, by name and type.

`native/vector/config.hpp` holds the list of parameters with their defaults and help. This file and
the signatures of `make_vec` and `MarioVectorEnv` spell it out for editors and type checkers; a test
compares each with the list.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Mapping
from typing import Literal, TypedDict

from warpzone import _native
from warpzone.envs.actions import ACTION_SETS, Actions
from warpzone.errors import ConfigError

#: Value of a reward weight: a number, or (start, end, steps) for one that is annealed.
Weight = float | tuple[float, float, int]

RomFile = str | os.PathLike[str] | None
Game = Literal["smb", "lost-levels"]
LevelOrder = Literal["cycle", "random"]
ObsKind = Literal["pixels", "rgb", "tiles"]
Channels = Literal["last", "first"]
Sticky = Literal["frame", "step"]
Hud = Literal["keep", "mask", "crop"]
RewardKind = Literal["shaped", "classic"]
Autoreset = Literal["next-step", "same-step", "disabled"]
RenderMode = Literal["rgb_array"]


class EnvOptions(TypedDict, total=False):
    """Keywords that every environment takes besides `level`; `parameter_help()` explains each."""

    rom: RomFile
    game: Game
    weights: Mapping[str, Weight] | None
    level_order: LevelOrder
    obs: ObsKind
    channels: Channels
    size: int | tuple[int, int]
    stack: int
    frame_skip: int
    max_pool: bool
    show_buttons: bool
    hud: Hud
    actions: Actions
    sticky_prob: float
    sticky: Sticky
    noop_max: int
    game_start_prob: float
    reward: RewardKind
    autoreset: Autoreset
    power: int
    random_power: float
    reseed_game: bool
    start_random_steps: int
    halfway: bool
    start_state: bytes
    max_steps: int
    stagnation_limit: int
    one_life: bool | None
    one_level: bool | None
    exact: bool


def parameter_help() -> dict[str, str]:
    """Returns every keyword of an environment with its help text, in order."""
    parameters = _native.EnvConfig.help()
    del parameters["level"]
    # What Python takes for `actions` is more than what the core takes.
    parameters["actions"] = (
        f"An action set ({', '.join(map(repr, ACTION_SETS))}), or button combinations such "
        "as 'NOOP,RIGHT+A', also as a list."
    )
    return {
        "level": "Levels to play: '1-1', '1-1,1-2', '1-1..1-4', a list of these, 'all', or 'game' "
        "for the whole game from the title screen.",
        "rom": "Path of the ROM; by default the installed one.",
        "game": "'smb' for Super Mario Bros., 'lost-levels' for The Lost Levels.",
        "weights": "Reward weights that differ from the defaults, by name.",
        **parameters,
    }


def check_keywords(given: Iterable[str], *own: str) -> None:
    """Refuses keywords that no environment takes.

    Args:
        given: The keywords to check.
        own: Keywords of one kind of environment, besides those of every environment.
    """
    check_names(given, (*own, *parameter_help()), "an environment parameter")


def check_names(given: Iterable[str], known: Iterable[str], what: str) -> None:
    """Refuses names that do not exist, and suggests the nearest one.

    Args:
        given: The names to check.
        known: Those that exist.
        what: What they name, such as "an environment parameter".

    Raises:
        ConfigError: For the first unknown name.
    """
    names = list(known)
    for name in given:
        if name in names:
            continue
        near = difflib.get_close_matches(str(name), names, n=1)
        remedy = f"did you mean {near[0]!r}?" if near else f"choose from {', '.join(names)}"
        raise ConfigError(f"{name!r} is not {what}; {remedy}")
