"""A training session: a new run or the continuation of one, from its start to a clean end."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

from warpzone.config import TrainConfig
from warpzone.config_io import from_toml, to_toml
from warpzone.presets import preset
from warpzone.telemetry.advice import AdviceSink, Observer
from warpzone.telemetry.heartbeat import CRASHED, FINISHED, INTERRUPTED, Heartbeat
from warpzone.telemetry.hub import Telemetry
from warpzone.telemetry.jsonl import JsonlSink, last_line
from warpzone.telemetry.log_file import log_to
from warpzone.telemetry.metrics import STARTS
from warpzone.telemetry.resources import ResourceMonitor
from warpzone.telemetry.sinks import ParquetSnapshot, Sink, TensorBoardSink
from warpzone.telemetry.terminal import DisplayHandler, Mode, make_display
from warpzone.train import checkpoint
from warpzone.train.checkpoint_store import CheckpointStore
from warpzone.train.loop import Loop, Until
from warpzone.train.memory_ladder import fitted
from warpzone.train.resume_guard import Difference, check_config, find_resume
from warpzone.train.run_directory import RunDirectory, run_of
from warpzone.train.signals import StopRequest, handle_signals
from warpzone.train.trainer import Trainer
from warpzone.train.watch import hint_observers, start_watchdogs

_log = logging.getLogger(__name__)

Film = Callable[[Path, Path], None]
"""Begins to film a checkpoint, given the file to write, and returns at once."""

FREE_OPTIONS = (
    "run.steps",
    "run.runs",
    "run.name",
    "run.log_every",
    "run.checkpoint_minutes",
    "run.video_minutes",
    "run.keep_checkpoints",
    "run.stop_at_clear_rate",
    "run.torch_threads",
    "run.auto_mem",
    "watch",
    "env.num_threads",
    "workers",
    "model.sharpness",
)
"""What may differ between a run and its continuation without changing what is learned."""


def run_name(config: TrainConfig) -> str:
    """The folder's name of a new run."""
    return config.run.name or f"mario-{config.env.level.replace(',', '+')}"


def saved_config(target: Path) -> TrainConfig:
    """The configuration that a run, or the run of a checkpoint, was started with."""
    run = run_of(target)
    return from_toml(run.read_config(), preset("cpu"), str(run.config))


def with_free_options(saved: TrainConfig, asked: TrainConfig) -> TrainConfig:
    """A run's own configuration, with what is asked for now where that may differ."""
    for name in FREE_OPTIONS:
        table, _, option = name.partition(".")
        value = getattr(asked, table)
        if option:
            value = replace(getattr(saved, table), **{option: getattr(value, option)})
        saved = replace(saved, **{table: value})
    return saved


@dataclass(frozen=True)
class _Watch:
    """How a run is shown, filmed and commented on."""

    mode: Mode
    film: Film | None
    observers: Sequence[Observer]
    until: Until | None


def start(
    config: TrainConfig,
    display: Mode = "auto",
    *,
    film: Film | None = None,
    observers: Sequence[Observer] = (),
    until: Until | None = None,
) -> tuple[RunDirectory, StopRequest]:
    """Trains a new run.

    Args:
        config: What is asked for.
        display: How progress is shown.
        film: Films checkpoints while the run goes on.
        observers: See every row of metrics and may answer with advice.
        until: Ends the session early, with everything saved.
    """
    config.verify()
    if config.run.auto_mem:
        config = fitted(config)
    with closing(Trainer(config)) as trainer:  # first, so that what cannot be built leaves no run
        run = RunDirectory.create(Path(config.run.runs), run_name(config), to_toml(config))
        return run, _train(run, trainer, None, _Watch(display, film, observers, until))


def resume(
    target: Path,
    config: TrainConfig,
    allow_changes: bool = False,
    display: Mode = "auto",
    *,
    film: Film | None = None,
    observers: Sequence[Observer] = (),
    until: Until | None = None,
) -> tuple[RunDirectory, StopRequest]:
    """Goes on with a run, exactly where it stopped.

    Args:
        target: A run or a checkpoint.
        config: What is asked for now.
        allow_changes: Go on although `config` differs from the run's own.
        display: How progress is shown.
        film: Films checkpoints while the run goes on.
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
        watch = _Watch(display, film, observers, until)
        return run, _train(run, trainer, path, watch, changes)


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
        film=None if watch.film is None else partial(_film, run, watch.film),
        until=watch.until,
    )


def _film(run: RunDirectory, film: Film, path: Path) -> None:
    film(path, run.videos / f"{path.stem}.mp4")
