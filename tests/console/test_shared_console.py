"""A console that several Python threads share: frames are never torn."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import warpzone

THREADS, FRAMES = 4, 150


def in_threads(*work: Callable[[], None]) -> None:
    """Runs the functions at the same time, and raises what one of them raised."""
    barrier = threading.Barrier(len(work))

    def started_together(function: Callable[[], None]) -> None:
        barrier.wait()
        function()

    with ThreadPoolExecutor(len(work)) as executor:
        for result in [executor.submit(started_together, function) for function in work]:
            result.result()


def test_frames_of_several_threads_add_up_to_the_same_machine(rom_path: Path) -> None:
    shared, alone = warpzone.Console(rom_path), warpzone.Console(rom_path)

    def run() -> None:
        for _ in range(FRAMES):
            shared.run_frame(render=False)

    in_threads(*[run] * THREADS)
    alone.run_frames(THREADS * FRAMES)
    assert shared.frame_count == THREADS * FRAMES
    assert shared.save() == alone.save()


def test_many_frames_at_once_do_not_mix_with_those_of_another_thread(rom_path: Path) -> None:
    shared, alone = warpzone.Console(rom_path), warpzone.Console(rom_path)
    in_threads(*[lambda: shared.run_frames(FRAMES)] * THREADS)
    alone.run_frames(THREADS * FRAMES)
    assert shared.save() == alone.save()


def test_states_saved_while_another_thread_plays_are_whole_frames(rom_path: Path) -> None:
    nes, checked = warpzone.Console(rom_path), warpzone.Console(rom_path)
    expected = {}
    for frame in range(FRAMES + 1):
        expected[frame] = checked.save()
        checked.run_frame(render=False)
    states: list[bytes] = []
    done = threading.Event()

    def save() -> None:
        while not done.is_set():
            states.append(nes.save())

    def play() -> None:
        try:
            for _ in range(FRAMES):
                nes.run_frame(render=False)
        finally:
            done.set()

    in_threads(save, play)
    assert set(states) <= set(expected.values())


def test_ctrl_c_ends_a_long_run_of_frames(rom_path: Path) -> None:
    script = f"""
import os, signal, threading, warpzone
nes = warpzone.Console({str(rom_path)!r})
threading.Thread(target=lambda: os.kill(os.getpid(), signal.SIGINT), daemon=True).start()
nes.run_frames(2_000_000_000)
"""
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False
    )
    assert "KeyboardInterrupt" in result.stderr
    assert result.returncode in (1, 130, -signal.SIGINT)
