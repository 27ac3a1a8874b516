"""Snapshots of metrics as a Parquet file.

A snapshot rereads everything, and the memory that this takes grows with the run. So snapshots of a
run that trains are written by a process of their own, whose memory is returned when it ends.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from warpzone.system.atomic_file import replacing
from warpzone.system.background_process import BackgroundProcess, lower_priority
from warpzone.telemetry.metrics import find_metric
from warpzone.telemetry.reading import OnDamage, Row, finite, read_rows, warn_of_damage

# A snapshot may take at most this fraction of the time.
_SNAPSHOT_SHARE = 0.01


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

    def write(self, row: Mapping[str, object]) -> None:
        """Takes a snapshot if one is due; the rows are read from the source."""
        began = self._clock()
        if began < self._due:
            return
        self._due = began + self._interval  # Also after a failure.
        process = BackgroundProcess(__name__)
        process.start([str(self._source), str(self._target)])
        outcome = process.take_outcome()
        if outcome is not None and outcome.error is not None:
            raise OSError(f"{self._target.name} was not written: {outcome.error}")
        took = self._clock() - began
        self._due = began + max(self._interval, took / _SNAPSHOT_SHARE)

    def close(self) -> None:
        """Takes the last snapshot, in this process, which ends soon."""
        write_parquet(self._source, self._target)


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


def main(source: str, target: str) -> None:
    """Entry point of the writing process; damaged files are reported at the end of the run."""
    lower_priority()
    write_parquet(Path(source), Path(target), lambda path, reason: None)


if __name__ == "__main__":
    main(*sys.argv[1:])
