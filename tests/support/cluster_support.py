"""Small configurations for tests with actors."""

from __future__ import annotations

from warpzone.config import EnvOptions, LearnOptions, ModelOptions, RunOptions, TrainConfig

NUM_ENVS, STEPS = 4, 8


def small_cluster_config(updates: int = 6, runs: str = "runs") -> TrainConfig:
    return TrainConfig(
        env=EnvOptions(obs="tiles", num_envs=NUM_ENVS, num_threads=1),
        model=ModelOptions(hidden=16),
        learn=LearnOptions(algo="vtrace", rollout_steps=STEPS, minibatch_size=16),
        run=RunOptions(
            steps=updates * NUM_ENVS * STEPS,
            torch_threads=1,
            device="cpu",
            log_every=1,
            runs=runs,
            name="small",
        ),
    )
