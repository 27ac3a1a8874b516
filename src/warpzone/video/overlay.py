"""Drawings around a frame: the controller, a caption, and the agent's observation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpzone.envs.actions import BUTTONS
from warpzone.video.writer import Frame

Color = tuple[int, int, int]

_BAR_HEIGHT = 24
_CAPTION_HEIGHT = 13
_BACKGROUND = (24, 24, 28)
_IDLE = (74, 74, 84)
_PRESSED = (255, 200, 60)
_TEXT = (235, 235, 235)

# Left, top, right and bottom of each button in the bar.
_CONTROLLER = {
    "UP": (10, 3, 15, 8),
    "LEFT": (4, 9, 9, 14),
    "RIGHT": (16, 9, 21, 14),
    "DOWN": (10, 15, 15, 20),
    "SELECT": (27, 13, 33, 15),
    "START": (36, 13, 42, 15),
    "B": (47, 4, 53, 10),
    "A": (57, 4, 63, 10),
}
_ROUND = ("A", "B")
_LETTER_TOP = 11  # Below the round buttons.
_TEXT_LEFT = 72
_LINE_TOPS = (1, 12)

# Colors of the planes of the tile grid; later planes are drawn over earlier ones.
_PLANE_COLORS = {
    "solid": (150, 100, 60),
    "hostile": (220, 50, 50),
    "platform": (90, 160, 230),
    "item": (250, 210, 60),
    "mario": (90, 220, 90),
}
_TILE_PIXELS = 10


def draw_overlay(frame: Frame, buttons: int, caption: Sequence[str]) -> Frame:
    """Adds a bar with the controller and a caption below a frame.

    Args:
        frame: Array of shape (height, width, 3).
        buttons: Controller byte; pressed buttons are highlighted.
        caption: At most two lines. A frame as wide as the screen has room for 30 characters each.

    Returns:
        A new frame that is 24 pixels higher.
    """
    from PIL import Image, ImageDraw

    image = Image.fromarray(_controller(buttons, frame.shape[1]))
    draw = ImageDraw.Draw(image)
    for line, top in zip(caption, _LINE_TOPS, strict=False):
        draw.text((_TEXT_LEFT, top), line, fill=_TEXT, font=bitmap_font())
    return np.concatenate([frame, np.asarray(image)])


@lru_cache(maxsize=512)
def caption_bar(text: str, width: int, color: Color) -> Frame:
    """Returns a bar of 13 pixels with one line of text."""
    from PIL import Image, ImageDraw

    image = Image.new("RGB", (width, _CAPTION_HEIGHT), _BACKGROUND)
    ImageDraw.Draw(image).text((3, 1), text, fill=color, font=bitmap_font())
    return np.asarray(image)


@lru_cache(maxsize=1)
def bitmap_font() -> Any:
    """Returns a font of 6 x 11 pixels per character that is sharp at its own size."""
    from PIL import ImageFont

    return ImageFont.load_default_imagefont()


@lru_cache(maxsize=256)
def _controller(buttons: int, width: int) -> Frame:
    from PIL import Image, ImageDraw

    image = Image.new("RGB", (width, _BAR_HEIGHT), _BACKGROUND)
    draw = ImageDraw.Draw(image)
    draw.rectangle((10, 9, 15, 14), fill=_IDLE)  # The centre of the directional pad.
    for name, box in _CONTROLLER.items():
        color = _PRESSED if buttons & BUTTONS[name] else _IDLE
        if name in _ROUND:
            draw.ellipse(box, fill=color)
            draw.text((box[0] + 1, _LETTER_TOP), name, fill=color, font=bitmap_font())
        else:
            draw.rectangle(box, fill=color)
    return np.asarray(image)


def side_by_side(frame: Frame, view: Frame) -> Frame:
    """Places `view` to the right of a frame, vertically centred."""
    height = max(frame.shape[0], view.shape[0])
    return np.concatenate([_centred(frame, height), _centred(view, height)], axis=1)


def _centred(image: Frame, height: int) -> Frame:
    above = (height - image.shape[0]) // 2
    below = height - image.shape[0] - above
    return np.pad(image, ((above, below), (0, 0), (0, 0)))


def observation_image(obs: Any) -> Frame:
    """Renders an observation of any kind as an RGB image; in a frame stack, the newest is last."""
    if isinstance(obs, Mapping):
        return _tiles_image(obs["tiles"], obs["features"])
    if obs.shape[2] % 3 == 0 and obs.shape[0] > 16:  # RGB: frames are stacked along the last axis.
        return np.ascontiguousarray(obs[:, :, -3:])
    return _pixels_image(obs)


def _pixels_image(stack: NDArray[np.uint8]) -> Frame:
    count, height, width = stack.shape
    columns = 2 if count > 1 else 1
    rows = -(-count // columns)
    grid = np.zeros((rows * columns, height, width), np.uint8)
    grid[:count] = stack
    grid = np.pad(grid, ((0, 0), (1, 1), (1, 1)), constant_values=60)
    lines = [np.concatenate(list(grid[row * columns :][:columns]), axis=1) for row in range(rows)]
    return np.repeat(np.concatenate(lines)[:, :, None], 3, axis=2)


def _tiles_image(tiles: NDArray[np.uint8], features: NDArray[np.uint8]) -> Frame:
    newest = tiles[-len(_PLANE_COLORS) :]
    rows, columns = newest.shape[1:]
    image = np.full((rows, columns, 3), 20, np.uint8)
    for plane, color in zip(newest, _PLANE_COLORS.values(), strict=True):
        strength = plane[:, :, None] / 255
        image = np.where(strength > 0, np.array(color) * (0.4 + 0.6 * strength), image)
    cells = np.repeat(np.repeat(image, _TILE_PIXELS, 0), _TILE_PIXELS, 1).astype(np.uint8)
    cells[::_TILE_PIXELS] = cells[:, ::_TILE_PIXELS] = 12
    # The features follow below the grid, one square each; brighter means larger.
    lines = np.pad(features, (0, -len(features) % columns)).reshape(-1, columns)
    bars = lines.repeat(_TILE_PIXELS, 0).repeat(_TILE_PIXELS, 1)
    return np.concatenate([cells, np.zeros_like(cells[:4]), np.stack([bars] * 3, axis=2)])
