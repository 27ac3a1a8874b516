"""Fan-out of rows to sinks, each in its own thread, so that the training loop never waits."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Mapping, Sequence

from warpzone.telemetry.episodes import Episode
from warpzone.telemetry.metrics import MetricRow, clean_row
from warpzone.telemetry.sinks import Sink

_log = logging.getLogger(__name__)

_Row = Mapping[str, object]


class _Worker:
    """A sink with its queue and thread: a sink that hangs does not delay the others."""

    def __init__(self, sink: Sink, capacity: int) -> None:
        self.dropped = 0
        self.failed = 0
        self._sink = sink
        self._name = type(sink).__name__
        self._queue: queue.Queue[_Row | threading.Event | None] = queue.Queue(capacity)
        self._full = False
        self._thread = threading.Thread(target=self._run, name=f"sink-{self._name}", daemon=True)
        self._thread.start()

    @property
    def lost(self) -> int:
        """Number of rows lost so far."""
        return self.dropped + self.failed + int(getattr(self._sink, "dropped", 0))

    def offer(self, row: _Row) -> None:
        """Queues a row, or drops and counts it if the queue is full."""
        try:
            self._queue.put_nowait(row)
        except queue.Full:
            self.dropped += 1
            if not self._full:
                _log.warning("%s is too slow; rows are dropped", self._name)
            self._full = True
            return
        if self._full and self._queue.qsize() <= self._queue.maxsize // 2:
            _log.warning("%s has caught up; %d rows were dropped", self._name, self.dropped)
            self._full = False

    def flush(self, deadline: float) -> bool:
        """Waits until the sink has written everything queued so far."""
        done = threading.Event()
        return self._put(done, deadline) and done.wait(max(0.0, deadline - time.monotonic()))

    def close(self, deadline: float) -> bool:
        """Stops the thread; False if it did not stop in time."""
        if self._put(None, deadline):
            self._thread.join(max(0.0, deadline - time.monotonic()))
        if self._thread.is_alive():
            _log.warning(
                "%s did not finish in time; %d rows may be lost", self._name, self._queue.qsize()
            )
        return not self._thread.is_alive()

    def _put(self, item: threading.Event | None, deadline: float) -> bool:
        try:
            self._queue.put(item, timeout=max(0.0, deadline - time.monotonic()))
        except queue.Full:
            return False
        return True

    def _run(self) -> None:
        while (item := self._queue.get()) is not None:
            if isinstance(item, threading.Event):
                item.set()
            else:
                self._attempt("write a row", item)
        self._attempt("close", None)

    def _attempt(self, what: str, row: _Row | None) -> None:
        try:
            if row is None:
                self._sink.close()
            else:
                self._sink.write(row)
        except Exception as error:  # noqa: BLE001 - sinks are anybody's code; the run continues
            self.failed += 1
            if self.failed == 1:
                _log.warning("%s could not %s: %s", self._name, what, error, exc_info=error)


def _terms(row: _Row) -> list[object]:
    terms = row["terms"]
    return list(terms.values()) if isinstance(terms, dict) else []


class Telemetry:
    """Receives rows and episodes from the training loop and passes them to the sinks.

    Only `flush` and `close` wait for sinks, with a time limit.
    """

    def __init__(
        self,
        metrics: Sequence[Sink] = (),
        episodes: Sequence[Sink] = (),
        capacity: int = 10_000,
    ) -> None:
        """Starts one thread per sink.

        Args:
            metrics: Sinks of metric rows. They are closed in this order, so a sink that reads
                another sink's file must come after it.
            episodes: Sinks of finished episodes.
            capacity: Maximum number of queued rows per sink.
        """
        self._metrics = [_Worker(sink, capacity) for sink in metrics]
        self._episodes = [_Worker(sink, capacity) for sink in episodes]
        self._closed = False
        self.not_finite = 0
        """Number of NaN and infinite values so far."""

    @property
    def dropped(self) -> int:
        """Rows and episodes lost so far, summed over the sinks."""
        return sum(worker.lost for worker in [*self._metrics, *self._episodes])

    def write(self, row: MetricRow) -> None:
        """Sends a row of metrics, extended by the time and the counts of lost rows and values.

        Raises:
            MetricError: A name is not listed or a value is not a number.
        """
        clean, not_finite = clean_row(row)
        self.not_finite += not_finite
        clean.setdefault("run/time", time.time())
        clean["telemetry/dropped"] = self.dropped
        clean["telemetry/not_finite"] = self.not_finite
        for worker in self._metrics:
            worker.offer(clean)

    def episode(self, episode: Episode, session: int, update: int) -> None:
        """Sends a finished episode.

        Args:
            episode: Finished episode.
            session: Number of the run's session.
            update: Number of the update that learns from the end of the episode.
        """
        row = episode.as_row() | {"session": session, "update": update}
        self.not_finite += _terms(row).count(None) + sum(
            value is None and getattr(episode, name) is not None
            for name, value in row.items()
            if hasattr(episode, name)
        )
        for worker in self._episodes:
            worker.offer(row)

    def flush(self, timeout: float = 10.0) -> bool:
        """Waits until the sinks have written all rows so far; False on timeout."""
        deadline = time.monotonic() + timeout
        results = [worker.flush(deadline) for worker in [*self._metrics, *self._episodes]]
        return all(results)

    def close(self, timeout: float = 10.0) -> bool:
        """Flushes and closes all sinks; False if one did not finish in time."""
        if self._closed:
            return True
        self._closed = True
        deadline = time.monotonic() + timeout
        results = [worker.close(deadline) for worker in [*self._episodes, *self._metrics]]
        return all(results)

    def __enter__(self) -> Telemetry:
        """Returns self."""
        return self

    def __exit__(self, *_: object) -> None:
        """Closes all sinks."""
        self.close()
