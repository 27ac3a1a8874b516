"""A player that gets far without knowing the level: random macros, the best of a few is kept.

Random buttons alone rarely pass the first pits. Our console saves and restores in microseconds, so
each stretch of play is tried several ways and the one that gets furthest alive is taken. Now and
then, and for the last part of a recording, any stretch is taken: deaths and reloads belong to what
is compared.
"""

from __future__ import annotations

import numpy as np

import warpzone

_A, _B, _UP, _DOWN, _LEFT, _RIGHT = 0x01, 0x02, 0x10, 0x20, 0x40, 0x80

_TRIES, _TRIED_FRAMES, _KEPT_FRAMES = 14, 64, 24
_CARELESS_SHARE = 0.08  # of the stretches
_CARELESS_END = 0.2  # of the recording

_WORLD, _LEVEL, _AREA_POINTER = 0x75F, 0x75C, 0x750
_X_PAGE, _X, _Y_PAGE, _PLAYER_STATE = 0x6D, 0x86, 0xB5, 0x0E
_LOST_STATES = (0x06, 0x0B)
_A_LEVEL, _AN_AREA = 1_000_000, 2_000  # what they are worth in pixels


def random_buttons(rng: np.random.Generator, frames: int) -> np.ndarray:
    """Draws held buttons that run and jump to the right most of the time; never START or SELECT."""
    parts: list[np.ndarray] = []
    drawn = 0
    while drawn < frames:
        part = _macro(rng)
        parts.append(part)
        drawn += len(part)
    return np.concatenate(parts)[:frames]


def plan(nes: warpzone.Console, seed: int, frames: int) -> np.ndarray:
    """Plays from where the console stands and returns the buttons of every frame.

    Args:
        nes: A console in control of a level; it is moved.
        seed: Decides all draws.
        frames: How long to play.
    """
    rng = np.random.default_rng(seed)
    played = np.zeros(0, np.uint8)
    while len(played) < frames:
        careless = len(played) > (1 - _CARELESS_END) * frames or rng.random() < _CARELESS_SHARE
        stretch = random_buttons(rng, _TRIED_FRAMES) if careless else _best_stretch(nes, rng)
        kept = stretch[:_KEPT_FRAMES]
        for buttons in kept:
            nes.run_frame(int(buttons), render=False)
        played = np.concatenate((played, kept))
    return played[:frames]


def _macro(rng: np.random.Generator) -> np.ndarray:
    run = _B if rng.random() < 0.7 else 0
    kind = rng.random()
    if kind < 0.7:
        jump = np.full(rng.integers(8, 36), _RIGHT | _A | run, np.uint8)
        return np.append(jump, np.full(rng.integers(1, 14), _RIGHT | run, np.uint8))
    if kind < 0.85:
        return np.full(rng.integers(4, 30), _RIGHT | run, np.uint8)
    if kind < 0.93:
        jump_back = _A if rng.random() < 0.4 else 0
        return np.full(rng.integers(4, 24), _LEFT | jump_back | run, np.uint8)
    return np.full(rng.integers(2, 20), rng.choice((0, _DOWN, _UP, _A, _DOWN | _B)), np.uint8)


def _best_stretch(nes: warpzone.Console, rng: np.random.Generator) -> np.ndarray:
    state = nes.save()
    before = _place(nes)
    best: tuple[int, np.ndarray] | None = None
    for _ in range(_TRIES):
        buttons = random_buttons(rng, _TRIED_FRAMES)
        for pressed in buttons:
            nes.run_frame(int(pressed), render=False)
        worth = _worth(nes, before)
        nes.load(state)
        if best is None or worth > best[0]:
            best = worth, buttons
    assert best is not None
    return best[1]


def _place(nes: warpzone.Console) -> tuple[int, int]:
    return 4 * int(nes.ram[_WORLD]) + int(nes.ram[_LEVEL]), int(nes.ram[_AREA_POINTER])


def _worth(nes: warpzone.Console, before: tuple[int, int]) -> int:
    ram = nes.ram
    level, area = _place(nes)
    if ram[_PLAYER_STATE] in _LOST_STATES or ram[_Y_PAGE] > 1:
        return -1
    x = 256 * int(ram[_X_PAGE]) + int(ram[_X])
    return (level - before[0]) * _A_LEVEL + (area != before[1]) * _AN_AREA + x
