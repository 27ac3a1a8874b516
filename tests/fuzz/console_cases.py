"""Wrong arguments for the console's methods: refused in a sentence."""

from __future__ import annotations

import random
from functools import cache

import numpy as np
from outcome import refused
from rom_cases import games

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
    return warpzone.Console(games()[0])


def run_case(rng: random.Random) -> None:
    """Makes one call, mostly with a value that does not fit."""
    nes = _nes()

    def value() -> object:
        return rng.choice((*_ODD_VALUES, rng.randrange(256), rng.randrange(65536)))

    calls = (
        lambda: warpzone.Console(value()),  # type: ignore[arg-type]
        lambda: warpzone.Console(games()[0], exact=value()),  # type: ignore[arg-type]
        lambda: nes.run_frame(value(), render=value()),
        lambda: nes.run_frame(0, buttons2=value()),
        lambda: nes.run_frames(rng.choice((-5, 0, 2, None, 0.5, "x")), buttons=value()),
        lambda: nes.peek(value()),
        lambda: nes.poke(value(), value()),
        lambda: nes.load(value()),
        lambda: setattr(nes.cpu, rng.choice(("pc", "a", "x", "y", "sp", "p")), value()),
    )
    refused(rng.choice(calls))
    nes.run_frame(0, render=False)
