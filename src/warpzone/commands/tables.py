"""Tables on standard output."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, Literal

from warpzone.system.text import printable

if TYPE_CHECKING:
    from rich.console import Console

_PIPE_WIDTH = 400
_WIDEST = 100_000
_UNKNOWN = "-"


def table_console() -> Console:
    """Returns a console on standard output; long hashes and paths wrap only on a terminal.

    Text may come from untrusted files, so markup is disabled and control characters are escaped.
    """
    from rich.console import Console
    from rich.text import Text

    class EscapingConsole(Console):
        def render_str(self, text: str, **options: Any) -> Text:
            return super().render_str(printable(text), **options)

    width = None if sys.stdout.isatty() else _PIPE_WIDTH
    return EscapingConsole(highlight=False, markup=False, emoji=False, width=width)


def print_whole(
    console: Console,
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    numbers: Collection[str] = (),
) -> None:
    """Prints a table without cutting a cell; a list where the table is wider than the terminal.

    Args:
        console: Console to print to.
        headings: Titles of the columns. The first names what a row is about.
        rows: Cells; '-' is left out of the list.
        numbers: Headings of columns that are aligned to the right.
    """
    from rich.table import Table

    table = Table()
    for heading in headings:
        justify: Literal["left", "right"] = "right" if heading in numbers else "left"
        table.add_column(printable(heading), justify=justify, no_wrap=True)
    for row in rows:
        table.add_row(*row)
    unlimited = console.options.update(max_width=_WIDEST)
    if console.measure(table, options=unlimited).maximum <= console.width:
        console.print(table)
        return
    for name, *cells in rows:
        named = zip(headings[1:], cells, strict=True)
        facts = ", ".join(f"{heading} {cell}" for heading, cell in named if cell != _UNKNOWN)
        # A line that is too long continues in the terminal's next line, whole and without a break.
        console.print(name, soft_wrap=True)
        console.print(f"  {facts}", soft_wrap=True)
