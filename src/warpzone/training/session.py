"""Training sessions: start or resume a run and train it to a clean end."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

from warpzone.config import TrainConfig, to_toml
from warpzone.errors import CheckpointError, RunCompleteError, WarpzoneError
from warpzone.evaluation.background import BackgroundEvaluator
from warpzone.runs import checkpoint
from warpzone.runs.checkpoint_store import CheckpointStore, find_latest, list_checkpoints
from warpzone.runs.directory import RunDirectory, run_of
from warpzone.runs.resume import Difference, check_config, find_resume, flat_options
from warpzone.runs.saved_config import FREE_OPTIONS, saved_config, with_free_options
from warpzone.runs.unborn import discard_unborn
from warpzone.system.signals import StopRequest, handle_signals
from warpzone.telemetry.advice import AdviceSink, Observer
from warpzone.telemetry.heartbeat import CRASHED, FINISHED, INTERRUPTED, Heartbeat
from warpzone.telemetry.hub import Telemetry
from warpzone.telemetry.jsonl import JsonlSink
from warpzone.telemetry.log_file import log_to, warnings_to_log
from warpzone.telemetry.metrics import SESSION
from warpzone.telemetry.parquet import ParquetSnapshot
from warpzone.telemetry.reading import finite, last_line
from warpzone.telemetry.resources import ResourceMonitor
from warpzone.telemetry.sinks import Sink, TensorBoardSink, WandbSink, load_wandb
from warpzone.telemetry.terminal import Display, DisplayHandler, Mode, make_display
from warpzone.training.auto_mem import fit_config
from warpzone.training.completion import check_incomplete
from warpzone.training.initial_weights import initial_weights
from warpzone.training.live_feed import LiveFeed
from warpzone.training.loop import Loop, OnUpdate, Until
from warpzone.training.memory_need import check_memory
from warpzone.training.reporting import Reporter
from warpzone.training.run_folder import RunFolder
from warpzone.training.saving import METRICS, Saver
from warpzone.training.steering import Steering, SteeringParts
from warpzone.training.teachers import with_taught_levels
from warpzone.training.trainer import Trainer
from warpzone.training.watch import hint_observers, make_slow_steps, start_watchdog

_log = logging.getLogger(__name__)

MakeTrainer = Callable[..., Trainer]
"""Creates a trainer, with the arguments of `Trainer`."""
Record = Callable[[Path, Path], None]
"""Starts a video of a checkpoint, given the file to write, and returns immediately."""


def run_name(config: TrainConfig) -> str:
    """Returns the name of a new run's folder."""
    return config.run.name or f"mario-{config.env.level.replace(',', '+')}"


@dataclass(frozen=True)
class _Watch:
    """Display, video recorder and observers of a session."""

    mode: Mode
    record: Record | None
    observers: Sequence[Observer]
    until: Until | None
    on_update: OnUpdate | None = None


def start(
    config: TrainConfig,
    display: Mode = "auto",
    *,
    record: Record | None = None,
    observers: Sequence[Observer] = (),
    until: Until | None = None,
    on_update: OnUpdate | None = None,
    make_trainer: MakeTrainer = Trainer,
) -> tuple[RunDirectory, StopRequest]:
    """Trains a new run.

    Args:
        config: Configuration of the run.
        display: How progress is shown.
        record: Records videos of checkpoints in the background.
        observers: Receive every row of metrics and may return hints.
        until: Stops the session early, with everything saved.
        on_update: Sees the metrics of each update; returning False ends the session early.
        make_trainer: Creates the trainer.
    """
    config.verify()
    config = config.with_plugins()
    config = with_taught_levels(config)
    initial_weights(config)  # Fails before anything is built or written.
    if config.run.auto_mem:
        config = fit_config(config)
    check_memory(config)
    _check_wandb(config)
    runs = Path(config.run.runs)
    existed = runs.exists()
    run = RunDirectory.create(runs, run_name(config), to_toml(config))
    with ExitStack() as stack:
        try:
            trainer = _make_trainer(run, config, stack, make_trainer)
        except BaseException:
            run.discard_empty()  # A run that cannot be created leaves only the logs of its workers.
            if not existed and not any(runs.iterdir()):
                runs.rmdir()
            raise
        watch = _Watch(display, record, observers, until, on_update)
        return run, _train(run, trainer, None, watch)


def resume(
    target: Path,
    config: TrainConfig,
    allow_changes: bool = False,
    display: Mode = "auto",
    *,
    record: Record | None = None,
    observers: Sequence[Observer] = (),
    until: Until | None = None,
    on_update: OnUpdate | None = None,
    make_trainer: MakeTrainer = Trainer,
) -> tuple[RunDirectory, StopRequest]:
    """Resumes a run exactly where it left off.

    Args:
        target: Run or checkpoint to resume.
        config: Configuration for the rest of the run.
        allow_changes: Accept a `config` that differs from the run's own.
        display: How progress is shown.
        record: Records videos of checkpoints in the background.
        observers: Receive every row of metrics and may return hints.
        until: Stops the session early, with everything saved.
        on_update: Sees the metrics of each update; returning False ends the session early.
        make_trainer: Creates the trainer.

    Raises:
        RunCompleteError: Nothing is left to train.
        ResumeError: There is no checkpoint, or the configuration differs.
    """
    config.verify()
    config = config.with_plugins()
    config = with_taught_levels(config)
    check_memory(config)
    _check_wandb(config)
    run = run_of(target)
    with run.logging(), log_to(DisplayHandler(make_display("quiet"))):
        path = find_resume(target, run.path)  # Skips damaged checkpoints with a warning.
        if path != target and path != _newest(run):
            _log.warning("resuming from %s instead", path.name)
    changes = check_config(
        asdict(saved_config(target)), asdict(config), FREE_OPTIONS, allow_changes
    )
    check_incomplete(path, config)
    with ExitStack() as stack:
        trainer = _make_trainer(run, config, stack, make_trainer)
        watch = _Watch(display, record, observers, until, on_update)
        return run, _train(run, trainer, path, watch, changes)


@dataclass(frozen=True)
class RunTraining:
    """Starts a run, or resumes it from its latest checkpoint.

    Attributes:
        display: How progress is shown.
        record: Records videos of checkpoints in the background.
        allow_changes: Whether existing runs accept a changed configuration.
    """

    display: Mode = "auto"
    record: Record | None = None
    allow_changes: bool = False

    def __call__(self, run: Path, config: TrainConfig, until: Until) -> StopRequest:
        """Trains until the steps are done, `until` returns True, or a stop is requested."""
        if find_latest(run) is None:
            discard_unborn(run)
            return start(config, self.display, record=self.record, until=until)[1]
        # The run's own configuration: --auto-mem may have reduced it.
        same = with_free_options(saved_config(run), config)
        try:
            return resume(
                run,
                config if self.allow_changes else same,
                self.allow_changes,
                self.display,
                record=self.record,
                until=until,
            )[1]
        except RunCompleteError:
            return StopRequest()


def _check_wandb(config: TrainConfig) -> None:
    """Fails before anything is built or written."""
    if config.run.wandb:
        load_wandb()


def _make_trainer(
    run: RunDirectory, config: TrainConfig, stack: ExitStack, make: MakeTrainer
) -> Trainer:
    """Creates the trainer of a run; the stack closes it."""
    slow_steps = make_slow_steps(config.watch, run)
    if slow_steps is not None:
        stack.callback(slow_steps.close)
    trainer = make(config, worker_logs=run.workers, step_watch=slow_steps, live_feed=LiveFeed(run))
    return stack.enter_context(closing(trainer))


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
        display = make_display(watch.mode, title=run.name)
        stack.callback(display.close)
        stack.enter_context(log_to(DisplayHandler(display)))
        stack.enter_context(warnings_to_log())
        heartbeat = Heartbeat(
            run.heartbeat, stall_seconds=trainer.config.watch.stall_seconds or inf
        )
        ending = CRASHED
        try:
            metrics: Mapping[str, Any] | None = None
            if from_checkpoint is None:
                trainer.begin()
            else:
                metrics = _load(run, trainer, from_checkpoint, changes)
            loop = _make_loop(run, trainer, heartbeat, watch, stack, display=display)
            if metrics is not None:
                loop.reporter.load_state_dict(metrics)
            display.message(f"training in {run.path} {trainer.place}")
            loop.run(stop)
            ending = INTERRUPTED if stop else FINISHED
            if stop:
                _log.info("stopped by %s", stop.reason)
        except KeyboardInterrupt:
            ending = INTERRUPTED
            raise
        except Exception as error:
            # The traceback goes to log.txt; the caller reports the error to the user.
            _log.info("the run was ended by an error", exc_info=error)
            display.message(
                f"ended by an error after {trainer.steps:,} steps; log.txt and checkpoints are in "
                f"{run.path}"
            )
            raise
        finally:
            heartbeat.close(ending)
    return stop


def _newest(run: RunDirectory) -> Path | None:
    """Returns the newest checkpoint of a run, even if it is damaged."""
    return next(iter(list_checkpoints(run.path)), None)


def _load(
    run: RunDirectory, trainer: Trainer, path: Path, changes: Sequence[Difference]
) -> Mapping[str, Any]:
    """Loads a checkpoint into a trainer and returns the reporter's state."""
    state = dict(checkpoint.load(path).state)
    try:
        metrics: Mapping[str, Any] = state.pop(METRICS)
        trainer.load_state_dict(state)
    except WarpzoneError:
        raise
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, RuntimeError) as error:
        # The file is intact, but does not contain a state of this trainer.
        reason = f"{type(error).__name__}: {error}"
        raise CheckpointError(f"{path} is not a state of this run ({reason})") from error
    # The checkpoint may not be the last one, but session numbers must only increase.
    last = finite(last_line(run.metrics) or {}, SESSION) or 0
    trainer.sessions = max(trainer.sessions, int(last) + 1)
    run.write_config(to_toml(trainer.config))
    for change in changes:
        _log.warning("resuming with a change: %s", change)
    return metrics


def _make_loop(
    run: RunDirectory,
    trainer: Trainer,
    heartbeat: Heartbeat,
    watch: _Watch,
    stack: ExitStack,
    *,
    display: Display,
) -> Loop:
    options = trainer.config
    sinks: list[Sink] = [
        JsonlSink(run.metrics),
        TensorBoardSink(run.events, flat_options(asdict(options))),
        ParquetSnapshot(run.metrics, run.parquet),
        AdviceSink([*watch.observers, *hint_observers(trainer.config.watch)]),
    ]
    if options.run.wandb:
        sinks.append(WandbSink(options.run.wandb, run.name, run.path, asdict(options)))
    telemetry = stack.enter_context(Telemetry(sinks, [JsonlSink(run.episodes)]))
    resources = ResourceMonitor(run.path)
    stack.callback(resources.close)
    start_watchdog(trainer.config.watch, heartbeat, run, stack)
    reporter = Reporter(trainer, telemetry, resources, display)
    store = CheckpointStore(run.checkpoints, trainer.config.run.keep_checkpoints)
    saver = Saver(trainer, store, reporter, heartbeat)
    folder = RunFolder(run, run.read_config(), stack)
    record = None if watch.record is None else partial(_record, run, watch.record)
    evaluations = JsonlSink(run.evaluations)
    stack.callback(evaluations.close)
    evaluator = BackgroundEvaluator(
        lambda row: evaluations.write({"time": time.time(), **row}), options.run.plugins
    )
    stack.callback(evaluator.close)
    parts = SteeringParts(trainer, saver, heartbeat, folder, record, evaluator)
    steering = Steering(run, parts)
    stack.callback(steering.close)
    return Loop(
        trainer,
        reporter=reporter,
        saver=saver,
        heartbeat=heartbeat,
        folder=folder,
        record=record,
        until=watch.until,
        on_update=watch.on_update,
        steering=steering,
    )


def _record(run: RunDirectory, record: Record, path: Path) -> None:
    record(path, run.videos / f"{path.stem}.mp4")
