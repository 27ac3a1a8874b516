"""Shared by tests of the native policy: real observations and the tile network."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from warpzone import _native
from warpzone.envs.vector import MarioVectorEnv
from warpzone.evaluation.native_network import make_layout
from warpzone.models.tile_encoder import TileEncoder
from warpzone.models.tree import to_tensors
from warpzone.search.route import start_states
from warpzone.search.solution import read_solution

SOLUTIONS = Path(__file__).parents[2] / "solutions"

FEATURES = [_native.feature_name(index) for index in range(_native.FEATURE_COUNT)]
PLANES, ROWS, COLUMNS = 5, 13, 16
#: Ground, water, fire bars, mazes, lifts, and enemies of most kinds.
LEVELS = ("1-1", "2-2", "1-4", "8-4", "4-2", "3-1", "7-4", "5-3", "8-3", "4-4", "2-4", "6-4")


class Observations(NamedTuple):
    """Grids, [B, C, H, W], and features, [B, F]."""

    tiles: NDArray[np.uint8]
    features: NDArray[np.uint8]


def grid_shape(stack: int) -> tuple[int, int, int]:
    return (PLANES * stack, ROWS, COLUMNS)


@cache
def make_encoder(
    stack: int = 2, hidden: int = 256, size: int = 128, version: int = 2
) -> TileEncoder:
    torch.manual_seed(0)
    return TileEncoder(grid_shape(stack), FEATURES, hidden, size, version=version)


@cache
def layout_of(encoder: TileEncoder, stack: int = 2) -> _native.ActiveLayout:
    return make_layout(encoder, grid_shape(stack), FEATURES)


def listed(layout: _native.ActiveLayout, obs: Observations) -> NDArray[np.uint16]:
    """Converts observations to lists of active inputs, [B, capacity]."""
    rows = np.zeros((len(obs.features), layout.capacity), np.uint16)
    layout.write(obs.tiles, obs.features, rows)
    return rows


def dense(encoder: TileEncoder, obs: Observations) -> NDArray[np.float32]:
    """Converts observations to the dense vectors of the reference."""
    with torch.no_grad():
        prepared = encoder.prepare(to_tensors(obs._asdict()))
    vectors: NDArray[np.float32] = prepared.numpy()
    return vectors


def played(levels: Sequence[str], steps: int, *, stack: int = 2, **options: Any) -> Observations:
    """Returns observations of levels in which Mario runs and jumps at random."""
    env = MarioVectorEnv(
        list(levels),
        num_envs=len(levels),
        num_threads=1,
        obs="tiles",
        stack=stack,
        autoreset="same-step",
        actions="simple",
        **options,
    )
    return _play(env, steps)


def played_along_solutions(levels: Sequence[str], steps: int) -> Observations:
    """Returns observations of episodes that start along known solutions."""
    states = [
        state.blob
        for level in levels
        for state in start_states(read_solution(SOLUTIONS / f"{level}.solution"), spacing=64)
    ]
    env = MarioVectorEnv(
        num_envs=len(states), num_threads=1, obs="tiles", autoreset="same-step", actions="simple"
    )
    for index, state in enumerate(states):
        env.set_start_state(state, [index])
    return _play(env, steps)


def _play(env: MarioVectorEnv, steps: int) -> Observations:
    random = np.random.default_rng(1)
    tiles, features = [], []
    actions = np.full(env.num_envs, 1)
    env.reset(seed=3)
    for step in range(steps):
        if step % 4 == 0:
            rushes = random.random(env.num_envs) < 0.8
            actions = np.where(rushes, random.integers(1, 5, env.num_envs), random.integers(0, 7))
        obs, *_ = env.step(actions)
        tiles.append(obs["tiles"].copy())
        features.append(obs["features"].copy())
    env.close()
    return Observations(np.concatenate(tiles), np.concatenate(features))
