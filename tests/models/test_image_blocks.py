"""Native code converts images to the same numbers as PyTorch, and learning does not notice."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import Tensor

from warpzone import _native
from warpzone.errors import ConfigError
from warpzone.models.image_blocks import BlockReader, image_blocks
from warpzone.models.image_encoders import SpaceToDepthEncoder

SHAPES = [(2, 84, 84), (1, 8, 4), (4, 60, 64), (6, 12, 100)]


def images_of(shape: tuple[int, int, int]) -> Tensor:
    images = torch.randint(0, 256, (21, *shape), dtype=torch.uint8)
    images[1:5] = torch.tensor([0, 255, 7, 128], dtype=torch.uint8).view(4, 1, 1, 1)
    # Two values, each half of the pixels: the lower one is the median.
    images[5] = torch.randint(0, 2, shape, dtype=torch.uint8) * 255
    return images


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("precision", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("shape", SHAPES)
def test_native_numbers_equal_pytorchs(
    shape: tuple[int, int, int], precision: torch.dtype, threads: int
) -> None:
    images = images_of(shape)
    reader = BlockReader(_native.ImageBlocks(*shape, threads))
    with torch.autocast("cpu", precision, enabled=precision != torch.float32):
        assert reader.can_read(images)
        expected, numbers = image_blocks(images), reader.read(images)
    assert numbers.dtype == expected.dtype == precision
    assert torch.equal(numbers, expected)


def test_a_part_of_a_larger_batch_is_read_where_it_lies() -> None:
    images = images_of((2, 84, 84))
    reader = BlockReader(_native.ImageBlocks(2, 84, 84, 1))
    assert torch.equal(reader.read(images[::2]), image_blocks(images[::2]))
    assert torch.equal(reader.read(images[:0]), image_blocks(images[:1])[:0])


def test_an_encoder_gives_the_same_output_and_gradients_with_native_conversion() -> None:
    plain = SpaceToDepthEncoder((2, 84, 84), (8, 8), 16)
    native = copy.deepcopy(plain)
    native.convert_with(_native.ImageBlocks(2, 84, 84, 2))
    shared = copy.deepcopy(native)
    assert not plain.converts_quickly
    assert shared.converts_quickly
    images = images_of((2, 84, 84))
    outputs = [encoder(images) for encoder in (plain, native, shared)]
    for output in outputs[1:]:
        assert torch.equal(output, outputs[0])
    for output in outputs:
        output.square().sum().backward()
    for one, other in zip(plain.parameters(), native.parameters(), strict=True):
        assert one.grad is not None
        assert other.grad is not None
        assert torch.equal(one.grad, other.grad)


def test_numbers_that_native_code_does_not_know_are_left_to_pytorch() -> None:
    encoder = SpaceToDepthEncoder((2, 84, 84), (8, 8), 16)
    encoder.convert_with(_native.ImageBlocks(2, 84, 84, 1))
    images = images_of((2, 84, 84))
    with torch.autocast("cpu", torch.float16):
        assert encoder.prepare(images).dtype == torch.float16


@pytest.mark.parametrize("shape", [(2, 83, 84), (2, 84, 2), (0, 84, 84), (1, 0, 4), (1, -4, 4)])
def test_images_that_cannot_be_divided_into_blocks_are_refused(
    shape: tuple[int, int, int],
) -> None:
    with pytest.raises(ConfigError, match="blocks of 4 x 4 pixels"):
        _native.ImageBlocks(*shape, 1)


def test_arrays_of_another_size_are_refused() -> None:
    blocks = _native.ImageBlocks(1, 8, 8, 1)
    images = torch.zeros(2, 1, 8, 8, dtype=torch.uint8)
    with pytest.raises(ConfigError, match="out has 64 elements; it needs 128"):
        blocks.write(images, torch.zeros(64))
    with pytest.raises(ConfigError, match="images has 70 elements"):
        blocks.write(torch.zeros(70, dtype=torch.uint8), torch.zeros(64))
