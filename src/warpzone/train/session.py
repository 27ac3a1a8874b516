"""A training session: a new run or the continuation of one, from its start to a clean end."""

from __future__ import annotations

import logging
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

from warpzone.config import TrainConfig
from warpzone.config_io import from_toml, to_toml
from warpzone.presets import preset
from warpzone.telemetry.heartbeat import Heartbeat
from warpzone.telemetry.hub import Telemetry
from warpzone.telemetry.jsonl import JsonlSink
from warpzone.telemetry.resources import ResourceMonitor
from warpzone.telemetry.sinks import ParquetSnapshot, Sink, TensorBoardSink
from warpzone.telemetry.terminal import Mode, make_display
from warpzone.train import checkpoint
from warpzone.train.checkpoint_store import CheckpointStore
from warpzone.train.loop import Loop
from warpzone.train.resume_guard import check_config, find_resume
from warpzone.train.run_directory import RunDirectory, run_of
from warpzone.train.signals import StopRequest, handle_signals
from warpzone.train.trainer import Trainer

_log = logging.getLogger(__name__)

# What may differ between a run and its continuation without changing what is learned.
_FREE = (
    "run.steps",
    "run.runs",
    "run.name",
    "run.log_every",
    "run.checkpoint_minutes",
    "run.keep_checkpoints",
    "run.stop_at_clear_rate",
    "run.torch_threads",
    "env.num_threads",
)


def run_name(config: TrainConfig) -> str:
    """The folder's name of a new run."""
    return config.run.name or f"mario-{config.env.level.replace(',', '+')}"


def saved_config(target: Path) -> TrainConfig:
    """The configuration that a run, or the run of a checkpoint, was started with."""
    run = run_of(target)
    return from_toml(run.read_config(), preset("cpu"), str(run.config))


def start(config: TrainConfig, display: Mode = "auto") -> tuple[RunDirectory, StopRequest]:
    """Trains a new run."""
    config.verify()
    run = RunDirectory.create(Path(config.run.runs), run_name(config), to_toml(config))
    return run, _train(run, config, None, display)


def resume(
    target: Path, config: TrainConfig, allow_changes: bool = False, display: Mode = "auto"
) -> tuple[RunDirectory, StopRequest]:
    """Goes on with a run, exactly where it stopped.

    Args:
        target: A run or a checkpoint.
        config: What is asked for now.
        allow_changes: Go on although `config` differs from the run's own.
        display: How progress is shown.
    """
    config.verify()
    run = run_of(target)
    path = find_resume(target, run.path)
    changes = check_config(asdict(saved_config(target)), asdict(config), _FREE, allow_changes)
    for change in changes:
        _log.warning("goes on with a change: %s", change)
    run.write_config(to_toml(config))
    return run, _train(run, config, path, display)


def _train(
    run: RunDirectory, config: TrainConfig, from_checkpoint: Path | None, mode: Mode
) -> StopRequest:
    with ExitStack() as stack:
        stack.enter_context(run.lock())
        stack.enter_context(run.logging())
        stop = stack.enter_context(handle_signals())
        heartbeat = Heartbeat(run.heartbeat)
        finished = False
        try:
            trainer = Trainer(config)
            stack.callback(trainer.close)
            if from_checkpoint is None:
                trainer.begin()
            else:
                trainer.load_state_dict(dict(checkpoint.load(from_checkpoint).state))
            loop = _make_loop(run, trainer, heartbeat, mode, stack)
            loop.display.message(f"training in {run.path} {trainer.place}")
            loop.run(stop)
            finished = not stop
        finally:
            heartbeat.close("finished" if finished else "interrupted")
    return stop


def _make_loop(
    run: RunDirectory, trainer: Trainer, heartbeat: Heartbeat, mode: Mode, stack: ExitStack
) -> Loop:
    metrics: list[Sink] = [
        JsonlSink(run.metrics),
        TensorBoardSink(run.events),
        ParquetSnapshot(run.metrics, run.parquet),
    ]
    telemetry = stack.enter_context(Telemetry(metrics, [JsonlSink(run.episodes)]))
    trainer.episodes.sink = telemetry.episode
    resources = ResourceMonitor(run.path)
    stack.callback(resources.close)
    display = make_display(mode, title=run.name)
    stack.callback(display.close)
    store = CheckpointStore(run.checkpoints, trainer.config.run.keep_checkpoints)
    return Loop(
        trainer,
        telemetry=telemetry,
        heartbeat=heartbeat,
        resources=resources,
        store=store,
        display=display,
    )
