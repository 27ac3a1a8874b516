"""The buttons that both sides of the comparison with gym-super-mario-bros press."""

from __future__ import annotations

import random

RIGHT, JUMP_RIGHT = ["right", "B"], ["right", "A", "B"]


def plan(frames: int, seed: int) -> list[int]:
    """Actions that run and jump to the right, as numbers of the list of two."""
    chance = random.Random(seed)
    actions: list[int] = []
    while len(actions) < frames:
        actions += [0] * chance.randint(4, 40) + [1] * chance.randint(4, 30)
    return actions[:frames]
