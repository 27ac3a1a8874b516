"""Sinks besides JSON Lines: TensorBoard, Weights & Biases and Parquet snapshots."""

from __future__ import annotations

import io
import os
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from warpzone.errors import ConfigError
from warpzone.system.atomic_file import replacing
from warpzone.telemetry.append_file import AppendFile
from warpzone.telemetry.jsonl import JsonlSink
from warpzone.telemetry.metrics import STEPS, find_metric
from warpzone.telemetry.reading import OnDamage, Row, finite, read_rows, warn_of_damage

__all__ = [
    "JsonlSink",
    "ParquetSnapshot",
    "Sink",
    "TensorBoardSink",
    "WandbSink",
    "load_wandb",
    "write_parquet",
]

# A snapshot rereads everything, so it may take at most this fraction of the time.
_SNAPSHOT_SHARE = 0.01


class Sink(Protocol):
    """Receives rows in order, always from the same thread."""

    def write(self, row: Mapping[str, object]) -> None:
        """Writes a row; exceptions are counted and logged once, and the next row is tried."""

    def close(self) -> None:
        """Writes remaining rows and closes files."""


class TensorBoardSink:
    """Writes scalars for TensorBoard, with environment steps as the axis.

    Uses TensorBoard's record format directly: its own writer has a thread and a queue that block
    forever after the disk has been full.
    """

    def __init__(self, folder: Path) -> None:
        """Creates the sink; the file is opened by the first row.

        Args:
            folder: Folder for event files, such as `events`.
        """
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.compat.proto.summary_pb2 import Summary
        from tensorboard.summary.writer.record_writer import RecordWriter

        self._event, self._summary, self._record_writer = Event, Summary, RecordWriter
        name = f"events.out.tfevents.{int(time.time()):010d}.{socket.gethostname()}.{os.getpid()}"
        self._file = AppendFile(folder / name)

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
        self._file.close()

    def _append(self, event: Any) -> None:
        """Writes a record atomically, preceded by the file's header record if it is new."""
        records = io.BytesIO()
        writer = self._record_writer(records)
        self._file.open()
        if self._file.size == 0:
            version = self._event(wall_time=time.time(), file_version="brain.Event:2")
            writer.write(version.SerializeToString())
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


class ParquetSnapshot:
    """Periodically rewrites a Parquet file from a JSON Lines stream, and once more at the end."""

    def __init__(
        self,
        source: Path,
        target: Path,
        interval: float = 300.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Schedules the first snapshot one interval from now.

        Args:
            source: Stream to read, such as `metrics.jsonl`.
            target: File to write, such as `metrics.parquet`.
            interval: Minimum number of seconds between snapshots; longer if they take long.
            clock: Clock; for tests.
        """
        self._source = source
        self._target = target
        self._interval = interval
        self._clock = clock
        self._due = clock() + interval
        self._damaged: set[Path] = set()

    def write(self, row: Mapping[str, object]) -> None:
        """Takes a snapshot if one is due; the rows are read from the source."""
        if self._clock() >= self._due:
            self._snapshot()

    def close(self) -> None:
        """Takes the last snapshot."""
        self._snapshot()

    def _snapshot(self) -> None:
        began = self._clock()
        self._due = began + self._interval  # also after a failure
        write_parquet(self._source, self._target, self._warn_once)
        took = self._clock() - began
        self._due = began + max(self._interval, took / _SNAPSHOT_SHARE)

    def _warn_once(self, path: Path, reason: str) -> None:
        if path not in self._damaged:
            self._damaged.add(path)
            warn_of_damage(path, reason)


def write_parquet(source: Path, target: Path, on_damage: OnDamage = warn_of_damage) -> int:
    """Writes a stream of metrics to a Parquet file, atomically.

    Args:
        source: Stream to read, such as `metrics.jsonl`, including rotated files.
        target: File to write, such as `metrics.parquet`; untouched if there are no rows.
        on_damage: Called once for each damaged file.

    Returns:
        The number of rows.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = read_rows(source, on_damage)
    if not rows:
        return 0
    columns = {
        name: pa.array(_column(rows, name), pa.int64() if _is_whole(name) else pa.float64())
        for name in sorted({name for row in rows for name in row})
    }
    with replacing(target) as part:
        pq.write_table(pa.table(columns), part, compression="zstd")
    return len(rows)


def _is_whole(name: str) -> bool:
    metric = find_metric(name)
    return metric is not None and metric.whole


def _column(rows: list[Row], name: str) -> Iterator[float | int | None]:
    whole = _is_whole(name)
    for row in rows:
        value = finite(row, name)
        yield int(value) if whole and value is not None else value
