"""Packed weights: what is exact, what is rounded, and what is refused."""

from __future__ import annotations

import lzma
import zlib

import numpy as np
import pytest
import torch

from warpzone.errors import CheckpointError
from warpzone.evaluation.weight_packing import pack_weights, unpack_weights

SHAPES = {
    "first.weight": (256, 1000),
    "first.bias": (256,),
    "second.weight": (4, 256),
    "none": (0,),
}


def network(unused: int = 0) -> dict[str, torch.Tensor]:
    torch.manual_seed(0)
    weights = {name: torch.randn(shape) * 0.1 for name, shape in SHAPES.items()}
    weights["first.weight"][:, :unused] = 0.0
    return weights


def test_large_layers_are_rounded_and_small_ones_keep_half_precision() -> None:
    weights = network(unused=600)
    packed = pack_weights(weights)
    assert packed.steps.keys() == {"first.weight"}
    unpacked = unpack_weights(packed)
    assert list(unpacked) == list(weights)
    for name in ("first.bias", "second.weight", "none"):
        assert torch.equal(unpacked[name], weights[name].half().float()), name
    step = packed.steps["first.weight"]
    assert step == pytest.approx(0.025, rel=0.01), "a quarter of the deviation of used weights"
    assert (unpacked["first.weight"] - weights["first.weight"]).abs().max() <= step * 0.5001
    assert not unpacked["first.weight"][:, :600].any()


def test_the_largest_weight_keeps_its_size() -> None:
    weights = network()
    weights["first.weight"][3, 7] = 50.0
    unpacked = unpack_weights(pack_weights(weights))
    assert unpacked["first.weight"][3, 7].item() == pytest.approx(50.0)


def test_unused_inputs_take_no_space() -> None:
    assert len(pack_weights(network(900)).data) < 0.2 * len(pack_weights(network()).data)


def test_equal_weights_give_equal_bytes() -> None:
    assert pack_weights(network()) == pack_weights(network())


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e6])
def test_weights_that_are_not_halves_are_refused_by_name(value: float) -> None:
    weights = network()
    weights["second.weight"][0, 0] = value
    with pytest.raises(CheckpointError, match=r"second\.weight has values"):
        pack_weights(weights)


@pytest.mark.parametrize("size", [0, 1, 10**12])
def test_shapes_that_do_not_fit_the_data_are_refused(size: int) -> None:
    packed = pack_weights(network())
    with pytest.raises(ValueError, match="its weights"):
        unpack_weights(packed._replace(shapes={"first.bias": [size]}, steps={}))


def test_data_that_is_cut_longer_or_followed_by_more_is_refused() -> None:
    packed = pack_weights(network())
    data = lzma.decompress(packed.data)
    for damaged in (packed.data[:-40], packed.data + b"more", lzma.compress(data + b"0" * 2**20)):
        with pytest.raises(ValueError, match="another length"):
            unpack_weights(packed._replace(data=damaged))
    with pytest.raises(lzma.LZMAError):
        unpack_weights(packed._replace(data=zlib.compress(data)))


def test_weights_of_earlier_versions_are_read_input_by_input() -> None:
    packed = pack_weights(network())
    data = lzma.decompress(packed.data)
    count = 256 * 1000
    rounded = np.frombuffer(data[-count:], np.int8).reshape(256, 1000)
    earlier = zlib.compress(data[:-count] + np.ascontiguousarray(rounded.T).tobytes())
    unpacked = unpack_weights(packed._replace(data=earlier, is_zlib=True))
    for name, weight in unpack_weights(packed).items():
        assert torch.equal(unpacked[name], weight), name
