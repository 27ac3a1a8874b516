"""Keeps a live panel intact when the terminal is resized or Ctrl-C is echoed into it."""

from __future__ import annotations

from rich.console import Console, RenderableType
from rich.control import Control
from rich.segment import ControlType

# The terminal echoes Ctrl-C as '^C' behind the panel's last character. Without room for it the
# echo would begin a new line, and the next drawing would start one line too low.
ROOM_FOR_ECHO = 3


class ResizeGuard:
    """Erases what a narrower terminal has made of the previous drawing.

    Terminals wrap lines that have become too long, so the drawing has more lines than were written.
    `rich.live.Live` erases only as many as it wrote.
    """

    def __init__(self, console: Console) -> None:
        """Creates a guard for a console that `Live` draws on."""
        self._console = console
        self._terminal_width = console.width
        self._widths: list[int] = []

    def before_drawing(self, renderable: RenderableType) -> None:
        """Erases additional lines, to be called immediately before `Live` draws again.

        Args:
            renderable: What will be drawn.
        """
        width = self._console.width
        if self._console.is_terminal and width < self._terminal_width:
            self._erase(sum(max(0, (line - 1) // width) for line in self._widths))
        self._terminal_width = width
        lines = self._console.render_lines(renderable, pad=False)
        self._widths = [sum(segment.cell_length for segment in line) for line in lines]

    def _erase(self, lines: int) -> None:
        """Erases lines upwards from the cursor, which is left in the line above them."""
        for _ in range(lines):
            self._console.control(
                Control(
                    ControlType.CARRIAGE_RETURN,
                    (ControlType.ERASE_IN_LINE, 2),
                    (ControlType.CURSOR_UP, 1),
                )
            )
