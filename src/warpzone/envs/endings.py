"""How episodes end: the one vocabulary of infos, logs, evaluations, metrics and videos."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from warpzone import _native

#: Every reason with its meaning; the position is the number in `info["end_reason"]`.
END_REASONS: Mapping[str, str] = MappingProxyType(dict(_native.END_REASONS))

RUNNING = "running"
#: The reasons of episodes that have ended.
EPISODE_ENDS: Mapping[str, str] = MappingProxyType(
    {name: text for name, text in END_REASONS.items() if name != RUNNING}
)
CLEAR = "clear"
STEP_LIMIT = "step_limit"
STAGNATION = "stagnation"
#: Reasons by the number of `info["death_cause"]`.
DEATHS = (RUNNING, "enemy", "pit", "time")

_LOST_LIFE = ("enemy", "pit", "time", "game_over")
_NAMES = tuple(END_REASONS)
_NUMBERS = {name: number for number, name in enumerate(_NAMES)}


def end_name(number: int) -> str:
    """The reason that `info["end_reason"]` stands for."""
    return _NAMES[number]


def end_number(name: str) -> int:
    """The number of a reason in `info["end_reason"]`."""
    return _NUMBERS[name]


def is_death(name: str) -> bool:
    """Whether a lost life ended the episode."""
    return name in _LOST_LIFE


def is_truncation(name: str) -> bool:
    """Whether a limit ended the episode, not the game."""
    return name in (STEP_LIMIT, STAGNATION)
