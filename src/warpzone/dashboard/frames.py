"""Frames as bytes of a palette: a quarter of the size of RGBA, and quick to draw on a canvas."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_UNKNOWN = 255
_MOST_COLORS = 255


class PaletteEncoder:
    """Turns RGB frames into indices of a palette that grows with the colors that appear.

    The console has 64 colors and a few variants of each, of which a game uses a few dozen.
    """

    def __init__(self) -> None:
        """Begins with an empty palette."""
        self._indices = np.full(1 << 15, _UNKNOWN, np.uint8)
        self._colors: list[tuple[int, int, int]] = []

    def encode(self, frame: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """The index of every pixel of a frame, height x width x 3."""
        wide = frame.astype(np.uint16) >> 3
        keys = wide[..., 0] << 10 | wide[..., 1] << 5 | wide[..., 2]
        indices: NDArray[np.uint8] = self._indices[keys]
        if (indices == _UNKNOWN).any():
            self._learn(frame[indices == _UNKNOWN], keys[indices == _UNKNOWN])
            indices = self._indices[keys]
        return indices

    def palette(self) -> bytes:
        """Red, green and blue of every color so far."""
        return bytes(part for color in self._colors for part in color)

    def _learn(self, pixels: NDArray[np.uint8], keys: NDArray[np.uint16]) -> None:
        for key, place in zip(*np.unique(keys, return_index=True), strict=True):
            if len(self._colors) < _MOST_COLORS:
                self._indices[key] = len(self._colors)
                red, green, blue = pixels[place].tolist()
                self._colors.append((red, green, blue))
            else:
                self._indices[key] = 0


def frame_message(
    kind: int, envs: Sequence[int], images: Sequence[NDArray[np.uint8]], palette: bytes
) -> bytes:
    """Frames for `js/frames.js`: header, palette, numbers of environments, then pixels.

    Args:
        kind: Tells kinds of messages apart.
        envs: One number per image.
        images: Indices of the palette; all of one size.
        palette: From `PaletteEncoder.palette`.
    """
    height, width = images[0].shape
    header = struct.pack("<BBHHH", kind, len(palette) // 3, len(envs), width, height)
    numbers = np.array(envs, "<u2").tobytes()
    return b"".join([header, palette, numbers, *(image.tobytes() for image in images)])


def view_image(planes: NDArray[np.uint8], *, is_color: bool) -> tuple[NDArray[np.uint8], bytes]:
    """An image observation as indices of a palette, its stacked frames side by side.

    Args:
        planes: Channels first: one plane per gray frame, three per color frame.
        is_color: Whether the planes are red, green and blue.

    Returns:
        Indices, and the palette: 64 grays, or 6 x 6 x 6 colors.
    """
    if not is_color:
        grays = bytes(part for level in range(64) for part in [level * 255 // 63] * 3)
        return np.concatenate(list(planes >> 2), axis=1), grays
    steps = range(0, 256, 51)
    colors = bytes(part for r in steps for g in steps for b in steps for part in (r, g, b))
    sixths = (planes.astype(np.uint16) + 25) // 51
    red, green, blue = sixths[0::3], sixths[1::3], sixths[2::3]
    indices = (36 * red + 6 * green + blue).astype(np.uint8)
    return np.concatenate(list(indices), axis=1), colors
