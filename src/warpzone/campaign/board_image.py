"""The scoreboard as one image: one tile per level, one column per world."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from warpzone.campaign.board_text import percent
from warpzone.campaign.protocols import NOOP_MAX, STICKY_PROB
from warpzone.campaign.scoreboard import Row, Scoreboard, all_levels
from warpzone.system.atomic_file import replacing

if TYPE_CHECKING:
    from PIL import ImageDraw

Color = tuple[int, int, int]

_SCALE = 2  # Drawn at twice the size, so that it is sharp on high-resolution screens.
_TILE_WIDTH, _TILE_HEIGHT, _GAP = 118, 96, 8
_MARGIN, _TITLE, _FOOT = 28, 84, 54
_STAGES = 4
_COLORS = 256
_PAPER, _INK, _FAINT = (250, 250, 248), (28, 30, 34), (112, 116, 124)
_UNTRAINED = (226, 227, 230)
# From 0 to 1; lightness rises as well, so that it can be read without colors.
_RAMP: tuple[tuple[float, Color], ...] = (
    (0.0, (126, 32, 46)),
    (0.4, (206, 92, 52)),
    (0.7, (240, 176, 64)),
    (0.9, (122, 186, 84)),
    (1.0, (34, 146, 84)),
)


def draw_board(path: Path, board: Scoreboard) -> Path:
    """Draws the image as a PNG."""
    from PIL import Image, ImageDraw

    levels = all_levels()
    worlds = len(levels) // _STAGES
    width = 2 * _MARGIN + worlds * (_TILE_WIDTH + _GAP) - _GAP
    height = 2 * _MARGIN + _TITLE + _STAGES * (_TILE_HEIGHT + _GAP) - _GAP + _FOOT
    image = Image.new("RGB", (width * _SCALE, height * _SCALE), _PAPER)
    pen = _Pen(ImageDraw.Draw(image))
    _draw_title(pen, board)
    for index, level in enumerate(levels):
        world, stage = divmod(index, _STAGES)
        left = _MARGIN + world * (_TILE_WIDTH + _GAP)
        top = _MARGIN + _TITLE + stage * (_TILE_HEIGHT + _GAP)
        _draw_tile(pen, left, top, level, board)
    _draw_legend(pen, width, height)
    with replacing(path) as part:
        # A palette looks the same and takes a third of the space.
        few = image.quantize(_COLORS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        few.save(part, format="PNG", optimize=True)
    return path


def color_of(rate: float) -> Color:
    """The color of a clear rate."""
    for (low, first), (high, second) in pairwise(_RAMP):
        if rate <= high:
            share = (rate - low) / (high - low)
            red, green, blue = (
                round(a + share * (b - a)) for a, b in zip(first, second, strict=True)
            )
            return red, green, blue
    return _RAMP[-1][1]


class _Pen:
    """Draws in the units of the layout."""

    def __init__(self, draw: ImageDraw.ImageDraw) -> None:
        self._draw = draw

    def text(
        self, place: tuple[float, float], words: str, size: float, color: Color, at: str = "lt"
    ) -> None:
        from PIL import ImageFont

        font = ImageFont.load_default(size * _SCALE)
        scaled = place[0] * _SCALE, place[1] * _SCALE
        self._draw.text(scaled, words, fill=color, font=font, anchor=at)

    def box(
        self,
        place: tuple[float, float],
        size: tuple[float, float],
        color: Color,
        radius: float = 0,
    ) -> None:
        corners = (*place, place[0] + size[0], place[1] + size[1])
        scaled = [value * _SCALE for value in corners]
        self._draw.rounded_rectangle(scaled, radius * _SCALE, fill=color)


def _draw_title(pen: _Pen, board: Scoreboard) -> None:
    pen.text((_MARGIN, _MARGIN + 4), board.summary.replace("at >=", "at or above"), 30, _INK)
    words = (
        f"clear rate over {board.measuring.episodes} episodes from the level's start, sticky "
        f"actions {STICKY_PROB:g} per frame, up to {NOOP_MAX} no-op frames"
    )
    pen.text((_MARGIN, _MARGIN + 46), words, 15, _FAINT)


def _draw_tile(pen: _Pen, left: float, top: float, level: str, board: Scoreboard) -> None:
    row = board.rows.get(level)
    back = _UNTRAINED if row is None else color_of(row.score.clear_rate)
    front = ink_on(back)
    pen.box((left, top), (_TILE_WIDTH, _TILE_HEIGHT), back, 9)
    pen.text((left + 11, top + 11), level, 15, front)
    middle = left + _TILE_WIDTH / 2
    if row is None:
        pen.text((middle, top + 56), "not trained", 14, _FAINT, "mm")
        return
    if board.reaches(level):
        pen.text((left + _TILE_WIDTH - 11, top + 11), "goal", 12, front, "rt")
    pen.text((middle, top + 52), percent(row.score), 31, front, "mm")
    pen.text((middle, top + 80), _spread(row), 12, front, "mm")


def _draw_legend(pen: _Pen, width: float, height: float) -> None:
    top, length, steps = height - _MARGIN - 22, 240, 120
    for step in range(steps):
        left = _MARGIN + length * step / steps
        pen.box((left, top), (length / steps, 12), color_of(step / (steps - 1)))
    for share, at in ((0.0, "lt"), (0.5, "mt"), (1.0, "rt")):
        pen.text((_MARGIN + length * share, top + 16), f"{share:.0%}", 11, _FAINT, at)
    words = "small figures: 95 % interval (Wilson)"
    pen.text((width - _MARGIN, top + 1), words, 13, _FAINT, "rt")


def _spread(row: Row) -> str:
    low, high = row.score.interval
    return f"{low:.0%} to {high:.0%}"


def ink_on(back: Color) -> Color:
    """The text color that is readable on a background: dark or white."""
    red, green, blue = back
    bright = 0.299 * red + 0.587 * green + 0.114 * blue
    return _INK if bright > 140 else (255, 255, 255)
