"""Watchdogs and hints of a run, as configured."""

from __future__ import annotations

from contextlib import ExitStack

from warpzone.config import WatchOptions
from warpzone.runs.directory import RunDirectory
from warpzone.telemetry.advice import Observer
from warpzone.telemetry.heartbeat import Heartbeat
from warpzone.telemetry.watchdog import SlowSteps, StallWatchdog
from warpzone.train.guidance.hints import Hints
from warpzone.train.timed_env import TimedEnv
from warpzone.train.trainer import Trainer


def start_watchdogs(
    trainer: Trainer, heartbeat: Heartbeat, run: RunDirectory, stack: ExitStack
) -> None:
    """Watches for stalls and slow steps until the stack is closed."""
    options = trainer.config.watch
    if options.stall_seconds > 0:
        stalls = StallWatchdog(
            lambda: heartbeat.seconds_since_progress, options.stall_seconds, run.stalls
        )
        stack.callback(stalls.close)
    if options.slow_step > 0:
        slow = SlowSteps(options.slow_step, options.slow_count, options.slow_window, run.stalls)
        stack.callback(slow.close)
        trainer.collector.env = TimedEnv(trainer.env, slow)


def hint_observers(options: WatchOptions) -> list[Observer]:
    """Observers that give advice."""
    return [Hints(options.hint_minutes * 60)] if options.hint_minutes > 0 else []
