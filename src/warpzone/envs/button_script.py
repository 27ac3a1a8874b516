"""Written sequences of buttons, such as `START:8,RIGHT+B:180`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from warpzone.envs.actions import describe_buttons, parse_buttons
from warpzone.errors import ConfigError


class Hold(NamedTuple):
    """Buttons, and for how long they are held."""

    buttons: int
    length: int


def parse_script(text: str, unit: str = "frames") -> list[Hold]:
    """Reads buttons and lengths: `RIGHT+B:120,RIGHT+A+B:30`; a length left out is 1.

    Args:
        text: The sequence.
        unit: What lengths count, for errors.

    Raises:
        ConfigError: For a button that does not exist, or a length below 1.
    """
    holds = []
    for entry in text.split(","):
        buttons, _, length = entry.partition(":")
        if length and not (length.strip().isdecimal() and int(length) > 0):
            raise ConfigError(f"{entry!r} must end with a number of {unit} above 0")
        holds.append(Hold(parse_buttons(buttons), int(length) if length else 1))
    return holds


def script_steps(
    holds: Sequence[Hold], actions: Sequence[int], frame_skip: int, option: str
) -> list[int]:
    """A sequence in frames as numbers of actions, one an agent step.

    Args:
        holds: The sequence.
        actions: Buttons of each action.
        frame_skip: Frames of a step; what is held for a part of one is held for all of it.
        option: Where the sequence comes from, for errors.

    Raises:
        ConfigError: When no action presses such buttons.
    """
    steps: list[int] = []
    for hold in holds:
        if hold.buttons not in actions:
            known = ", ".join(describe_buttons(buttons) for buttons in actions)
            raise ConfigError(
                f"{option} presses {describe_buttons(hold.buttons)}, which is no action of this "
                f"run; there are {known} (--actions extended has the most)"
            )
        steps += [actions.index(hold.buttons)] * steps_of(hold.length, frame_skip)
    return steps


def steps_of(frames: int, frame_skip: int) -> int:
    """Agent steps that last at least so many frames."""
    return -(-frames // frame_skip)
