"""A training session: a new run or the continuation of one, from its start to a clean end."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from warpzone.config.io import to_toml
from warpzone.config.options import TrainConfig
from warpzone.runs import checkpoint
from warpzone.runs.checkpoint_store import CheckpointStore, find_latest
from warpzone.runs.directory import RunDirectory, run_of
from warpzone.runs.resume import Difference, check_config, find_resume
from warpzone.runs.saved_config import FREE_OPTIONS, saved_config, with_free_options
from warpzone.runs.unborn import discard_unborn
from warpzone.system.signals import StopRequest, handle_signals
from warpzone.telemetry.advice import AdviceSink, Observer
from warpzone.telemetry.heartbeat import CRASHED, FINISHED, INTERRUPTED, Heartbeat
from warpzone.telemetry.hub import Telemetry
from warpzone.telemetry.jsonl import JsonlSink, last_line
from warpzone.telemetry.log_file import log_to
from warpzone.telemetry.metrics import STARTS
from warpzone.telemetry.resources import ResourceMonitor
from warpzone.telemetry.sinks import ParquetSnapshot, Sink, TensorBoardSink
from warpzone.telemetry.terminal import DisplayHandler, Mode, make_display
from warpzone.train.loop import Loop, Until
from warpzone.train.oom_ladder import fitted
from warpzone.train.trainer import Trainer
from warpzone.train.watch import hint_observers, start_watchdogs

_log = logging.getLogger(__name__)

Record = Callable[[Path, Path], None]
"""Begins to film a checkpoint, given the file to write, and returns at once."""


def run_name(config: TrainConfig) -> str:
    """The folder's name of a new run."""
    return config.run.name or f"mario-{config.env.level.replace(',', '+')}"


@dataclass(frozen=True)
class _Watch:
    """How a run is shown, filmed and commented on."""

    mode: Mode
    record: Record | None
    observers: Sequence[Observer]
    until: Until | None


def start(
    config: TrainConfig,
    display: Mode = "auto",
    *,
    record: Record | None = None,
    observers: Sequence[Observer] = (),
    until: Until | None = None,
) -> tuple[RunDirectory, StopRequest]:
    """Trains a new run.

    Args:
        config: What is asked for.
        display: How progress is shown.
        record: Records videos of checkpoints while the run continues.
        observers: See every row of metrics and may answer with advice.
        until: Ends the session early, with everything saved.
    """
    config.verify()
    if config.run.auto_mem:
        config = fitted(config)
    with closing(Trainer(config)) as trainer:  # first, so that what cannot be built leaves no run
        run = RunDirectory.create(Path(config.run.runs), run_name(config), to_toml(config))
        return run, _train(run, trainer, None, _Watch(display, record, observers, until))


def resume(
    target: Path,
    config: TrainConfig,
    allow_changes: bool = False,
    display: Mode = "auto",
    *,
    record: Record | None = None,
    observers: Sequence[Observer] = (),
    until: Until | None = None,
) -> tuple[RunDirectory, StopRequest]:
    """Goes on with a run, exactly where it stopped.

    Args:
        target: A run or a checkpoint.
        config: What is asked for now.
        allow_changes: Go on although `config` differs from the run's own.
        display: How progress is shown.
        record: Records videos of checkpoints while the run continues.
        observers: See every row of metrics and may answer with advice.
        until: Ends the session early, with everything saved.
    """
    config.verify()
    run = run_of(target)
    with run.logging():  # a damaged checkpoint that is skipped belongs into the log
        path = find_resume(target, run.path)
    changes = check_config(
        asdict(saved_config(target)), asdict(config), FREE_OPTIONS, allow_changes
    )
    with closing(Trainer(config)) as trainer:
        watch = _Watch(display, record, observers, until)
        return run, _train(run, trainer, path, watch, changes)


@dataclass(frozen=True)
class RunTraining:
    """Starts a run, or resumes it from its latest checkpoint.

    Attributes:
        display: How progress is shown.
        record: Records videos of checkpoints while a run continues.
        allow_changes: Runs that were started before take the new configuration.
    """

    display: Mode = "auto"
    record: Record | None = None
    allow_changes: bool = False

    def __call__(self, run: Path, config: TrainConfig, until: Until) -> StopRequest:
        """Trains until the steps are done, `until` says so, or a stop is requested."""
        if find_latest(run) is None:
            discard_unborn(run)
            return start(config, self.display, record=self.record, until=until)[1]
        # As the run began: --auto-mem may have made it smaller than what is asked for.
        same = with_free_options(saved_config(run), config)
        return resume(
            run,
            config if self.allow_changes else same,
            self.allow_changes,
            self.display,
            record=self.record,
            until=until,
        )[1]


def _train(
    run: RunDirectory,
    trainer: Trainer,
    from_checkpoint: Path | None,
    watch: _Watch,
    changes: Sequence[Difference] = (),
) -> StopRequest:
    with ExitStack() as stack:
        stack.enter_context(run.lock())
        stack.enter_context(run.logging())
        stop = stack.enter_context(handle_signals())
        heartbeat = Heartbeat(run.heartbeat)
        ending = CRASHED
        try:
            if from_checkpoint is None:
                trainer.begin()
            else:
                trainer.load_state_dict(dict(checkpoint.load(from_checkpoint).state))
                # An earlier checkpoint than the last may have been taken: starts only count up.
                last = last_line(run.metrics) or {}
                trainer.sessions = max(trainer.sessions, int(last.get(STARTS, 0)) + 1)
                run.write_config(to_toml(trainer.config))
                for change in changes:
                    _log.warning("goes on with a change: %s", change)
            loop = _make_loop(run, trainer, heartbeat, watch, stack)
            loop.display.message(f"training in {run.path} {trainer.place}")
            loop.run(stop)
            ending = INTERRUPTED if stop else FINISHED
            if stop:
                _log.info("stopped by %s", stop.reason)
        except KeyboardInterrupt:
            ending = INTERRUPTED
            raise
        except Exception as error:
            # For log.txt; who called says it to the user.
            _log.info("the run ended by an error", exc_info=error)
            raise
        finally:
            heartbeat.close(ending)
    return stop


def _make_loop(
    run: RunDirectory, trainer: Trainer, heartbeat: Heartbeat, watch: _Watch, stack: ExitStack
) -> Loop:
    display = make_display(watch.mode, title=run.name)
    stack.callback(display.close)
    stack.enter_context(log_to(DisplayHandler(display)))
    metrics: list[Sink] = [
        JsonlSink(run.metrics),
        TensorBoardSink(run.events),
        ParquetSnapshot(run.metrics, run.parquet),
        AdviceSink([*watch.observers, *hint_observers(trainer.config.watch)]),
    ]
    telemetry = stack.enter_context(Telemetry(metrics, [JsonlSink(run.episodes)]))
    trainer.episodes.sink = telemetry.episode
    resources = ResourceMonitor(run.path)
    stack.callback(resources.close)
    start_watchdogs(trainer, heartbeat, run, stack)
    store = CheckpointStore(run.checkpoints, trainer.config.run.keep_checkpoints)
    return Loop(
        trainer,
        telemetry=telemetry,
        heartbeat=heartbeat,
        resources=resources,
        store=store,
        display=display,
        record=None if watch.record is None else partial(_record, run, watch.record),
        until=watch.until,
    )


def _record(run: RunDirectory, record: Record, path: Path) -> None:
    record(path, run.videos / f"{path.stem}.mp4")
