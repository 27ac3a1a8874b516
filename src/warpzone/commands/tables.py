"""Output that people copy from."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from warpzone.system.text import printable

if TYPE_CHECKING:
    from rich.console import Console

_PIPE_WIDTH = 400


def table_console() -> Console:
    """Standard output, where hashes and paths wrap on a screen and stay whole in a pipe.

    Text may come from strangers' files: it is no markup, and controls no terminal.
    """
    from rich.console import Console
    from rich.text import Text

    class ForeignText(Console):
        def render_str(self, text: str, **options: Any) -> Text:
            return super().render_str(printable(text), **options)

    width = None if sys.stdout.isatty() else _PIPE_WIDTH
    return ForeignText(highlight=False, markup=False, emoji=False, width=width)
