"""The action lists of `gym_super_mario_bros.actions`, in the same order."""

from __future__ import annotations

from warpzone.envs.actions import ACTION_SETS


def _lists(name: str) -> list[list[str]]:
    """An action set as lists of buttons, spelled as nes-py spells them: ['right', 'A']."""
    return [
        [button if button in ("NOOP", "A", "B") else button.lower() for button in action.split("+")]
        for action in ACTION_SETS[name]
    ]


RIGHT_ONLY = _lists("right-only")
SIMPLE_MOVEMENT = _lists("simple")
COMPLEX_MOVEMENT = _lists("complex")
