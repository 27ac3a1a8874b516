"""Creates the watchdogs and hints of a run from options."""

from __future__ import annotations

from contextlib import ExitStack

from warpzone.config import WatchOptions
from warpzone.runs.directory import RunDirectory
from warpzone.telemetry.advice import Observer
from warpzone.telemetry.heartbeat import Heartbeat
from warpzone.telemetry.watchdog import SlowSteps, StallWatchdog
from warpzone.training.guidance.hints import Hints


def start_watchdog(
    options: WatchOptions, heartbeat: Heartbeat, run: RunDirectory, stack: ExitStack
) -> None:
    """Starts a watchdog for stalls; the stack stops it."""
    if options.stall_seconds > 0:
        stalls = StallWatchdog(
            lambda: heartbeat.seconds_since_progress, options.stall_seconds, run.stalls
        )
        stack.callback(stalls.close)


def make_slow_steps(options: WatchOptions, run: RunDirectory) -> SlowSteps | None:
    """Creates the tracer of slow environment steps, if it is enabled."""
    if options.slow_step <= 0:
        return None
    return SlowSteps(options.slow_step, options.slow_count, options.slow_window, run.stalls)


def hint_observers(options: WatchOptions) -> list[Observer]:
    """Creates the observers that give hints."""
    return [Hints(options.hint_minutes * 60)] if options.hint_minutes > 0 else []
