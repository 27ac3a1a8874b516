"""Scripts: written sequences of buttons, such as `RIGHT+B:180,RIGHT+A+B:30`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from warpzone.envs.actions import BUTTONS, describe_buttons, parse_buttons
from warpzone.errors import ConfigError


class Hold(NamedTuple):
    """Buttons, and for how long they are held."""

    buttons: int
    length: int


def parse_script(text: str, unit: str = "frames") -> list[Hold]:
    """Reads buttons and lengths, such as `RIGHT+B:120,RIGHT+A+B:30`; the default length is 1.

    A script begins at the first frame in which Mario can be controlled. START belongs to the title
    screen before it, so START at the beginning of a script is skipped; later it would pause the
    game, and is refused.

    Args:
        text: The script.
        unit: What lengths count, for errors.

    Raises:
        ConfigError: For an unknown button, a length below 1, or START that would pause the game.
    """
    holds = []
    for entry in text.split(","):
        buttons, _, length = entry.partition(":")
        if length and not (length.strip().isdecimal() and int(length) > 0):
            raise ConfigError(f"{entry!r} must end with a number of {unit} above 0")
        holds.append(Hold(parse_buttons(buttons), int(length) if length else 1))
    return _without_title(holds, text)


def _without_title(holds: Sequence[Hold], text: str) -> list[Hold]:
    """Drops what passes the title screen: START with nothing but pauses before it."""
    start = BUTTONS["START"]
    begins = next((i for i, hold in enumerate(holds) if hold.buttons not in (0, start)), len(holds))
    passed = [i for i in range(begins) if holds[i].buttons == start]
    kept = list(holds[passed[-1] + 1 :] if passed else holds)
    if not kept:
        raise ConfigError(
            f"{text!r} presses only START, but episodes begin after the title screen; add what "
            "Mario does, such as RIGHT+B:180"
        )
    for hold in kept:
        if hold.buttons & start:
            raise ConfigError(
                f"{text!r} presses START while Mario is in control, which pauses the game; leave "
                "START out, or put it first"
            )
    return kept


def script_steps(
    holds: Sequence[Hold], actions: Sequence[int], frame_skip: int, option: str
) -> list[int]:
    """Turns a script in frames into one action per agent step.

    Args:
        holds: The script.
        actions: Buttons of each action.
        frame_skip: Frames per step; a part of a step counts as a whole one.
        option: Where the script comes from, for errors.

    Raises:
        ConfigError: When no action presses these buttons.
    """
    steps: list[int] = []
    for hold in holds:
        if hold.buttons not in actions:
            known = ", ".join(describe_buttons(buttons) for buttons in actions)
            raise ConfigError(
                f"{option} presses {describe_buttons(hold.buttons)}, which is not an action of "
                f"this run; choose from {known}, or use --actions extended"
            )
        steps += [actions.index(hold.buttons)] * steps_of(hold.length, frame_skip)
    return steps


def steps_of(frames: int, frame_skip: int) -> int:
    """Returns the number of agent steps that last at least `frames`."""
    return -(-frames // frame_skip)
