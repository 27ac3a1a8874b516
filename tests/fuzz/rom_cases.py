"""Altered ROM images must be rejected with a clear message, or run without harm."""

from __future__ import annotations

import random
from functools import cache

from fuzz_outcome import FuzzFailureError, rejected
from ppu_programs import random_program

import warpzone
from warpzone.rom import locate as roms

_FRAMES = 3
_EXACT_PROBABILITY = 0.04  # the exact path is slow under sanitizers
_HEADER = 16
_INTERESTING_OPCODES = (0x00, 0x02, 0x20, 0x40, 0x4C, 0x60, 0x6C, 0x8D, 0x9D, 0x91, 0xD0, 0xCA)


@cache
def game_images() -> tuple[bytes, ...]:
    """Returns the real games' ROM images."""
    return tuple(roms.find_rom(game).read_bytes() for game in (roms.SMB, roms.LOST_LEVELS))


def base_image(rng: random.Random) -> bytes:
    """Returns a valid image: a game, a synthetic program, or noise with a valid header."""
    kind = rng.random()
    if kind < 0.5:
        return rng.choice(game_images())
    if kind < 0.7:
        return random_program(rng.randrange(400)).image()
    units, patterns = rng.choice((1, 2)), rng.choice((0, 1))
    header = b"NES\x1a" + bytes((units, patterns, rng.choice((0, 1)), 0)) + bytes(8)
    return header + rng.randbytes(units * 0x4000 + patterns * 0x2000)


def altered(image: bytes, rng: random.Random) -> bytes:
    """Returns the image with one or more faults."""
    data = bytearray(image)
    for _ in range(rng.choice((1, 1, 2, 5))):
        kind = rng.randrange(7)
        if kind == 0:
            _set(data, rng.randrange(_HEADER), rng.randrange(256))
        elif kind == 1:
            del data[rng.choice((0, 3, 4, 15, 16, rng.randrange(len(data) + 1))) :]
        elif kind == 2:
            data += rng.randbytes(rng.choice((1, 512, 0x2000)))
        elif kind == 3:
            for _ in range(rng.choice((1, 20, 2000))):
                _set(data, _HEADER + rng.randrange(0x8000), rng.randrange(256))
        elif kind == 4:
            for _ in range(rng.choice((1, 50, 500))):
                _set(data, _HEADER + rng.randrange(0x8000), rng.choice(_INTERESTING_OPCODES))
        elif kind == 5:  # the vectors
            for offset in range(6):
                _set(data, _HEADER + 0x8000 - 1 - offset, rng.randrange(256))
        else:
            start, length = rng.randrange(len(data) + 1), rng.randrange(0x400)
            data[start : start + length] = rng.randbytes(length)
    return bytes(data)


def _set(data: bytearray, at: int, value: int) -> None:
    if at < len(data):
        data[at] = value


def run_case(rng: random.Random) -> None:
    """Parses an altered image and runs it if it is accepted."""
    image = altered(base_image(rng), rng)
    exact = rng.random() < _EXACT_PROBABILITY
    console: list[warpzone.Console] = []
    if rejected(lambda: console.append(warpzone.Console(image, exact=exact))):
        return
    (nes,) = console
    for _ in range(1 if exact else _FRAMES):
        frame = nes.frame_count
        nes.run_frame(rng.randrange(256), render=rng.random() < 0.6, buttons2=rng.randrange(256))
        if nes.frame_count != frame + 1:
            raise FuzzFailureError("a frame was not counted")
        if rng.random() < 0.2:
            nes.reset()
        if rng.random() < 0.2:
            for _ in range(rng.randrange(200)):
                nes.step_instruction()
    if rejected(lambda: nes.load(nes.save())):
        raise FuzzFailureError("the console rejected its own state")
