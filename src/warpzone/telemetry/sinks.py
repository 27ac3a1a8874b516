"""Where rows go besides JSON lines: TensorBoard, Weights & Biases and a Parquet snapshot."""

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

# A snapshot reads everything again, so it may take this share of the time at most.
_SNAPSHOT_SHARE = 0.01


class Sink(Protocol):
    """Takes rows one after another, always from the same thread."""

    def write(self, row: Mapping[str, object]) -> None:
        """Takes one row; an exception is logged once and counted, and the next row is tried."""

    def close(self) -> None:
        """Writes what is left and closes files."""


class TensorBoardSink:
    """Writes scalars for TensorBoard, with environment steps as the axis.

    Uses TensorBoard's record format directly: its own writer has a thread and a queue that block
    forever once the disk has been full.
    """

    def __init__(self, folder: Path) -> None:
        """Opens nothing yet.

        Args:
            folder: Such as `events`.
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
        """Writes a record in one piece, after the one that begins a file."""
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
            "run.wandb is set, but wandb is not installed; run `pip install wandb`, or leave out "
            "--wandb"
        ) from error
    return wandb


class WandbSink:
    """Sends rows to Weights & Biases, with environment steps as the axis.

    wandb uploads from a process of its own, so that a slow or missing network holds up nothing.
    """

    def __init__(self, project: str, name: str, folder: Path, config: Mapping[str, object]) -> None:
        """Starts, or resumes, the run of this name.

        Args:
            project: Of Weights & Biases.
            name: Of the run; its identity there as well, so that a resumed run continues it.
            folder: Where wandb keeps its own files.
            config: Options of the run, to compare runs by.

        Raises:
            ConfigError: wandb is not installed, or refuses to start.
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
            raise ConfigError(f"wandb does not start: {error}") from error

    def write(self, row: Mapping[str, object]) -> None:
        """Sends all numbers of the row."""
        numbers = {name: value for name, value in row.items() if isinstance(value, int | float)}
        self._run.log(numbers, step=int(_number(row, STEPS, 0)))

    def close(self) -> None:
        """Waits until everything is sent."""
        self._run.finish()


class ParquetSnapshot:
    """Rewrites a Parquet file from a stream of JSON lines at intervals and at the end."""

    def __init__(
        self,
        source: Path,
        target: Path,
        interval: float = 300.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Plans the first snapshot one interval from now.

        Args:
            source: Such as `metrics.jsonl`.
            target: Such as `metrics.parquet`.
            interval: Seconds between snapshots, more when they take long.
            clock: For tests.
        """
        self._source = source
        self._target = target
        self._interval = interval
        self._clock = clock
        self._due = clock() + interval
        self._damaged: set[Path] = set()

    def write(self, row: Mapping[str, object]) -> None:
        """Takes a snapshot if one is due; the row itself comes from the source."""
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
    """Writes a stream of metrics as a Parquet file, replacing it in one step.

    Args:
        source: Such as `metrics.jsonl`; rotated files are read too.
        target: Such as `metrics.parquet`; untouched when there is nothing to write.
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
