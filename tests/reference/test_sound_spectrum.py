"""The overworld theme as we synthesise it and as stable-retro's core (FCEUmm) does.

Emulators filter and resample differently, so samples are not compared but spectra: the share of
energy in each band of a tenth of a tone, twenty times per second.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from warpzone import _native
from warpzone.bench.peers import install
from warpzone.envs.console import Console
from warpzone.rom.locate import load_game

FOLDER = os.environ.get("WARPZONE_PEERS")
FRAMES, FRAMES_PER_SECOND = 300, 60.0988
WINDOW, HOP = 0.1, 0.05
BANDS = np.geomspace(60, 8000, 81)
RIGHT = 0x80

pytestmark = [
    pytest.mark.reference,
    pytest.mark.skipif(
        FOLDER is None, reason="WARPZONE_PEERS is not set to a folder with stable-retro"
    ),
]


def bands(sound: NDArray[np.float64]) -> NDArray[np.float64]:
    """Amplitudes by moment and band, as one unit vector."""
    rate = len(sound) / FRAMES * FRAMES_PER_SECOND
    width = int(WINDOW * rate)
    hertz = np.fft.rfftfreq(4 * width, 1 / rate)
    edges = np.searchsorted(hertz, BANDS)
    rows = []
    for start in np.arange(0, len(sound) / rate - WINDOW, HOP):
        piece = sound[int(start * rate) :][:width] * np.hanning(width)
        power = np.abs(np.fft.rfft(piece, 4 * width)) ** 2
        rows.append(np.add.reduceat(power, edges)[:-1])
    amplitudes = np.sqrt(np.array(rows))
    return np.asarray(amplitudes / np.linalg.norm(amplitudes))


def test_the_overworld_theme_has_the_spectrum_of_another_emulator(
    rom_path: Path, tmp_path: Path
) -> None:
    assert FOLDER is not None
    peers = Path(FOLDER)
    buttons = np.where(np.arange(FRAMES) > 60, RIGHT, 0).astype(np.uint8)
    np.save(tmp_path / "buttons.npy", buttons)
    worker = Path(__file__).with_name("retro_sound_worker.py")
    subprocess.run(
        [
            *(install.install(install.STABLE_RETRO, peers), worker),
            *(install.retro_integration(peers, rom_path), install.RETRO_GAME),
            *(tmp_path / "buttons.npy", tmp_path / "theirs.npy"),
        ],
        check=True,
        env=os.environ | {"PYTHONPATH": str(install.IMPORT_FROM)},
    )
    theirs = np.load(tmp_path / "theirs.npy").astype(np.float64)
    console = Console(load_game("smb", rom_path))
    _native.start(console, "smb", "1-1", 0)
    console.set_sound(44_100)
    parts = []
    for pressed in buttons:
        console.run_frame(int(pressed), render=False)
        parts.append(console.sound)
    ours = np.concatenate(parts).astype(np.float64)
    a, b = bands(ours), bands(theirs)
    count = min(len(a), len(b))
    likeness = float((a[:count] * b[:count]).sum())
    shifted = float((a[3:count] * b[: count - 3]).sum())
    assert likeness > 0.95
    assert shifted < 0.6, "the measure tells notes that are played at another time apart"
