"""Weights of a policy as compressed bytes.

Small layers have half precision. Weights of large layers are rounded to whole numbers of steps, one
byte each, which takes a third of the space. LZMA finds more than zlib did in earlier versions,
above all if the weights of one unit are adjacent.
"""

from __future__ import annotations

import lzma
import math
import zlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from warpzone.errors import CheckpointError

_LARGE = 100_000  # Weights of a layer.
# Steps of a whole standard deviation are too coarse: a policy for 5-3 then cleared 42 % instead of
# 79 %. With a quarter, 4-4 was cleared in 289 of 300 episodes, and in 283 with its exact weights.
_STEPS_PER_DEVIATION = 4
_MOST_STEPS = 127
# Weights may take this much memory, or as many times the compressed length, whichever is more:
# unused inputs are zeros and compress very well, but whole networks of zeros are of no use.
_FREE_BYTES = 64 * 1024**2
_MOST_EXPANSION = 64
# Of the decompressor: several times what the largest preset needs.
_MOST_LZMA_BYTES = 256 * 1024**2


class PackedWeights(NamedTuple):
    """Compressed weights, and what is needed to unpack them.

    Attributes:
        shapes: Shapes by name, in order.
        steps: Step by name, of layers that are stored as whole numbers of steps.
        data: The rest: low bytes and high bytes of all halves, then all steps, unit by unit.
        is_zlib: Whether the data is compressed with zlib and has its steps input by input, as in
            files of earlier versions.
    """

    shapes: dict[str, list[int]]
    steps: dict[str, float]
    data: bytes
    is_zlib: bool = False


def pack_weights(weights: Mapping[str, Tensor]) -> PackedWeights:
    """Packs weights in any precision; the same weights always give the same bytes.

    Raises:
        CheckpointError: A weight is not a number that half precision can hold.
    """
    steps = {name: step for name, weight in weights.items() if (step := _step_of(weight)) > 0}
    halves = [_half(name, weight).ravel() for name, weight in weights.items()]
    plain = [half for name, half in zip(weights, halves, strict=True) if name not in steps]
    numbers = np.concatenate([*plain, np.zeros(0, np.float16)])
    planes = numbers.astype("<f2").view(np.uint8).reshape(-1, 2).T
    rounded = [_in_steps(weights[name], step) for name, step in steps.items()]
    data = planes.tobytes() + b"".join(part.tobytes() for part in rounded)
    shapes = {name: list(weight.shape) for name, weight in weights.items()}
    return PackedWeights(shapes, steps, lzma.compress(data, preset=9))


def unpack_weights(packed: PackedWeights) -> dict[str, Tensor]:
    """Returns the weights in full precision.

    Raises:
        ValueError: The shapes do not fit the data, or would take far more memory than it.
        zlib.error: The data is damaged.
        lzma.LZMAError: The data is damaged.
    """
    sizes = {name: math.prod(shape) for name, shape in packed.shapes.items()}
    halves = sum(size for name, size in sizes.items() if name not in packed.steps)
    size = halves + sum(sizes.values())
    if not 0 < size <= max(_FREE_BYTES, _MOST_EXPANSION * len(packed.data)):
        raise ValueError(f"its weights would take {size:,} bytes")
    data = _decompressed(packed, size)
    planes = np.frombuffer(data, np.uint8, 2 * halves).reshape(2, halves)
    weights, at, at_steps = {}, 0, 2 * halves
    for name, shape in packed.shapes.items():
        if name in packed.steps:
            whole = np.frombuffer(data, np.int8, sizes[name], at_steps)
            whole = whole.reshape(shape[::-1]).T if packed.is_zlib else whole.reshape(shape)
            weights[name] = torch.from_numpy(whole.astype(np.float32)) * packed.steps[name]
            at_steps += sizes[name]
        else:
            numbers = np.ascontiguousarray(planes[:, at : at + sizes[name]].T).view("<f2")
            weights[name] = torch.from_numpy(numbers.astype(np.float32).reshape(shape))
            at += sizes[name]
    return weights


def _decompressed(packed: PackedWeights, size: int) -> bytes:
    if packed.is_zlib:
        inflating = zlib.decompressobj()
        data = inflating.decompress(packed.data, size)
        is_whole = inflating.eof and not inflating.unconsumed_tail
    else:
        opened = lzma.LZMADecompressor(memlimit=_MOST_LZMA_BYTES)
        data = opened.decompress(packed.data, size)
        # The end of the stream follows the last byte of the weights.
        data += b"" if opened.eof else opened.decompress(b"", 1)
        is_whole = opened.eof and not opened.unused_data
    if len(data) != size or not is_whole:
        raise ValueError("its weights have another length than it says")
    return data


def _step_of(weight: Tensor) -> float:
    """The step to which a large layer is rounded; 0 for other weights."""
    if weight.ndim != 2 or weight.numel() < _LARGE:
        return 0.0
    used = weight[:, weight.ne(0).any(0)].float()
    if not used.numel():
        return 0.0
    largest = float(used.abs().max())
    return max(float(used.std()) / _STEPS_PER_DEVIATION, largest / _MOST_STEPS)


def _in_steps(weight: Tensor, step: float) -> NDArray[np.int8]:
    whole: NDArray[Any] = (weight.detach().float().cpu() / step).round().numpy()
    return np.ascontiguousarray(whole.astype(np.int8))


def _half(name: str, tensor: Tensor) -> NDArray[np.float16]:
    if not tensor.is_floating_point():
        raise CheckpointError(f"{name} has type {tensor.dtype}, which a policy file cannot hold")
    half = tensor.detach().to("cpu", torch.float16)
    if not bool(torch.isfinite(half).all()):
        raise CheckpointError(f"{name} has values that half precision cannot hold")
    numbers: NDArray[np.float16] = half.contiguous().numpy()
    return numbers
