"""Conversion of images to centered blocks of pixels, the input of a convolution.

`image_blocks` is the reference, in PyTorch. `BlockReader` gives bit-identical results in one pass
over the images instead of several. Its native kernel is passed in, so this module does not depend
on it.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from warpzone.models.encoder import working_precision

BLOCK_SIZE = 4


class BlockKernel(Protocol):
    """Interface of `_native.ImageBlocks`; arrays may be CPU tensors."""

    def write(self, images: Any, out: Any) -> None:
        """Writes float32 values."""

    def write_bfloat16(self, images: Any, out: Any) -> None:
        """Writes bfloat16 values as raw bits."""


class BlockReader:
    """Converts images with native code.

    Copies of a network share the reader: it has no weights, and its kernel cannot be copied.
    """

    def __init__(self, kernel: BlockKernel):
        """Stores the kernel for images of one shape."""
        self._kernel = kernel

    def __deepcopy__(self, memo: dict[int, Any]) -> BlockReader:
        """Returns the same reader."""
        return self

    def can_read(self, images: Tensor) -> bool:
        """Whether the kernel supports the images' device and the current precision."""
        return images.device.type == "cpu" and working_precision(images) in (
            torch.float32,
            torch.bfloat16,
        )

    def read(self, images: Tensor) -> Tensor:
        """Returns the same result as `image_blocks`."""
        batch, planes, height, width = images.shape
        shape = (batch, height // BLOCK_SIZE, width // BLOCK_SIZE, planes * BLOCK_SIZE**2)
        blocks = torch.empty(shape, dtype=working_precision(images))
        if blocks.dtype == torch.float32:
            self._kernel.write(images.contiguous(), blocks)
        else:
            bits = blocks.view(torch.int16).numpy().view(np.uint16)
            self._kernel.write_bfloat16(images.contiguous(), bits)
        return blocks


def image_blocks(images: Tensor) -> Tensor:
    """Converts images to centered 4 x 4 blocks, [B, H / 4, W / 4, C * 16]."""
    return centred(space_to_depth(images), images)


def space_to_depth(images: Tensor) -> Tensor:
    """Moves blocks of 4 x 4 pixels into channels, [B, H / 4, W / 4, C * 16].

    Like `torch.nn.PixelUnshuffle`, but copies four bytes at a time.
    """
    batch, planes, height, width = images.shape
    rows, columns = height // BLOCK_SIZE, width // BLOCK_SIZE
    words = images.contiguous().view(torch.int32).view(batch, planes, rows, BLOCK_SIZE, columns)
    blocks = words.permute(0, 2, 4, 1, 3).contiguous().view(torch.uint8)
    return blocks.view(batch, rows, columns, planes * BLOCK_SIZE**2)


def centred(values: Tensor, images: Tensor) -> Tensor:
    """Converts bytes to floats, mostly between -1 and 1, with the background at zero.

    The background (sky or darkness) fills most of an image and carries no information. With the
    background at zero, networks learn considerably faster than from raw bytes.

    Args:
        values: Bytes of the images, in any layout.
        images: Images that the bytes belong to. The background is the median of every fourth pixel
            of the newest image.
    """
    precision = working_precision(values)
    background = images[:, -1, ::4, ::4].flatten(1).median(1).values.to(precision)
    # The new tensor is modified in place: every pass over this much data is expensive.
    return values.to(precision).sub_(background.view(-1, 1, 1, 1)).mul_(1.0 / 128.0)
