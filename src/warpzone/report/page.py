"""The HTML page around a report's sections: one file, no network access, light and dark."""

from __future__ import annotations

import base64
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from importlib import resources

from warpzone import __version__


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
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_file('style.css')}</style></head><body><main>"
        f"<header><h1>{escape(title)}</h1><p>{escape(about)}</p></header>"
        f"{_facts(facts)}{parts}"
        f"<footer>written {written_at} by warpzone {escape(__version__)}</footer>"
        f"</main><script>{_file('page.js')}</script></body></html>\n"
    )


def data_uri(mime_type: str, data: bytes) -> str:
    """Returns data as a URI, so that the page is self-contained."""
    return f"data:{mime_type};base64,{base64.b64encode(data).decode()}"


def collapsible(title: str, text: str) -> str:
    """Returns text that expands when its title is clicked."""
    return f"<details><summary>{escape(title)}</summary><pre>{escape(text)}</pre></details>"


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
