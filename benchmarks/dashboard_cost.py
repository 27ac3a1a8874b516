"""Prints what watching costs a run: speed and CPU time, watched and unwatched in turn.

One run trains all the time. A client watches 64 tiles in every second phase, so both kinds of
phases see the same machine and the same policy:

    python benchmarks/dashboard_cost.py --phases 10 --seconds 30
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import psutil
import watched_run

from warpzone.runs.live_rollout import FRESH_SECONDS

NUM_ENVS = 64
# Until the wall plays, or the last request for frames is too old to count.
SETTLE_SECONDS = FRESH_SECONDS + 1.0


@dataclass(frozen=True)
class Phase:
    """What was measured in one phase."""

    steps: int
    seconds: float
    cpu: float
    server: float
    frames: int

    @property
    def speed(self) -> float:
        """Environment steps per second."""
        return self.steps / self.seconds

    @property
    def cost(self) -> float:
        """CPU microseconds of the trainer per environment step."""
        return self.cpu / max(1, self.steps) * 1e6

    @property
    def frame_rate(self) -> float:
        """Frames per second that the client received, also before the measurement began."""
        return self.frames / (SETTLE_SECONDS + self.seconds)

    @property
    def server_share(self) -> float:
        """Fraction of a core that the dashboard's process takes."""
        return self.server / self.seconds


async def measure(
    processes: tuple[psutil.Process, psutil.Process],
    run: Path,
    address: str,
    seconds: float,
    *,
    watched: bool,
) -> Phase:
    """Measures one phase."""
    frames = asyncio.create_task(_watch(address)) if watched else None
    await asyncio.sleep(SETTLE_SECONDS)
    begun, steps = time.monotonic(), watched_run.steps_of(run)
    cpu = [watched_run.cpu_seconds(process) for process in processes]
    await asyncio.sleep(seconds)
    phase = Phase(
        watched_run.steps_of(run) - steps,
        time.monotonic() - begun,
        watched_run.cpu_seconds(processes[0]) - cpu[0],
        watched_run.cpu_seconds(processes[1]) - cpu[1],
        0,
    )
    if frames is None:
        return phase
    frames.cancel()
    return replace(phase, frames=await frames)


async def _watch(address: str) -> int:
    count = 0
    with suppress(asyncio.CancelledError):  # The phase is over.
        async with watched_run.connect_wall(address) as socket:
            async for message in socket:
                if isinstance(message, bytes):
                    count += 1
                    await socket.send(watched_run.CONFIRMATION)
    return count


async def compare(phases: int, seconds: float, options: list[str]) -> dict[bool, list[Phase]]:
    """Alternates between unwatched and watched phases."""
    found: dict[bool, list[Phase]] = {False: [], True: []}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with (
            watched_run.training(folder, NUM_ENVS, *options) as (trainer, run),
            watched_run.dashboard(folder) as (server, address),
        ):
            for number in range(2 * phases):
                watched = number % 2 == 1
                phase = await measure((trainer, server), run, address, seconds, watched=watched)
                found[watched].append(phase)
                print(
                    f"{'watched' if watched else 'unwatched':>9}: {phase.speed:7.0f} steps/s, "
                    f"{phase.cost:6.1f} CPU us per step, {phase.frames} frames, "
                    f"dashboard {phase.server_share:.1%} of a core",
                    flush=True,
                )
    return found


def main() -> None:
    """Prints every phase and the ratios of the medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--phases", type=int, default=10, help="phases of each kind")
    parser.add_argument("--seconds", type=float, default=30.0, help="length of a phase")
    parser.add_argument("options", nargs="*", help="further options of `warpzone train`, after --")
    given = parser.parse_args()
    found = asyncio.run(compare(given.phases, given.seconds, given.options))

    def median(name: str, *, watched: bool) -> float:
        return statistics.median(getattr(phase, name) for phase in found[watched])

    def ratio(name: str) -> float:
        return median(name, watched=True) / median(name, watched=False) - 1.0

    for watched, phases in found.items():
        speeds = [phase.speed for phase in phases]
        print(
            f"{'watched' if watched else 'unwatched':>9}: median "
            f"{median('speed', watched=watched):,.0f} steps/s "
            f"({min(speeds):,.0f} to {max(speeds):,.0f}), "
            f"{median('cost', watched=watched):.1f} CPU us per step, "
            f"{median('frame_rate', watched=watched):.0f} frames per second"
        )
    print(f"watching changes steps/s by {ratio('speed'):+.2%}")
    print(f"watching changes the trainer's CPU time per step by {ratio('cost'):+.2%}")
    print(
        f"the dashboard's process takes {median('server_share', watched=True):.1%} of a core "
        f"when watched, {median('server_share', watched=False):.1%} otherwise"
    )


if __name__ == "__main__":
    main()
