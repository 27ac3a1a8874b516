"""Annealing of the learning rate and entropy coefficient over a run."""

from __future__ import annotations

from warpzone.algorithms.schedules import lerp, scheduled
from warpzone.config import TrainConfig
from warpzone.training.guidance.guidance import Guidance


class Annealing:
    """Values that depend on the progress of the run, the clear rate and adaptive control."""

    def __init__(self, config: TrainConfig, guidance: Guidance):
        """Stores the configuration and the guidance, whose adaptive control scales the values."""
        self._learn, self._steps, self._guidance = config.learn, config.run.steps, guidance
        self._rollout_size = config.env.num_envs * config.learn.rollout_steps

    def learning_rate(self, steps: int, success: float) -> float:
        """Returns the learning rate after a number of environment steps at a clear rate."""
        learn = self._learn
        factor = scheduled(
            learn.lr_schedule,
            steps / self._steps,
            learn.lr_final_factor,
            learn.lr_warmup,
            self._rollout_size / self._steps,
        )
        rate = learn.learning_rate * factor * lerp(1.0, learn.lr_success_factor, success)
        return self._guidance.rate(rate)

    def ent_coef(self, success: float) -> float:
        """Returns the entropy coefficient at a clear rate."""
        learn = self._learn
        annealed = lerp(learn.ent_coef, learn.ent_coef_at_success, success**learn.ent_coef_fade)
        return self._guidance.entropy(annealed)
