"""Action sets: lists of button combinations, by name or custom."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any

from warpzone.errors import ConfigError

#: Bit of each button in a controller byte.
BUTTONS = {
    "A": 0x01,
    "B": 0x02,
    "SELECT": 0x04,
    "START": 0x08,
    "UP": 0x10,
    "DOWN": 0x20,
    "LEFT": 0x40,
    "RIGHT": 0x80,
}
NOOP = "NOOP"

_RIGHT_ONLY = ("NOOP", "RIGHT", "RIGHT+A", "RIGHT+B", "RIGHT+A+B")
_SIMPLE = (*_RIGHT_ONLY, "A", "LEFT")
_WHOLE_GAME = (*_SIMPLE, "DOWN", "LEFT+A+B")
_COMPLEX = (*_SIMPLE, "LEFT+A", "LEFT+B", "LEFT+A+B", "DOWN", "UP")
_EXTENDED = (*_COMPLEX, "START", "DOWN+B", "RIGHT+DOWN+B", "LEFT+DOWN+B", "A+B", "B")

#: The named sets. Three are those of gym-super-mario-bros, in its order; "whole-game" has what all
#: 32 levels need: DOWN enters pipes, and LEFT+A+B is a running jump to the left.
ACTION_SETS: dict[str, tuple[str, ...]] = {
    "right-only": _RIGHT_ONLY,
    "simple": _SIMPLE,
    "whole-game": _WHOLE_GAME,
    "complex": _COMPLEX,
    "extended": _EXTENDED,
}

Actions = str | Sequence[str] | Sequence[Sequence[str]] | Sequence[int]


def parse_buttons(combination: str | Sequence[str] | int) -> int:
    """Turns ``"RIGHT+A"``, ``["right", "A"]`` or a controller byte into a controller byte.

    Raises:
        ConfigError: For an unknown button or a byte out of range.
    """
    if isinstance(combination, Integral):
        given = int(combination)
        if not 0 <= given <= 0xFF:
            raise ConfigError(f"actions: {given} is not a controller byte (0 to 255)")
        return given
    if not isinstance(combination, str | Sequence):
        raise ConfigError(
            f"actions: {combination!r} is not a combination; write 'RIGHT+A', ['RIGHT', 'A'] or "
            "0x81"
        )
    names = combination.split("+") if isinstance(combination, str) else combination
    byte = 0
    for name in names:
        button = str(name).strip().upper()
        if button == NOOP:
            continue
        if button not in BUTTONS:
            raise ConfigError(
                f"actions: {name!r} is not a button; choose from NOOP, {', '.join(BUTTONS)}"
            )
        byte |= BUTTONS[button]
    return byte


def resolve_actions(actions: Actions) -> list[int]:
    """Turns an action set into controller bytes.

    Args:
        actions: The name of a set, combinations with commas such as ``"NOOP,RIGHT+A"``, or a list.

    Raises:
        ConfigError: For an unknown set or button, or an empty list.
    """
    if isinstance(actions, str):
        actions = ACTION_SETS.get(actions) or _listed(actions)
    if not isinstance(actions, Iterable):
        raise ConfigError(
            f"actions: {actions!r} is neither an action set nor a list of combinations"
        )
    combinations: list[Any] = list(actions)
    if not combinations:
        raise ConfigError("actions: the list is empty; give at least one combination")
    return [parse_buttons(combination) for combination in combinations]


def _listed(text: str) -> list[str]:
    """The combinations of a list such as 'NOOP,RIGHT+B,RIGHT+A+B'."""
    names = [name.strip() for name in text.split(",")]
    if len(names) == 1 and "+" not in text and text.strip().upper() not in (NOOP, *BUTTONS):
        raise ConfigError(
            f"actions: {text!r} is not an action set; there are {', '.join(ACTION_SETS)}, or give "
            "your own as a list such as 'NOOP,RIGHT+B,RIGHT+A+B'"
        )
    return names


def describe_buttons(byte: int) -> str:
    """Returns the name of a controller byte, such as ``RIGHT+A``."""
    order = ("RIGHT", "LEFT", "UP", "DOWN", "A", "B", "SELECT", "START")
    return "+".join(name for name in order if byte & BUTTONS[name]) or NOOP
