"""Minimal runs and scoreboards, for tests of the code around them."""

from __future__ import annotations

from pathlib import Path

from warpzone.campaign.protocols import PROTOCOLS
from warpzone.campaign.scoreboard import Result, Row
from warpzone.config import EnvOptions, LearnOptions, ModelOptions, RunOptions, TrainConfig

FLAGS = [
    "--num-envs=4",
    "--num-threads=1",
    "--torch-threads=1",
    "--rollout-steps=8",
    "--minibatch-size=16",
    "--hidden=16",
    "--device=cpu",
    "--log-every=1",
    "--display=plain",
]


def small_config(runs: Path | str = "runs", level: str = "1-1", **run: object) -> TrainConfig:
    """Returns a configuration that trains for two updates."""
    return TrainConfig(
        env=EnvOptions(level=level, obs="tiles", num_envs=4, num_threads=1),
        model=ModelOptions(hidden=16),
        learn=LearnOptions(rollout_steps=8, minibatch_size=16),
        run=RunOptions(
            steps=64,
            torch_threads=1,
            device="cpu",
            log_every=1,
            video_minutes=0.0,
            runs=str(runs),
            **run,  # type: ignore[arg-type]
        ),
    )


def made_up_row(level: str, clears: int, policy: str = "x.policy") -> Row:
    """Returns a scoreboard row with made-up numbers."""
    result = Result(100, clears, 1234.5, {"clear": clears, "pit": 100 - clears})
    return Row(
        level=level,
        policy=policy,
        sha256="ab" * 32,
        steps=512_000,
        minutes=3.25,
        seed=7,
        commit="c0ffee" * 6 + "abcd",
        checkpoint_sha256="cd" * 32,
        measured="2026-11-17T12:00:00Z",
        results=dict.fromkeys((protocol.name for protocol in PROTOCOLS), result),
    )
