"""Measures the cost of native convolutions and of the native Adam, compared with PyTorch.

    python benchmarks/image_kernels.py

Images come from environments with random actions, and the network is untrained. Each cost is the
best of several repeats, in CPU time of one thread, so that other programs on the machine affect it
less. To compare two versions, run the script in a checkout of each, in turn.
"""

from __future__ import annotations

import argparse
import copy
from collections.abc import Callable

import numpy as np
import torch
from policy_kernels import microseconds
from torch import Tensor, nn

import warpzone
from warpzone import _native
from warpzone.bench.machine import machine_info
from warpzone.models.image_encoders import SpaceToDepthEncoder
from warpzone.models.native_convolutions import NativeConvolutions
from warpzone.training.row_adam import RowAdam

SHAPE, SIZE, MAX_NORM = (2, 84, 84), 256, 0.5


def images(count: int) -> Tensor:
    """Returns observations of environments on their way through 1-1."""
    env = warpzone.make_vec("1-1", num_envs=16, num_threads=1, obs="pixels", stack=SHAPE[0])
    obs, _ = env.reset(seed=0)
    actions = np.random.default_rng(0).integers(0, env.single_action_space.n, (count // 16 * 4, 16))
    rows = []
    for step, row in enumerate(actions):
        obs, *_ = env.step(row)
        if step % 4 == 0:
            rows.append(obs.copy())
    env.close()
    return torch.from_numpy(np.concatenate(rows))


def convolutions(encoder: SpaceToDepthEncoder) -> dict[str, Callable[[Tensor], Tensor]]:
    """Returns both ways to compute the convolutions of an encoder."""
    native = NativeConvolutions(_native.ImageConvolutions(*SHAPE, 1))
    first, second = (layer for layer in encoder.layers.children() if isinstance(layer, nn.Conv2d))
    return {
        "PyTorch": lambda batch: encoder.layers(encoder.prepare(batch)),
        "native": lambda batch: native(first, second, batch),
    }


def optimizer_step(model: SpaceToDepthEncoder, name: str) -> Callable[[], None]:
    """Returns a function that clips gradients and takes a step of Adam."""
    for parameter in model.parameters():
        parameter.grad = torch.randn_like(parameter)
    if name == "native":
        ours = RowAdam(model.parameters(), model.linear.weight, 1, lr=1e-4, fused=True)

        def step() -> None:
            ours.clip_grad_norm(MAX_NORM)
            ours.step()

        return step
    theirs = torch.optim.Adam(model.parameters(), lr=1e-4, fused=True)

    def plain_step() -> None:
        nn.utils.clip_grad_norm_(model.parameters(), MAX_NORM)
        theirs.step()

    return plain_step


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=256)
    parser.add_argument("--repeats", type=int, default=40)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    batch = images(options.samples)
    slopes = torch.randn(len(batch), 1152) * 1e-3
    rows: dict[str, list[float]] = {}
    encoder = SpaceToDepthEncoder(SHAPE, (32, 32), SIZE)
    for name, convolve in convolutions(encoder).items():

        def forward(convolve: Callable[[Tensor], Tensor] = convolve) -> None:
            with torch.inference_mode():
                convolve(batch)

        def both(convolve: Callable[[Tensor], Tensor] = convolve) -> None:
            encoder.zero_grad()
            convolve(batch).backward(slopes)

        step = optimizer_step(copy.deepcopy(encoder), name)
        for what, work, count in (
            ("convolutions, forward, per sample", forward, len(batch)),
            ("convolutions, forward and backward, per sample", both, len(batch)),
            ("gradient clipping and Adam, per step", step, 1),
        ):
            rows.setdefault(what, []).append(microseconds(work, count, options.repeats))
    print("\n".join(f"{key}: {value}" for key, value in machine_info().items()))
    print("\n| CPU microseconds | PyTorch | native |\n|---|---|---|")
    for what, (plain, native) in rows.items():
        print(f"| {what} | {plain:.1f} | {native:.1f} |")


if __name__ == "__main__":
    main()
