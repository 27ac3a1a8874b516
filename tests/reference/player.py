"""A player that gets far without knowing the level, by keeping the best of several random segments.

Random buttons alone rarely get past the first pits. Our console saves and restores in microseconds,
so the player tries several random segments and keeps the one that gets furthest without dying.
Occasionally, and for the last part of a recording, it keeps any segment, because deaths and reloads
must be compared as well.
"""

from __future__ import annotations

import numpy as np

import warpzone

_A, _B, _UP, _DOWN, _LEFT, _RIGHT = 0x01, 0x02, 0x10, 0x20, 0x40, 0x80

_TRIES, _TRIED_FRAMES, _KEPT_FRAMES = 14, 64, 24
_RANDOM_PROBABILITY = 0.08  # of keeping any segment
_RANDOM_END = 0.2  # fraction of the recording

_WORLD, _LEVEL, _AREA_POINTER = 0x75F, 0x75C, 0x750
_X_PAGE, _X, _Y_PAGE, _PLAYER_STATE = 0x6D, 0x86, 0xB5, 0x0E
_DEAD_STATES = (0x06, 0x0B)
_LEVEL_SCORE, _AREA_SCORE = 1_000_000, 2_000  # in pixels


def random_buttons(rng: np.random.Generator, frames: int) -> np.ndarray:
    """Samples held buttons that mostly run and jump to the right; never START or SELECT."""
    parts: list[np.ndarray] = []
    length = 0
    while length < frames:
        part = _macro(rng)
        parts.append(part)
        length += len(part)
    return np.concatenate(parts)[:frames]


def plan(nes: warpzone.Console, seed: int, frames: int) -> np.ndarray:
    """Plays from the console's current state and returns the buttons of every frame.

    Args:
        nes: A console with Mario under control; its state changes.
        seed: Random seed.
        frames: Number of frames to play.
    """
    rng = np.random.default_rng(seed)
    played = np.zeros(0, np.uint8)
    while len(played) < frames:
        at_end = len(played) > (1 - _RANDOM_END) * frames
        keep_any = at_end or rng.random() < _RANDOM_PROBABILITY
        segment = random_buttons(rng, _TRIED_FRAMES) if keep_any else _best_segment(nes, rng)
        kept = segment[:_KEPT_FRAMES]
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


def _best_segment(nes: warpzone.Console, rng: np.random.Generator) -> np.ndarray:
    state = nes.save()
    before = _level_and_area(nes)
    best: tuple[int, np.ndarray] | None = None
    for _ in range(_TRIES):
        buttons = random_buttons(rng, _TRIED_FRAMES)
        for pressed in buttons:
            nes.run_frame(int(pressed), render=False)
        score = _score(nes, before)
        nes.load(state)
        if best is None or score > best[0]:
            best = score, buttons
    assert best is not None
    return best[1]


def _level_and_area(nes: warpzone.Console) -> tuple[int, int]:
    return 4 * int(nes.ram[_WORLD]) + int(nes.ram[_LEVEL]), int(nes.ram[_AREA_POINTER])


def _score(nes: warpzone.Console, before: tuple[int, int]) -> int:
    ram = nes.ram
    level, area = _level_and_area(nes)
    if ram[_PLAYER_STATE] in _DEAD_STATES or ram[_Y_PAGE] > 1:
        return -1
    x = 256 * int(ram[_X_PAGE]) + int(ram[_X])
    return (level - before[0]) * _LEVEL_SCORE + (area != before[1]) * _AREA_SCORE + x
