"""Whether the process that wrote something is still running."""

from __future__ import annotations

import os
import socket
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import psutil

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_PID_NAMESPACE = Path("/proc/self/ns/pid")
# /proc/PID/stat, counted after the command's name: state is field 3, starttime field 22.
_STATE_FIELD, _START_FIELD = 0, 19
_LARGEST_PID = 2**31 - 1
_TICKS_PER_SECOND = 100  # On systems without /proc, which report a time instead of ticks.


@dataclass(frozen=True)
class ProcessId:
    """Identifies a process for good: a number alone is used again, and wall clocks are set.

    Attributes:
        pid: Its number, which means something only within its PID namespace.
        start_ticks: Clock ticks from boot to its start, which no change of the clock moves.
        boot_id: Identifies the boot of the kernel that it runs on; empty where there is none.
        pid_namespace: Identifies the PID namespace; empty where there is none.
        host: Name of the machine, for messages.
    """

    pid: int
    start_ticks: int
    boot_id: str
    pid_namespace: str
    host: str

    @classmethod
    def own(cls) -> ProcessId:
        """Identifies this process."""
        pid = os.getpid()
        found = _look_up(pid)
        assert found is not None, "this process runs"
        return cls(pid, found, boot_id(), pid_namespace(), socket.gethostname())

    @classmethod
    def from_row(cls, row: dict[str, Any]) -> ProcessId | None:
        """Reads what `as_row` wrote; None for anything else."""
        try:
            own = cls(*(row[name] for name in cls.__dataclass_fields__))
        except KeyError:
            return None
        numbers = (
            type(own.pid) is int and 0 < own.pid <= _LARGEST_PID and type(own.start_ticks) is int
        )
        texts = (own.boot_id, own.pid_namespace, own.host)
        return own if numbers and all(isinstance(text, str) for text in texts) else None

    def as_row(self) -> dict[str, object]:
        """Plain data for a JSON file."""
        return asdict(self)

    def is_alive(self) -> bool | None:
        """Whether it runs; None where this process cannot tell.

        That is the case on another machine, after a reboot, in another PID namespace (such as that
        of a container with the same host name), and where the system hides other users' processes.
        """
        here = (socket.gethostname(), boot_id(), pid_namespace())
        if (self.host, self.boot_id, self.pid_namespace) != here:
            return None
        found = _look_up(self.pid)
        return None if found is None and _is_hidden(self.pid) else found == self.start_ticks

    def __str__(self) -> str:
        """For messages."""
        return f"process {self.pid} on {self.host}"


@lru_cache(maxsize=1)
def boot_id() -> str:
    """Identifies the boot of this machine's kernel; empty where the system has no such thing."""
    try:
        return _BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def pid_namespace() -> str:
    """Identifies this process's PID namespace; empty where the system has no such thing."""
    try:
        return str(_PID_NAMESPACE.readlink())
    except OSError:
        return ""


def _look_up(pid: int) -> int | None:
    """When a process started, in ticks; None when it does not run or has ended as a zombie."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return _look_up_portably(pid)
    # The command's name stands in brackets and may itself hold brackets and blanks.
    fields = text.rpartition(")")[2].split()
    return None if fields[_STATE_FIELD] in "ZX" else int(fields[_START_FIELD])


def _is_hidden(pid: int) -> bool:
    """Whether a process exists that /proc does not show, as with its option `hidepid`."""
    if os.name != "posix" or Path(f"/proc/{pid}").exists():
        return False
    return psutil.pid_exists(pid)


def _look_up_portably(pid: int) -> int | None:
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        return round(process.create_time() * _TICKS_PER_SECOND)
    except psutil.Error:
        return None
