"""Altered save states must be rejected without changing the console, or run without harm."""

from __future__ import annotations

import random
from functools import cache

from fuzz_outcome import FuzzFailureError, rejected
from ppu_programs import random_program
from rom_cases import game_images
from states import HEADER_SIZE, forged

import warpzone

_FRAMES = 3
_EXACT_PROBABILITY = 0.03
_PROGRAM_SEEDS = range(12)
_CLOCKS = 80  # a state starts with clocks, counters and positions
_MEMORY = 2048 + 2 * 8192  # and ends with RAM and cartridge memory
_EXTREMES = (0, 1, 2, 7, 0x7F, 0x80, 0xFE, 0xFF)


@cache
def _samples() -> tuple[tuple[bytes, bytes], ...]:
    """Returns pairs of image and valid state: games at several times, programs in mid-frame."""
    found = []
    for image in game_images():
        nes = warpzone.Console(image)
        for frames in (0, 1, 40, 200):
            nes.run_frames(frames, buttons=0x08 if frames == 40 else 0x81)
            found.append((image, nes.save()))
    for seed in _PROGRAM_SEEDS:
        rng = random.Random(seed)
        image = random_program(seed).image()
        nes = warpzone.Console(image)
        nes.run_frames(rng.randrange(1, 9))
        for _ in range(rng.randrange(4000)):
            nes.step_instruction()
        found.append((image, nes.save()))
    return tuple(found)


@cache
def _console(sample: int, exact: bool) -> warpzone.Console:
    return warpzone.Console(_samples()[sample][0], exact=exact)


def _altered_body(body: bytes, rng: random.Random) -> bytes:
    """Changes fields: mostly the small ones that control the console, rarely plain memory."""
    data = bytearray(body)
    fields = len(data) - _MEMORY
    for _ in range(rng.choice((1, 1, 1, 2, 4, 16))):
        size = rng.choice((1, 1, 2, 4, 8))
        offset = rng.randrange(rng.choice((_CLOCKS, _CLOCKS, 176, fields, fields, len(data))))
        if rng.random() < 0.3 and fields > 300:
            offset = fields - rng.randrange(1, 120)  # the APU
        offset -= offset % size
        if rng.random() < 0.5:
            value = bytes(rng.choice(_EXTREMES) for _ in range(size))
        elif rng.random() < 0.5:
            old = int.from_bytes(data[offset : offset + size], "little")
            step = rng.choice((1, -1, 7, -7, 341, -341, 1 << 15, -(1 << 15), 90_000, -90_000))
            value = ((old + step) % (1 << 8 * size)).to_bytes(size, "little")
        else:
            value = rng.randbytes(size)
        data[offset : offset + size] = value
    return bytes(data[: len(body)])


def _altered(state: bytes, rng: random.Random) -> bytes:
    """Changes a state in a way that must be detected."""
    kind = rng.randrange(5)
    if kind == 0:
        return state[: rng.choice((0, 1, 31, 32, 33, rng.randrange(len(state))))]
    if kind == 1:
        return state + rng.randbytes(rng.choice((1, 8, 4096)))
    if kind == 2:
        return rng.randbytes(len(state))
    data = bytearray(state)
    at = rng.randrange(HEADER_SIZE if kind == 3 else len(state))
    data[at] ^= rng.randrange(1, 256)
    return bytes(data)


def run_case(rng: random.Random) -> None:
    """Loads an altered state and runs it if it is accepted."""
    number = rng.randrange(len(_samples()))
    _, good = _samples()[number]
    nes = _console(number, rng.random() < _EXACT_PROBABILITY)
    nes.load(good)
    before = nes.save()
    forge = rng.random() < 0.75
    bad = forged(good, _altered_body(good[HEADER_SIZE:], rng)) if forge else _altered(good, rng)
    if rejected(lambda: nes.load(bad)):
        if nes.save() != before:
            raise FuzzFailureError("a rejected state changed the console")
        return
    if not forge:
        raise FuzzFailureError("an altered state was accepted")
    for _ in range(1 if nes.exact else _FRAMES):
        nes.run_frame(rng.randrange(256), render=rng.random() < 0.7)
    for _ in range(rng.randrange(20)):
        nes.step_instruction()
    if nes.screen.shape != (240, 256, 3):
        raise FuzzFailureError("the screen has the wrong shape")
    if rejected(lambda: nes.load(nes.save())):
        raise FuzzFailureError("the console rejected its own state")
