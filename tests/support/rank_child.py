"""One rank of a test: learns from its share of a rollout; used by test_ranks.py.

    torchrun --nproc-per-node RANKS rank_child.py FOLDER

Every rank plays the same rollout, takes its share of the environments, and writes the weights after
learning and the metrics.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import torch

from warpzone.algorithms.build import make_algorithm
from warpzone.algorithms.gradient_step import GradientStep
from warpzone.algorithms.learner import Learner
from warpzone.algorithms.ranks import Ranks
from warpzone.config import EnvOptions, LearnOptions, ModelOptions, RunOptions, TrainConfig
from warpzone.rollout.storage import RolloutStorage
from warpzone.training.network import clip_of, make_optimizer
from warpzone.training.process_ranks import ProcessRanks, has_ranks
from warpzone.training.trainer import Trainer

NUM_ENVS, STEPS = 8, 16
VARIANTS = (("ppo", "native"), ("vtrace", "torch"))


def config_of(algorithm: str, acting: str) -> TrainConfig:
    return TrainConfig(
        env=EnvOptions(obs="tiles", num_envs=NUM_ENVS, num_threads=1),
        model=ModelOptions(hidden=16),
        learn=LearnOptions(
            algo=algorithm,
            rollout_steps=STEPS,
            minibatch_size=NUM_ENVS * STEPS,
            epochs=3,
        ),
        run=RunOptions(
            steps=10_000,
            torch_threads=1,
            device="cpu",
            acting=acting,  # type: ignore[arg-type]
            precision="float32",  # Also where the processor computes in bfloat16.
        ),
    )


def share_of(storage: RolloutStorage, ranks: Ranks) -> RolloutStorage:
    """Copies some environments of a rollout."""
    count = storage.num_envs // ranks.size
    chosen = slice(ranks.rank * count, (ranks.rank + 1) * count)
    part = RolloutStorage(storage.steps, count, {}, 0)
    part._obs = {name: value[:, chosen].clone() for name, value in storage._obs.items()}
    for name in RolloutStorage._NAMES:
        value = getattr(storage, name)
        setattr(part, name, value[chosen] if name == "state" else value[:, chosen].clone())
    return part


def learn(algorithm: str, acting: str, ranks: Ranks) -> dict[str, object]:
    config = config_of(algorithm, acting)
    trainer = Trainer(config)
    try:
        trainer.begin()
        storage = share_of(trainer.player.take(0).storage, ranks)
    finally:
        trainer.close()
    optimizer = make_optimizer(
        config.learn, trainer.model, native=trainer.player.parts.native_layers
    )
    options = replace(config.learn, minibatch_size=config.learn.minibatch_size // ranks.size)
    learner = Learner(
        trainer.model,
        make_algorithm(options, ()),
        GradientStep(trainer.model, optimizer, options, clip=clip_of(optimizer), ranks=ranks),
        options,
        generator=torch.Generator().manual_seed(ranks.rank),
        autocast=trainer.autocast,
        ranks=ranks,
    )
    row = learner.learn(storage, 0.01)
    return {"weights": trainer.model.state_dict(), "grad_norm": row["learn/grad_norm"]}


if __name__ == "__main__":
    assert has_ranks()
    ranks = ProcessRanks()
    for algorithm, acting in VARIANTS:
        torch.save(
            learn(algorithm, acting, ranks), Path(sys.argv[1]) / f"{algorithm}-{ranks.rank}.pt"
        )
    ranks.leave()
