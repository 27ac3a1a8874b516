"""Watches one run with 50 clients, some of which read slowly; prints memory, frames and speed.

Browsers run on other machines, so the clients run with the lowest priority: they take what the run
and the dashboard leave.

python benchmarks/dashboard_soak.py --minutes 10
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import psutil
import watched_run

NUM_ENVS = 64
SLOW_SECONDS = 1.0
MEGABYTE = 1024 * 1024
LOWEST_PRIORITY = 19


@dataclass
class Client:
    """One browser.

    Attributes:
        is_slow: Whether it pauses after each message.
        frames: Messages with frames so far.
    """

    is_slow: bool
    frames: int = 0

    async def watch(self, address: str) -> None:
        """Receives frames until it is cancelled."""
        async with watched_run.connect_wall(address) as socket:
            async for message in socket:
                if not isinstance(message, bytes):
                    continue
                self.frames += 1
                if self.is_slow:
                    await asyncio.sleep(SLOW_SECONDS)
                await socket.send(watched_run.CONFIRMATION)


async def soak(given: argparse.Namespace) -> None:
    """Prints a line per interval."""
    clients = [Client(number < given.slow) for number in range(given.clients)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with (
            watched_run.training(folder, NUM_ENVS, *given.options) as (trainer, run),
            watched_run.dashboard(folder) as (server, address),
        ):
            os.nice(LOWEST_PRIORITY)
            alone = await _speed(trainer, run, 2 * given.interval)
            print(f"nobody watches: {alone[0]:.0f} steps/s, {alone[1]:.1f} CPU us per step")
            tasks = [asyncio.create_task(client.watch(address)) for client in clients]
            begun, memory, speeds = time.monotonic(), [], []
            while time.monotonic() - begun < given.minutes * 60:
                speed = await _speed(trainer, run, given.interval)
                speeds.append(speed[0])
                memory.append(server.memory_info().rss / MEGABYTE)
                _print(clients, begun, memory[-1], server, speed)
            failed = [task.exception() for task in tasks if task.done()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            alone = await _speed(trainer, run, 2 * given.interval)
            print(f"nobody watches: {alone[0]:.0f} steps/s, {alone[1]:.1f} CPU us per step")
    warm = memory[min(len(memory) - 1, 1)]  # Once every client has its first frames.
    print(f"while watched: {statistics.mean(speeds):.0f} steps/s on average")
    print(f"memory of the server: {warm:.0f} MB, at the end {memory[-1]:.0f} MB")
    print(f"clients that lost their connection: {len(failed)}", *failed, sep="\n  ")


async def _speed(trainer: psutil.Process, run: Path, seconds: float) -> tuple[float, float]:
    begun, steps, cpu = (
        time.monotonic(),
        watched_run.steps_of(run),
        watched_run.cpu_seconds(trainer),
    )
    await asyncio.sleep(seconds)
    done = watched_run.steps_of(run) - steps
    used = watched_run.cpu_seconds(trainer) - cpu
    return done / (time.monotonic() - begun), used / max(1, done) * 1e6


def _print(
    clients: list[Client],
    begun: float,
    memory: float,
    server: psutil.Process,
    speed: tuple[float, float],
) -> None:
    seconds = time.monotonic() - begun

    def rate(kind: list[Client]) -> float:
        return sum(client.frames for client in kind) / max(1, len(kind)) / seconds

    fast, slow = (
        rate([c for c in clients if not c.is_slow]),
        rate([c for c in clients if c.is_slow]),
    )
    print(
        f"{seconds:5.0f} s: server {memory:.0f} MB, {watched_run.cpu_seconds(server):.0f} CPU s; "
        f"frames per second: {fast:.1f} per client, {slow:.1f} per slow one; training "
        f"{speed[0]:.0f} steps/s, {speed[1]:.1f} CPU us per step",
        flush=True,
    )


def main() -> None:
    """Runs the soak."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--slow", type=int, default=10, help="slow readers among the clients")
    parser.add_argument("--interval", type=float, default=15.0, help="seconds between two lines")
    parser.add_argument("options", nargs="*", help="further options of `warpzone train`, after --")
    asyncio.run(soak(parser.parse_args()))


if __name__ == "__main__":
    main()
