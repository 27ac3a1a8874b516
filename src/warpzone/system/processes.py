"""Whether the process that wrote something is still there."""

from __future__ import annotations

import os
import socket
from dataclasses import asdict, dataclass
from typing import Any

import psutil

# Start times are rounded by some systems.
_START_TOLERANCE = 2.0


@dataclass(frozen=True)
class ProcessId:
    """Names a process for good: numbers alone are used again.

    Attributes:
        pid: Its number.
        started: Unix seconds at which it began.
        host: The machine.
    """

    pid: int
    started: float
    host: str

    @classmethod
    def own(cls) -> ProcessId:
        """Names this process."""
        pid = os.getpid()
        return cls(pid, psutil.Process(pid).create_time(), socket.gethostname())

    @classmethod
    def from_row(cls, row: dict[str, Any]) -> ProcessId | None:
        """Reads what `as_row` wrote; None when that is not what it is."""
        try:
            return cls(int(row["pid"]), float(row["started"]), str(row["host"]))
        except (KeyError, TypeError, ValueError):
            return None

    def as_row(self) -> dict[str, object]:
        """Plain data for a JSON file."""
        return asdict(self)

    def is_alive(self) -> bool | None:
        """Whether it runs; None when it belongs to another machine and nobody can tell."""
        if self.host != socket.gethostname():
            return None
        try:
            process = psutil.Process(self.pid)
            return (
                abs(process.create_time() - self.started) < _START_TOLERANCE
                and process.status() != psutil.STATUS_ZOMBIE
            )
        except psutil.NoSuchProcess:
            return False
        except psutil.AccessDenied:
            return True

    def __str__(self) -> str:
        """For messages."""
        return f"process {self.pid} on {self.host}"
