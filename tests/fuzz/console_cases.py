"""Invalid arguments for the console's methods must be rejected with a clear message."""

from __future__ import annotations

import random
from functools import cache

import numpy as np
from fuzz_outcome import rejected
from rom_cases import game_images

import warpzone

_ODD_VALUES: tuple[object, ...] = (
    None,
    -1,
    256,
    65536,
    1 << 70,
    0.5,
    float("nan"),
    "x",
    b"\x00",
    [],
    {},
    np.zeros(3),
    np.int64(-3),
    np.float32(1),
    object(),
)


@cache
def _nes() -> warpzone.Console:
    return warpzone.Console(game_images()[0])


def run_case(rng: random.Random) -> None:
    """Makes one call, usually with an invalid value."""
    nes = _nes()

    def value() -> object:
        return rng.choice((*_ODD_VALUES, rng.randrange(256), rng.randrange(65536)))

    calls = (
        lambda: warpzone.Console(value()),  # type: ignore[arg-type]
        lambda: warpzone.Console(game_images()[0], exact=value()),  # type: ignore[arg-type]
        lambda: nes.run_frame(value(), render=value()),
        lambda: nes.run_frame(0, buttons2=value()),
        lambda: nes.run_frames(rng.choice((-5, 0, 2, None, 0.5, "x")), buttons=value()),
        lambda: nes.peek(value()),
        lambda: nes.poke(value(), value()),
        lambda: nes.load(value()),
        lambda: setattr(nes.cpu, rng.choice(("pc", "a", "x", "y", "sp", "p")), value()),
    )
    rejected(rng.choice(calls))
    nes.run_frame(0, render=False)
