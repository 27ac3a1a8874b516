"""Progress on the terminal: a live panel, plain lines, or messages only."""

from __future__ import annotations

import copy
import logging
import sys
import threading
import time
from dataclasses import dataclass
from typing import Literal, Protocol, TextIO

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from warpzone.system.output import TolerantStream
from warpzone.telemetry.advice import HINTS
from warpzone.telemetry.log_file import PrefixFormatter
from warpzone.telemetry.resizing import ROOM_FOR_ECHO, ResizeGuard

Mode = Literal["auto", "rich", "plain", "quiet"]

# A panel that is narrower than most terminals survives most changes of their size untouched.
_WIDEST = 96


@dataclass(frozen=True)
class Progress:
    """Numbers to show; None is shown as a dash.

    Attributes:
        level: Level, such as '1-1'.
        steps: Environment steps so far.
        total_steps: Environment steps of the whole run.
        steps_per_second: Current throughput.
        remaining_seconds: Estimated remaining time.
        clear_rate: Fraction of recent episodes that cleared the level.
        best_distance: Largest progress so far, in pixels.
        mean_return: Mean return of recent episodes.
        phase: Current phase of the training loop.
        update: Number of updates so far.
        episodes: Number of finished episodes so far.
    """

    level: str
    steps: int
    total_steps: int
    steps_per_second: float | None = None
    remaining_seconds: float | None = None
    clear_rate: float | None = None
    best_distance: float | None = None
    mean_return: float | None = None
    phase: str = ""
    update: int = 0
    episodes: int = 0


class Display(Protocol):
    """Shows the progress of a run; all modes have this interface.

    Calls never fail: a display whose output cannot be written becomes silent.
    """

    def update(self, progress: Progress) -> None:
        """Sets the newest numbers; cheap enough for every update."""

    def message(self, text: str) -> None:
        """Shows a permanent line."""

    def close(self) -> None:
        """Closes the display and leaves the last numbers visible."""


def make_display(
    mode: Mode = "auto",
    title: str = "warpzone",
    interval: float = 10.0,
    stream: TextIO | None = None,
) -> Display:
    """Creates the display for a mode.

    Args:
        mode: Display mode; 'auto' is the panel on a terminal and plain lines elsewhere.
        title: Title of the panel, such as the run's name.
        interval: Seconds between plain lines.
        stream: Output stream; defaults to standard output.
    """
    out = sys.stdout if stream is None else stream
    if mode == "quiet":
        return QuietDisplay(out)
    if mode == "rich" or (mode == "auto" and Console(file=out).is_terminal):
        return RichDisplay(title, out)
    return PlainDisplay(interval, out)


class QuietDisplay:
    """Shows only messages."""

    def __init__(self, stream: TextIO) -> None:
        """Creates a display that writes to a stream."""
        self._stream = TolerantStream(stream)

    def update(self, progress: Progress) -> None:
        """Shows nothing."""

    def message(self, text: str) -> None:
        """Prints the line."""
        self._stream.write(text + "\n")
        self._stream.flush()

    def close(self) -> None:
        """Discards output that the stream could not accept."""
        self._stream.give_up()


class PlainDisplay(QuietDisplay):
    """Prints one line per interval, without colors or cursor movement."""

    def __init__(self, interval: float, stream: TextIO) -> None:
        """Creates a display that prints the first update immediately."""
        super().__init__(stream)
        self._interval = interval
        self._due = 0.0
        self._newest: Progress | None = None
        self._shown: Progress | None = None

    def update(self, progress: Progress) -> None:
        """Prints a line if the interval has passed."""
        self._newest = progress
        if time.monotonic() >= self._due:
            self._show(progress)

    def close(self) -> None:
        """Prints the newest numbers unless they have been printed."""
        if self._newest is not None and self._newest != self._shown:
            self._show(self._newest)
        super().close()

    def _show(self, progress: Progress) -> None:
        self._due = time.monotonic() + self._interval
        self._shown = progress
        first = f"{progress.level}  {_steps(progress)}"
        self.message("  ".join([first, *(f"{name} {value}" for name, value in _fields(progress))]))


class RichDisplay:
    """A live panel at the bottom of the terminal; messages scroll above it."""

    def __init__(self, title: str, stream: TextIO | None = None) -> None:
        """Starts the panel.

        Args:
            title: Title of the panel.
            stream: Output stream; defaults to standard output.
        """
        self._title = title
        self._lock = threading.Lock()
        self._progress: Progress | None = None
        self._began = time.monotonic()
        self._stream = TolerantStream(sys.stdout if stream is None else stream)
        self._console = Console(file=self._stream)  # type: ignore[arg-type]
        self._guard = ResizeGuard(self._console)
        self._live = Live(
            console=self._console,
            get_renderable=self._render,
            refresh_per_second=2,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._live.start()

    def update(self, progress: Progress) -> None:
        """Stores the numbers for the next refresh."""
        with self._lock:
            self._progress = progress

    def message(self, text: str) -> None:
        """Prints a line above the panel."""
        self._console.print(text, markup=False, highlight=False)

    def close(self) -> None:
        """Draws the last numbers and releases the terminal."""
        self._live.refresh()
        self._live.stop()
        self._stream.give_up()

    def _render(self) -> RenderableType:
        with self._lock:
            progress = self._progress
        elapsed = duration(time.monotonic() - self._began)
        if progress is None:
            body: RenderableType = Text("starting …", style="dim")
        else:
            body = Group(_bar(progress), _Numbers(progress))
        level = f" · {progress.level}" if progress is not None else ""
        title = Text.assemble((self._title, "bold"), level)
        panel = Panel(
            body,
            title=title,
            title_align="left",
            subtitle=elapsed,
            subtitle_align="right",
            width=max(1, min(_WIDEST, self._console.width - ROOM_FOR_ECHO)),
        )
        self._guard.before_drawing(panel)
        return panel


def _bar(progress: Progress) -> RenderableType:
    grid = Table.grid(padding=(0, 2), expand=True)
    grid.add_column(ratio=1)
    grid.add_column(justify="right", no_wrap=True)
    bar = ProgressBar(
        total=max(1, progress.total_steps), completed=min(progress.steps, progress.total_steps)
    )
    grid.add_row(bar, _steps(progress))
    return grid


class _Numbers:
    """Fields side by side; lines wrap only between fields."""

    def __init__(self, progress: Progress) -> None:
        self._fields = _fields(progress)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        line = Text()
        for name, value in self._fields:
            field = Text.assemble((f"{name} ", "dim"), (value, "cyan"))
            if line and line.cell_len + 3 + field.cell_len > options.max_width:
                yield line
                line = Text()
            line = Text.assemble(line, "   ", field) if line else field
        yield line


def _steps(progress: Progress) -> str:
    # The last update may exceed the requested steps.
    percent = min(100, 100 * progress.steps // max(1, progress.total_steps))
    return f"{short(progress.steps)}/{short(progress.total_steps)} steps {percent:3d}%"


def _fields(progress: Progress) -> list[tuple[str, str]]:
    speed, left = progress.steps_per_second, progress.remaining_seconds
    clear, best, reward = progress.clear_rate, progress.best_distance, progress.mean_return
    return [
        ("speed", "-" if speed is None else f"{speed:,.0f} steps/s"),
        ("ETA", "-" if left is None else duration(left)),
        ("clear", "-" if clear is None else f"{clear:.0%}"),
        ("best", "-" if best is None else f"{best:,.0f} px"),
        ("return", "-" if reward is None else f"{reward:.2f}"),
        ("episodes", f"{progress.episodes:,}"),
        ("update", f"{progress.update:,}"),
        ("phase", progress.phase or "-"),
    ]


def short(count: float) -> str:
    """Formats a count with at most four digits: 950, 12.3k, 4.56M."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if count >= size:
            return (
                f"{count / size:.3g}{letter}"
                if count < 999.5 * size
                else f"{count / size:.0f}{letter}"
            )
    return f"{count:.0f}"


def duration(seconds: float) -> str:
    """Formats a time: 0:42, 12:05, 3:20:00, 2d 04:00."""
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    if hours >= 24:
        return f"{hours // 24}d {hours % 24:02d}:{minute:02d}"
    return f"{hours}:{minute:02d}:{second:02d}" if hours else f"{minute}:{second:02d}"


class DisplayHandler(logging.Handler):
    """Shows warnings and advice with their prefix; other records only go to log.txt."""

    def __init__(self, display: Display) -> None:
        """Creates a handler that sends records to a display."""
        super().__init__()
        self.setFormatter(PrefixFormatter(with_time=False))
        self._display = display

    def emit(self, record: logging.LogRecord) -> None:
        """Shows a record that concerns the user, without its traceback."""
        if record.levelno >= logging.WARNING or record.name == HINTS:
            shown = copy.copy(record)
            shown.exc_info = shown.exc_text = None
            self._display.message(self.format(shown))
