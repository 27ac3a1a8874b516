"""Frames as color numbers: a quarter of the size of RGBA, and quick to draw on a canvas.

Frames are compressed once for all viewers. 64 games take 43 kB instead of 983 kB, so that a slow
network suffices and many viewers cost the server little.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from warpzone import _native

_COMPRESSION = 2  # Higher levels take longer, and frames hardly get smaller.
_RAW_DEFLATE = -15

COLORS = _native.color_table().tobytes()
"""Red, green and blue of every color number of the console."""


def frame_message(
    kind: int, envs: Sequence[int], images: Sequence[NDArray[np.uint8]], palette: bytes
) -> bytes:
    """Frames for `js/frames.js`: a header, then palette, numbers and pixels, compressed.

    Args:
        kind: Tells kinds of messages apart.
        envs: One number per image.
        images: Indices of the palette; all of one size.
        palette: Red, green and blue of every index.
    """
    height, width = images[0].shape
    header = struct.pack("<BBHHH", kind, len(palette) // 3, len(envs), width, height)
    numbers = np.array(envs, "<u2").tobytes()
    body = b"".join([palette, numbers, *(image.tobytes() for image in images)])
    return header + zlib.compress(body, _COMPRESSION, _RAW_DEFLATE)


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
