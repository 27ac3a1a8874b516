"""Learning on the real game: even a tiny budget must beat chance."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from warpzone.config import EnvOptions, LearnOptions, RunOptions, TrainConfig
from warpzone.training.trainer import Trainer

UPDATES = 30


def test_a_policy_on_1_1_gets_further_than_at_the_start(rom_path: Path) -> None:
    threads = torch.get_num_threads()
    config = TrainConfig(
        env=EnvOptions(obs="tiles", num_envs=32, num_threads=1, max_steps=400),
        learn=LearnOptions(rollout_steps=32, minibatch_size=256),
        run=RunOptions(steps=UPDATES * 1024, torch_threads=1, device="cpu", precision="float32"),
    )
    trainer = Trainer(config)
    progress: list[int] = []
    trainer.begin()
    for _ in range(UPDATES):
        trainer.update()
        progress += [episode.progress for episode in trainer.take_episodes()]
    trainer.close()
    torch.set_num_threads(threads)
    first, last = np.mean(progress[:60]), np.mean(progress[-60:])
    assert last > 1.5 * first, f"mean progress went from {first:.0f} to {last:.0f} pixels"
