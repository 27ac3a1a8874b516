"""Stopping: the first signal asks the loop to end, a second Ctrl-C ends at once."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

# A closed terminal or ssh session sends SIGHUP, which Windows does not have.
_HANDLED = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


class StopRequest:
    """What the loop polls between two updates.

    Attributes:
        signal: The signal that asked to stop, or None.
        reason: The reason for the user, or None while there is no request.
    """

    def __init__(self) -> None:
        """Starts without a request."""
        self.signal: signal.Signals | None = None
        self.reason: str | None = None

    def __bool__(self) -> bool:
        """Whether somebody asked to stop."""
        return self.reason is not None

    def ask(self, reason: str, number: signal.Signals | None = None) -> None:
        """Asks the loop to end; the first reason counts.

        Args:
            reason: Such as 'Ctrl-C'.
            number: The signal behind it, if any.
        """
        if self.reason is None:
            self.signal = number
            self.reason = reason

    @property
    def exit_code(self) -> int:
        """Exit code of the program: 130 for Ctrl-C, 143 for SIGTERM, 129 for SIGHUP, else 0."""
        return 0 if self.signal is None else 128 + int(self.signal)


@contextmanager
def handle_signals() -> Iterator[StopRequest]:
    """Handles SIGINT, SIGTERM and SIGHUP inside the block and restores the handlers afterwards.

    The first of them fills the request. A SIGINT after that raises KeyboardInterrupt wherever the
    program is; another SIGTERM or SIGHUP changes nothing, since schedulers send them repeatedly. A
    SIGHUP that is ignored, as under `nohup`, stays ignored. Outside the main thread, where Python
    allows no handlers, the request can still be filled by `ask`.

    Yields:
        The request to poll.
    """
    request = StopRequest()
    owner = os.getpid()

    def handle(number: int, frame: FrameType | None) -> None:
        received = signal.Signals(number)
        if os.getpid() != owner:
            # A forked worker has inherited this handler; it gets the default action.
            signal.signal(received, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        elif received == signal.SIGINT and request:
            raise KeyboardInterrupt
        else:
            request.ask("Ctrl-C" if received == signal.SIGINT else received.name, received)

    if threading.current_thread() is not threading.main_thread():
        yield request
        return
    # Installed one by one inside the block, so that a signal in between restores what was changed.
    before = {}
    try:
        for number in _HANDLED:
            if number != signal.SIGINT and signal.getsignal(number) == signal.SIG_IGN:
                continue
            before[number] = signal.signal(number, handle)
        yield request
    finally:
        for number, previous in before.items():
            # None stands for a handler that was not installed from Python.
            signal.signal(number, signal.SIG_DFL if previous is None else previous)
