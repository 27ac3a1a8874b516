"""Measuring training throughput, compared with Stable-Baselines3 if it is installed."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warpzone.bench.env import measure
from warpzone.config import make_config
from warpzone.training.trainer import Trainer

# The usual setup with Stable-Baselines3.
_SB3_ENVS, _SB3_STEPS, _SB3_BATCH = 8, 128, 256


@dataclass(frozen=True)
class TrainRow:
    """Throughput of one trainer.

    Attributes:
        trainer: Name of the trainer.
        obs: Kind of observation.
        num_envs: Number of environments.
        steps_per_second: Environment steps per second of wall time, including learning.
    """

    trainer: str
    obs: str
    num_envs: int
    steps_per_second: float


def has_sb3() -> bool:
    """Whether Stable-Baselines3 is installed."""
    return importlib.util.find_spec("stable_baselines3") is not None


def measure_ours(obs: str, level: str, seconds: float, rom: Path | None) -> TrainRow:
    """Measures the CPU preset."""
    config = make_config(level=level, obs=obs, rom="" if rom is None else str(rom))
    with closing(Trainer(config)) as trainer:
        trainer.begin()
        trainer.update()  # Warm-up: the first update also allocates and compiles.

        def update(_: int) -> None:
            trainer.update()

        rate = measure(update, seconds, config.rollout_size)
    return TrainRow("warpzone", obs, config.env.num_envs, rate)


def measure_sb3(level: str, seconds: float, rom: Path | None) -> TrainRow:
    """Measures Stable-Baselines3's PPO with CnnPolicy on our environments."""
    from stable_baselines3 import PPO

    from warpzone.envs.sb3 import SB3VecEnv
    from warpzone.envs.vector import MarioVectorEnv

    env = SB3VecEnv(MarioVectorEnv(level, num_envs=_SB3_ENVS, rom=rom, autoreset="same-step"))
    model = PPO("CnnPolicy", env, n_steps=_SB3_STEPS, batch_size=_SB3_BATCH, device="cpu")
    try:
        rate = measure(_learning(model), seconds, _SB3_ENVS * _SB3_STEPS)
    finally:
        env.close()
    return TrainRow("Stable-Baselines3 PPO", "pixels", _SB3_ENVS, rate)


def _learning(model: Any) -> Callable[[int], None]:
    def learn(steps: int) -> None:
        model.learn(steps, reset_num_timesteps=False)

    learn(_SB3_ENVS * _SB3_STEPS)
    return learn


def measure_training(level: str, seconds: float, rom: Path | None) -> Iterator[TrainRow]:
    """Measures all available trainers, one after the other."""
    for obs in ("pixels", "tiles"):
        yield measure_ours(obs, level, seconds, rom)
    if has_sb3():
        yield measure_sb3(level, seconds, rom)
