"""Tables on standard output."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from warpzone.system.text import printable

if TYPE_CHECKING:
    from rich.console import Console

_PIPE_WIDTH = 400


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
