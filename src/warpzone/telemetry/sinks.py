"""Sinks besides JSON Lines: TensorBoard and Weights & Biases."""

from __future__ import annotations

import io
import os
import socket
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from warpzone.errors import ConfigError
from warpzone.telemetry.append_file import AppendFile
from warpzone.telemetry.hparams import end_value, start_values
from warpzone.telemetry.jsonl import JsonlSink
from warpzone.telemetry.metrics import STEPS

__all__ = [
    "JsonlSink",
    "Sink",
    "TensorBoardSink",
    "WandbSink",
    "load_wandb",
]


class Sink(Protocol):
    """Receives rows in order, always from the same thread."""

    def write(self, row: Mapping[str, object]) -> None:
        """Writes a row; exceptions are counted and logged once, and the next row is tried."""

    def close(self) -> None:
        """Writes remaining rows and closes files."""


class TensorBoardSink:
    """Writes scalars for TensorBoard, with environment steps as the axis, and a run's options.

    Uses TensorBoard's record format directly: its own writer has a thread and a queue that block
    forever after the disk has been full.
    """

    def __init__(self, folder: Path, options: Mapping[str, object] | None = None) -> None:
        """Creates the sink; the file is opened by the first row.

        Args:
            folder: Folder for event files, such as `events`.
            options: Options of the run, by their dotted names, for the HParams page.
        """
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.compat.proto.summary_pb2 import Summary
        from tensorboard.summary.writer.record_writer import RecordWriter

        self._event, self._summary, self._record_writer = Event, Summary, RecordWriter
        name = f"events.out.tfevents.{int(time.time()):010d}.{socket.gethostname()}.{os.getpid()}"
        self._file = AppendFile(folder / name)
        self._options = options
        self._started = False

    def write(self, row: Mapping[str, object]) -> None:
        """Writes one event with all numbers of the row."""
        values = [
            self._summary.Value(tag=name, simple_value=float(value))
            for name, value in row.items()
            if isinstance(value, int | float)
        ]
        event = self._event(
            wall_time=_number(row, "run/time", time.time()),
            step=int(_number(row, STEPS, 0)),
            summary=self._summary(value=values),
        )
        self._append(event)

    def close(self) -> None:
        """Closes the file."""
        try:
            if self._started:
                self._append(self._values_event([end_value()]))
        finally:
            self._file.close()

    def _values_event(self, values: Sequence[Any]) -> Any:
        return self._event(wall_time=time.time(), summary=self._summary(value=values))

    def _append(self, event: Any) -> None:
        """Writes a record atomically; in a new file, header and options precede it."""
        records = io.BytesIO()
        writer = self._record_writer(records)
        self._file.open()
        if self._file.size == 0:
            version = self._event(wall_time=time.time(), file_version="brain.Event:2")
            writer.write(version.SerializeToString())
            if self._options is not None:
                writer.write(self._values_event(start_values(self._options)).SerializeToString())
                self._started = True
        writer.write(event.SerializeToString())
        self._file.append(records.getvalue())


def _number(row: Mapping[str, object], name: str, default: float) -> float:
    value = row.get(name)
    return float(value) if isinstance(value, int | float) else default


def load_wandb() -> Any:
    """Imports wandb.

    Raises:
        ConfigError: It is not installed.
    """
    try:
        import wandb
    except ImportError as error:
        raise ConfigError(
            "run.wandb is set, but wandb is not installed; run `pip install wandb`, or omit --wandb"
        ) from error
    return wandb


class WandbSink:
    """Sends rows to Weights & Biases, with environment steps as the axis.

    wandb uploads from a separate process, so a slow or missing network does not delay training.
    """

    def __init__(self, project: str, name: str, folder: Path, config: Mapping[str, object]) -> None:
        """Starts or resumes the wandb run.

        Args:
            project: Weights & Biases project.
            name: Name of the run, also used as the wandb id, so that a resumed run continues it.
            folder: Folder for wandb's own files.
            config: Options of the run, shown by wandb.

        Raises:
            ConfigError: wandb is not installed, or fails to start.
        """
        wandb = load_wandb()
        try:
            self._run = wandb.init(
                project=project,
                name=name,
                id=name,
                resume="allow",
                dir=str(folder),
                config=dict(config),
            )
        except wandb.errors.Error as error:
            raise ConfigError(f"wandb failed to start: {error}") from error

    def write(self, row: Mapping[str, object]) -> None:
        """Sends all numbers of the row."""
        numbers = {name: value for name, value in row.items() if isinstance(value, int | float)}
        self._run.log(numbers, step=int(_number(row, STEPS, 0)))

    def close(self) -> None:
        """Waits until everything is uploaded."""
        self._run.finish()
