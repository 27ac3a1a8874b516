"""Where lives and episodes are lost: level, place and cause, counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

_PAGE = 256
_SHOWN = 10


@dataclass(frozen=True)
class Loss:
    """A lost life, or an episode that ended without a clear.

    Attributes:
        level: Level in which it was lost.
        x: Left edge of the 256-pixel page in which it was lost.
        cause: For a life 'enemy', 'pit' or 'time'; for an episode, how it ended.
    """

    level: str
    x: int
    cause: str


def loss_at(level: str, x: int, cause: str) -> Loss:
    """The loss of a life or an episode at a position of the level."""
    return Loss(level, x // _PAGE * _PAGE, cause)


def counted(losses: Iterable[Loss]) -> list[dict[str, Any]]:
    """Plain numbers for JSON, the most frequent loss first."""
    return [
        {"level": loss.level, "x": loss.x, "cause": loss.cause, "count": count}
        for loss, count in Counter(losses).most_common()
    ]


def loss_table(rows: Sequence[dict[str, Any]], noun: str) -> list[str]:
    """Markdown: the places where most was lost.

    Args:
        rows: Results of `counted`, the most frequent first.
        noun: What is lost, in the plural.
    """
    lines = [
        f"Where most {noun} were lost:",
        "",
        f"| level | x | cause | {noun} |",
        "|---|---|---|---|",
    ]
    for row in rows[:_SHOWN]:
        page = f"{row['x']}-{row['x'] + _PAGE - 1}"
        lines.append(f"| {row['level']} | {page} | {row['cause']} | {row['count']} |")
    return lines
