"""Warpzone's side of the comparisons: the workloads of `warpzone bench env` on level 1-1."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import warpzone
from warpzone import _native
from warpzone.bench.env import Actions, AgentSteps, RawFrames, SentSteps, held_actions
from warpzone.rom import locate as roms

LEVEL = "1-1"


def raw_frames(rom: Path, render: bool) -> RawFrames:
    """Returns the bare-console workload, with or without rendering."""
    console = warpzone.Console(roms.load_game(path=rom))
    _native.start(console, roms.SMB, LEVEL)
    # The same length as the peer's sequence, and therefore the same actions.
    return RawFrames(console, render, held_actions(seed=0, length=100_000))


def agent_steps(rom: Path, num_envs: int, num_threads: int, obs: str = "pixels") -> AgentSteps:
    """Returns the vector-environment workload with default settings."""
    env = warpzone.make_vec(LEVEL, num_envs=num_envs, num_threads=num_threads, rom=rom, obs=obs)
    return AgentSteps(env, _actions(num_envs))


def sent_steps(rom: Path, num_envs: int, num_threads: int, obs: str = "pixels") -> SentSteps:
    """Returns the same workload with `send` and `recv`, half of the environments at a time."""
    env = warpzone.make_vec(LEVEL, num_envs=num_envs, num_threads=num_threads, rom=rom, obs=obs)
    return SentSteps(env, _actions(num_envs), batch_size=max(1, num_envs // 2))


def _actions(num_envs: int) -> Actions:
    return np.stack([held_actions(seed) for seed in range(num_envs)], axis=1)
