"""Measures the cost of the native policy per sample, compared with dense PyTorch.

    python benchmarks/policy_kernels.py                  # a table
    python benchmarks/policy_kernels.py --level 1-1 --repeats 9 --hidden 256

Samples come from rollouts of an untrained network. Each cost is the best of several repeats, in CPU
time of one thread, so that other programs on the machine hardly affect it.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from warpzone import _native
from warpzone.bench.machine import machine_info
from warpzone.envs.vector import MarioVectorEnv
from warpzone.evaluation.native_network import copy_weights, make_layout, make_native_network
from warpzone.models.actor_critic import ActorCritic
from warpzone.models.memory import make_memory
from warpzone.models.sparse import ActiveBatch, sparse_linear_relu, store_by_input
from warpzone.models.tile_encoder import TileEncoder

Costs = dict[str, tuple[float, float | None]]


def microseconds(work: Callable[[], Any], samples: int, repeats: int) -> float:
    """Returns the smallest CPU time per sample."""
    work()
    best = float("inf")
    for _ in range(repeats):
        began = time.thread_time()
        work()
        best = min(best, time.thread_time() - began)
    return best / samples * 1e6


def make_model(shape: tuple[int, int, int], hidden: int, actions: int) -> ActorCritic:
    names = [_native.feature_name(index) for index in range(_native.FEATURE_COUNT)]
    encoder = TileEncoder(shape, names, hidden, hidden // 2)
    return ActorCritic(encoder, make_memory("none", encoder.size, 0, 0), actions)


class Samples:
    """Steps of a rollout, as dense vectors and as lists."""

    def __init__(self, level: str, hidden: int, steps: int, envs: int):
        self.env = MarioVectorEnv(
            level,
            num_envs=envs,
            num_threads=1,
            obs="tiles",
            autoreset="same-step",
            actions="simple",
            stagnation_limit=100,
        )
        self.env.reset(seed=0)
        shape = self.env.single_observation_space["tiles"].shape
        self.model = make_model(shape, hidden, len(self.env.config.actions))
        self.encoder = self.model.encoder
        assert isinstance(self.encoder, TileEncoder)
        names = [_native.feature_name(index) for index in range(_native.FEATURE_COUNT)]
        self.layout = make_layout(self.encoder, shape, names)
        self.network = make_native_network(self.layout, self.model)
        copy_weights(self.model, self.network)
        self.player = _native.RolloutPlayer(self.env.pool, self.network)
        self.count, self.steps = steps * envs, steps
        single, more = (steps, envs), (steps + 1, envs)
        self.active = np.zeros((*more, self.layout.capacity), np.uint16)
        self.tiles = np.zeros((*more, *shape), np.uint8)
        self.features = np.zeros((*more, len(names)), np.uint8)
        self.arrays = self.player.arrays(
            steps,
            actions=np.zeros(single, np.int64),
            log_probs=np.zeros(single, np.float32),
            values=np.zeros(more, np.float32),
            final_values=np.zeros(single, np.float32),
            rewards=np.zeros(single, np.float32),
            terminated=np.zeros(single, np.uint8),
            truncated=np.zeros(single, np.uint8),
            first=np.zeros(more, np.uint8),
            progress=np.zeros(single, np.int32),
            stagnation=np.zeros(single, np.int32),
            active=self.active,
            random=np.arange(envs, dtype=np.uint64),
            grids=self.tiles,
            features=self.features,
        )
        self.player.play(self.arrays)
        self.store = self.active.reshape(-1, self.layout.capacity)
        self.obs = {
            "tiles": torch.from_numpy(self.tiles).flatten(0, 1),
            "features": torch.from_numpy(self.features).flatten(0, 1),
        }


def learning_costs(samples: Samples, batch_size: int, repeats: int) -> Costs:
    """Measures the first layer: forward pass and gradient of its weights."""
    layer = samples.encoder.first
    with torch.no_grad():
        prepared = samples.encoder.prepare(samples.obs)
    store_by_input(layer)
    chosen = torch.randperm(samples.count)[:batch_size]
    costs: Costs = {}

    def gathered() -> Tensor:
        return functional.relu(layer(prepared.index_select(0, chosen)))

    def both(forward: Callable[[], Tensor]) -> None:
        layer.zero_grad(set_to_none=True)
        torch.autograd.backward(forward().sum())

    with torch.no_grad():
        dense_forward = microseconds(gathered, batch_size, repeats)
    dense_both = microseconds(lambda: both(gathered), batch_size, repeats)
    weight = layer.weight.detach().t()
    bias = layer.bias.detach()
    out = torch.empty(batch_size, len(bias))
    gradient = torch.randn(batch_size, len(bias))
    weight_gradient, bias_gradient = torch.empty_like(weight), torch.empty_like(bias)
    for name in _native.instruction_sets():
        kernel = _native.SparseLinear(samples.layout, 1, name)
        batch = ActiveBatch(kernel, samples.store, chosen)
        costs[f"first layer, forward ({name})"] = (
            microseconds(
                lambda kernel=kernel: kernel.forward(
                    samples.store, chosen, weight, bias, rectify=True, out=out
                ),
                batch_size,
                repeats,
            ),
            dense_forward,
        )
        costs[f"first layer, gradient of weights ({name})"] = (
            microseconds(
                lambda kernel=kernel: kernel.gradient(
                    samples.store,
                    chosen,
                    out=out,
                    out_gradient=gradient,
                    weight_gradient=weight_gradient,
                    bias_gradient=bias_gradient,
                ),
                batch_size,
                repeats,
            ),
            dense_both - dense_forward,
        )
        costs[f"first layer, forward and backward through autograd ({name})"] = (
            microseconds(
                lambda batch=batch: both(lambda: sparse_linear_relu(layer, batch)),
                batch_size,
                repeats,
            ),
            dense_both,
        )
    return costs


def acting_costs(samples: Samples, envs: int, repeats: int) -> Costs:
    """Measures listing inputs, choosing actions, and whole rollout steps."""
    model = samples.model
    logits = np.zeros((samples.count, model.policy.out_features), np.float32)
    values = np.zeros(samples.count, np.float32)
    rows = samples.store[: samples.count]
    tiles, features = (part[: samples.count] for part in samples.obs.values())
    few = {"tiles": tiles[:envs], "features": features[:envs]}

    def torch_acts() -> None:
        with torch.inference_mode():
            for _ in range(10):
                said = model(few)
                noise = torch.empty_like(said.logits).exponential_().log_().neg_()
                (said.logits + noise).argmax(-1)

    dense = microseconds(torch_acts, 10 * envs, repeats)
    listing = microseconds(
        lambda: samples.layout.write(tiles.numpy(), features.numpy(), rows), samples.count, repeats
    )
    costs: Costs = {"list of active inputs": (listing, None)}
    for name in _native.instruction_sets():
        shape = (samples.encoder.first.out_features, samples.encoder.size, logits.shape[1])
        network = _native.PolicyNetwork(samples.layout, *shape, name)
        copy_weights(model, network)
        deciding = microseconds(
            lambda network=network: network.decide(rows, logits, values), samples.count, repeats
        )
        costs[f"acting: list, logits and value ({name})"] = (listing + deciding, dense)
    weights = microseconds(lambda: copy_weights(model, samples.network), samples.count, repeats)
    costs[f"copying the weights, per step of {samples.count}"] = (weights, None)
    playing = microseconds(lambda: samples.player.play(samples.arrays), samples.count, repeats)
    costs["whole step: acting and emulation"] = (playing, None)
    return costs


def show(costs: Costs) -> None:
    print("| microseconds per sample, one thread | native | PyTorch | ratio |")
    print("|---|---|---|---|")
    for name, (native, dense) in costs.items():
        peer = f"{dense:.2f} | {dense / native:.1f}x" if dense is not None else "| "
        print(f"| {name} | {native:.2f} | {peer} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--level", default="1-1", help="Levels to sample from.")
    parser.add_argument("--hidden", type=int, default=256, help="Width of the first layer.")
    parser.add_argument("--batch", type=int, default=1024, help="Samples per minibatch.")
    parser.add_argument("--envs", type=int, default=64, help="Number of environments.")
    parser.add_argument("--repeats", type=int, default=15, help="Repeats; the best one counts.")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    samples = Samples(options.level, options.hidden, 64, options.envs)
    lists = samples.store[: samples.count, :2]
    inputs, listed = samples.layout.inputs, lists.sum(1).mean()
    print(f"{machine_info()['cpu']}; {inputs} inputs, {listed:.0f} in a list")
    show(
        learning_costs(samples, options.batch, options.repeats)
        | acting_costs(samples, options.envs, options.repeats)
    )


if __name__ == "__main__":
    main()
