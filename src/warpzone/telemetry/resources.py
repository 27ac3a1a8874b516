"""Resource usage of the machine: CPU, memory, disk and GPUs."""

from __future__ import annotations

import importlib
import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

from warpzone.telemetry.metrics import MetricRow

_log = logging.getLogger(__name__)


class _Gpus:
    """Reads NVIDIA GPUs through NVML, without starting a process."""

    def __init__(self) -> None:
        self._library: Any = None
        self._handles: list[Any] = []
        try:
            library = importlib.import_module("pynvml")
        except ImportError:
            return
        try:
            library.nvmlInit()
            self._handles = [
                library.nvmlDeviceGetHandleByIndex(index)
                for index in range(library.nvmlDeviceGetCount())
            ]
        except library.NVMLError:
            return  # The package is installed, but no driver: no GPU.
        self._library = library

    def read(self) -> MetricRow:
        row: MetricRow = {}
        for index, handle in enumerate(self._handles):
            row |= self._read_one(index, handle)
        return row

    def _read_one(self, index: int, handle: Any) -> MetricRow:
        """Reads one GPU; values that it does not support are omitted."""
        library = self._library
        readings: dict[str, Callable[[], Any]] = {
            "gpu_percent": lambda: library.nvmlDeviceGetUtilizationRates(handle).gpu,
            "gpu_memory_bytes": lambda: library.nvmlDeviceGetMemoryInfo(handle).used,
            "gpu_watts": lambda: library.nvmlDeviceGetPowerUsage(handle) / 1000,
            "gpu_celsius": lambda: library.nvmlDeviceGetTemperature(
                handle, library.NVML_TEMPERATURE_GPU
            ),
        }
        row: MetricRow = {}
        for name, read in readings.items():
            try:
                row[f"resources/{name}/{index}"] = float(read())
            except library.NVMLError:
                continue
        return row

    def close(self) -> None:
        if self._library is not None:
            self._library.nvmlShutdown()
            self._library = None
            self._handles = []


class ResourceMonitor:
    """Samples resource usage in a thread and returns means over a window."""

    def __init__(
        self, folder: Path | None = None, interval: float = 2.0, window: float = 30.0
    ) -> None:
        """Starts the thread.

        Args:
            folder: Folder whose disk's free space is reported, such as the run directory.
            interval: Seconds between samples.
            window: Seconds over which `metrics` averages.
        """
        self._folder = folder
        self._interval = interval
        self._samples: deque[tuple[float, MetricRow]] = deque()
        self._window = window
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._process = psutil.Process()
        self._gpus = _Gpus()
        # psutil measures CPU use since the previous call, so the first call is meaningless.
        psutil.cpu_percent()
        self._process.cpu_percent()
        self._thread = threading.Thread(target=self._run, name="resources", daemon=True)
        self._thread.start()

    def metrics(self) -> MetricRow:
        """Returns means over the window; values that cannot be read are absent.

        If no sample is due yet, one is taken now, so that short runs are measured too.
        """
        with self._lock:
            rows = [row for _, row in self._samples]
        if not rows:
            rows = [self._try_sample()]
        names = {name for row in rows for name in row}
        means: MetricRow = {}
        for name in names:
            values = [row[name] for row in rows if name in row]
            means[name] = sum(values) / len(values)
        return means

    def close(self, timeout: float = 5.0) -> None:
        """Stops the thread."""
        self._stop.set()
        self._thread.join(timeout)

    def _run(self) -> None:
        while not self._stop.wait(self._interval):
            sample = self._try_sample()
            now = time.monotonic()
            with self._lock:
                self._samples.append((now, sample))
                while self._samples[0][0] < now - self._window:
                    self._samples.popleft()
        self._gpus.close()

    def _try_sample(self) -> MetricRow:
        try:
            return self._sample()
        except (OSError, psutil.Error) as error:
            _log.debug("resources could not be read: %s", error)
            return {}

    def _sample(self) -> MetricRow:
        row: MetricRow = {
            "resources/cpu_percent": psutil.cpu_percent(),
            "resources/process_cpu_percent": self._process.cpu_percent(),
            "resources/memory_bytes": self._process.memory_info().rss,
            "resources/memory_percent": psutil.virtual_memory().percent,
            "resources/threads": self._process.num_threads(),
        }
        if self._folder is not None and self._folder.exists():
            row["resources/disk_free_bytes"] = psutil.disk_usage(str(self._folder)).free
        return row | self._gpus.read()
