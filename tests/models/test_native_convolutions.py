"""Native convolutions equal PyTorch's within a tolerance, in both directions."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from warpzone import _native
from warpzone.config import RunOptions, make_config
from warpzone.errors import ConfigError
from warpzone.models.image_encoders import SpaceToDepthEncoder
from warpzone.models.native_convolutions import NATIVE_CHANNELS
from warpzone.training.native_images import convolves_natively
from warpzone.training.trainer import Trainer

#: Of outputs and gradients, per unit of the largest one.
TOLERANCE = 1e-3
SHAPE = (2, 84, 84)


def images_of(shape: tuple[int, int, int], count: int = 12) -> Tensor:
    """Images with a flat background above a random ground, and one without any background."""
    images = torch.full((count, *shape), 150, dtype=torch.uint8)
    images[:, :, shape[1] * 2 // 3 :] = torch.randint(
        0, 256, (count, shape[0], shape[1] - shape[1] * 2 // 3, shape[2]), dtype=torch.uint8
    )
    images[0] = torch.randint(0, 256, shape, dtype=torch.uint8)
    return images


def encoders_of(
    shape: tuple[int, int, int], threads: int = 1
) -> tuple[SpaceToDepthEncoder, SpaceToDepthEncoder]:
    """The same encoder in PyTorch and with native convolutions."""
    torch.manual_seed(0)
    plain = SpaceToDepthEncoder(shape, (NATIVE_CHANNELS, NATIVE_CHANNELS), 16)
    with torch.no_grad():
        for parameter in plain.parameters():
            parameter.add_(0.02 * torch.randn_like(parameter))
    native = copy.deepcopy(plain)
    native.convolve_with(_native.ImageConvolutions(*shape, threads))
    return plain, native


def check_close(actual: Tensor, expected: Tensor) -> None:
    assert actual.shape == expected.shape
    assert float((actual - expected).detach().abs().max()) <= TOLERANCE * float(
        expected.detach().abs().max()
    )


@pytest.mark.parametrize("shape", [SHAPE, (1, 8, 4), (4, 60, 64), (3, 84, 112)])
def test_outputs_and_gradients_equal_pytorchs(shape: tuple[int, int, int]) -> None:
    plain, native = encoders_of(shape)
    images = images_of(shape)
    expected, actual = plain(images), native(images)
    check_close(actual, expected)
    slopes = torch.randn_like(expected) * (expected.detach() > 1e-3)
    for output in (expected, actual):
        output.backward(slopes)
    for one, other in zip(plain.parameters(), native.parameters(), strict=True):
        assert one.grad is not None
        assert other.grad is not None
        # An output next to zero may be on either side of it, which changes whole gradients.
        error = (one.grad - other.grad).norm() / one.grad.norm()
        assert float(error) <= 10 * TOLERANCE


def test_results_do_not_depend_on_the_number_of_threads() -> None:
    results = []
    for threads in (1, 2, 3):
        _, native = encoders_of(SHAPE, threads)
        output = native(images_of_seed(40))
        output.square().sum().backward()
        gradients = [parameter.grad for parameter in native.parameters()]
        results.append([output.detach(), *gradients])
    for others in results[1:]:
        for one, other in zip(results[0], others, strict=True):
            assert one is not None
            assert other is not None
            assert torch.equal(one, other)


def images_of_seed(count: int) -> Tensor:
    torch.manual_seed(1)
    return images_of(SHAPE, count)


def test_copies_share_the_kernel_and_empty_batches_are_allowed() -> None:
    _, native = encoders_of(SHAPE)
    images = images_of(SHAPE)
    assert torch.equal(copy.deepcopy(native)(images), native(images))
    assert native(images[:0]).shape == (0, 16)
    torch.testing.assert_close(native(images[::2]), native(images)[::2])


def test_backward_twice_adds_up_and_forwards_may_be_interleaved() -> None:
    _, native = encoders_of(SHAPE)
    images = images_of(SHAPE)
    first, second = native(images[:4]).sum(), native(images[4:]).sum()
    (first + second).backward()
    apart = [
        parameter.grad.clone() for parameter in native.parameters() if parameter.grad is not None
    ]
    native.zero_grad()
    native(images).sum().backward()
    for one, parameter in zip(apart, native.parameters(), strict=True):
        assert parameter.grad is not None
        torch.testing.assert_close(one, parameter.grad, rtol=1e-4, atol=1e-3)


def test_the_same_gradient_cannot_be_computed_twice() -> None:
    _, native = encoders_of(SHAPE)
    loss = native(images_of(SHAPE)).sum()
    loss.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="twice"):
        loss.backward()


def test_other_precisions_are_left_to_pytorch() -> None:
    plain, native = encoders_of(SHAPE)
    images = images_of(SHAPE)
    with torch.autocast("cpu", torch.bfloat16):
        assert torch.equal(native(images), plain(images))


def test_arrays_of_another_size_are_refused() -> None:
    kernel = _native.ImageConvolutions(1, 8, 8, 1)
    sizes = ((32, 16, 3, 3), (32,), (32, 32, 3, 3), (32,))
    weights = tuple(torch.zeros(size) for size in sizes)
    images = torch.zeros(2, 1, 8, 8, dtype=torch.uint8)
    with pytest.raises(ConfigError, match="out has 3 elements; it needs 64"):
        kernel.forward(images, weights, None, torch.zeros(3))
    with pytest.raises(ConfigError, match="the first weight has 5 elements"):
        kernel.forward(images, (torch.zeros(5), *weights[1:]), None, torch.zeros(64))
    with pytest.raises(ConfigError, match="too large for native convolutions"):
        _native.ImageConvolutions(1, 252, 8, 1)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (RunOptions(), True),
        (RunOptions(precision="float32"), False),
        (RunOptions(precision="bfloat16"), False),
        (RunOptions(compile=True), False),
    ],
)
def test_native_convolutions_are_used_if_the_precision_is_left_to_warpzone(
    options: RunOptions, expected: bool, rom_path: Path
) -> None:
    trainer = Trainer(tiny())
    space = trainer.env.single_observation_space
    device = torch.device("cpu")
    assert convolves_natively(trainer.model, space, device, options) is expected
    assert not convolves_natively(trainer.model, space, torch.device("meta"), options)
    trainer.close()


def test_a_run_learns_the_same_with_native_convolutions(rom_path: Path) -> None:
    losses = []
    for precision in ("auto", "float32"):
        trainer = Trainer(tiny(precision=precision))
        trainer.begin()
        losses.append([trainer.update()["loss/total"] for _ in range(2)])
        trainer.close()
    assert losses[0] == pytest.approx(losses[1], rel=1e-2)
    assert losses[0] != losses[1]


def tiny(**options: Any) -> Any:
    return make_config(
        obs="pixels",
        num_envs=2,
        num_threads=1,
        rollout_steps=8,
        minibatch_size=8,
        replay_capacity=0,
        torch_threads=1,
        device="cpu",
        **options,
    )
