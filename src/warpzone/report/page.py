"""The HTML page around a report's sections: one file, no network access, light and dark."""

from __future__ import annotations

import base64
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources
from pathlib import Path

from warpzone import __version__
from warpzone.errors import ConfigError
from warpzone.report.scripts import chart_style, page_script


@dataclass(frozen=True)
class Section:
    """A section of a page; sections without content are omitted."""

    title: str
    html: str
    note: str = ""


def make_page(title: str, about: str, facts: Mapping[str, str], sections: Iterable[Section]) -> str:
    """Returns a complete HTML page.

    Args:
        title: Heading, as plain text.
        about: Line below the heading, as plain text.
        facts: Key figures by name, as plain text.
        sections: Sections of the page.
    """
    parts = "".join(_section(section) for section in sections if section.html)
    written_at = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
    return (
        '<!doctype html>\n<html lang="en" data-smoothing="0"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{chart_style()}\n{_file('style.css')}</style></head>"
        "<body><main>"
        f"<header><h1>{escape(title)}</h1><p>{escape(about)}</p></header>"
        f"{_facts(facts)}{parts}"
        f"<footer>written {written_at} by warpzone {escape(__version__)}</footer>"
        f"</main><script>{page_script()}</script></body></html>\n"
    )


def check_page_name(path: Path) -> None:
    """Refuses a name that does not end as pages do.

    Raises:
        ConfigError: It does not end with .html.
    """
    if path.suffix not in (".html", ".htm"):
        raise ConfigError(f"the name {path.name!r} must end with .html")


def data_uri(mime_type: str, data: bytes) -> str:
    """Returns data as a URI, so that the page is self-contained."""
    return f"data:{mime_type};base64,{base64.b64encode(data).decode()}"


def collapsible(title: str, text: str) -> str:
    """Returns text that expands when its title is clicked."""
    return f"<details><summary>{escape(title)}</summary><pre>{escape(text)}</pre></details>"


def table_html(
    headings: Sequence[str], rows: Iterable[Sequence[object]], classes: Sequence[str] = ()
) -> str:
    """Returns a table that can be sorted by each of its columns.

    Args:
        headings: Titles of the columns, as plain text.
        rows: Cells, as plain text.
        classes: Style class of each row, if rows have any.
    """
    head = "".join(f"<th>{escape(heading)}" for heading in headings)
    lines = []
    for index, row in enumerate(rows):
        style = f' class="{classes[index]}"' if classes and classes[index] else ""
        cells = "".join(f"<td>{escape(str(cell))}" for cell in row)
        lines.append(f"<tr{style}>{cells}</tr>")
    return (
        f'<div class="scroll"><table class="sortable"><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def video_html(data: bytes, label: str, *, autoplay: bool) -> str:
    """Returns an MP4 video with controls, so that it can be paused.

    Args:
        data: The file.
        label: What the video shows, for screen readers.
        autoplay: Play as soon as the page is open.
    """
    start = "autoplay " if autoplay else ""
    return (
        f'<video controls {start}muted loop playsinline aria-label="{escape(label)}" '
        f'src="{data_uri("video/mp4", data)}"></video>'
    )


def _facts(facts: Mapping[str, str]) -> str:
    cells = "".join(
        f'<div class="fact"><span>{escape(name)}</span><b>{escape(value)}</b></div>'
        for name, value in facts.items()
    )
    return f'<div class="facts">{cells}</div>'


def _section(section: Section) -> str:
    note = f'<p class="note">{escape(section.note)}</p>' if section.note else ""
    return f"<section><h2>{escape(section.title)}</h2>{note}{section.html}</section>"


def _file(name: str) -> str:
    return resources.files("warpzone.report").joinpath(name).read_text(encoding="utf-8")
