"""Guidance: scripted progress, rescue and adaptive control, assembled for a run."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpzone.algorithms.ranks import Ranks
from warpzone.config import TrainConfig
from warpzone.envs.vectors.make import AnyVectorEnv
from warpzone.rollout.action_override import ActionOverride
from warpzone.rollout.rollout_env import Info
from warpzone.telemetry.metrics import MetricRow
from warpzone.training.guidance.adaptive import AdaptiveControl
from warpzone.training.guidance.plans import Plans
from warpzone.training.guidance.progress_meter import ProgressMeter
from warpzone.training.guidance.rescue import Rescue

_log = logging.getLogger(__name__)

# Steps between overridden environments, so that they do not all jump at the same time.
_STAGGER = 5


class Guidance:
    """Monitors progress and intervenes between rollouts, while no environment is stepping."""

    def __init__(self, env: AnyVectorEnv, config: TrainConfig, ranks: Ranks | None = None):
        """Creates the plans; probing plays separate episodes.

        Args:
            env: Environments of this rank.
            config: Configuration of the run.
            ranks: Ranks whose progress is averaged, so that all of them decide alike.
        """
        self._env, self._config, self._ranks = env, config, ranks or Ranks()
        plans = Plans(config, list(env.config.actions))
        rescue = config.rescue if plans.can_rescue else replace(config.rescue, after=0, plateau=0)
        self._stuck_plan = plans.rescue(rescue.frames) if rescue.after else []
        self._plateau_plan = plans.rescue(rescue.frames // 2) if rescue.plateau else []
        self.notes = plans.notes
        self.override = ActionOverride(env.num_envs, plans.start(), config.script.episodes)
        self.meter = ProgressMeter(env.num_envs)
        self.rescue = Rescue(rescue)
        self.adaptive = AdaptiveControl(config.adaptive)

    def set_config(self, config: TrainConfig) -> None:
        """Sets changed options of the learner and the reward."""
        self._config = config

    def apply_scales(self) -> None:
        """Applies adaptive control to new reward weights."""
        if self._config.adaptive.enabled:
            self._apply_distance()

    def observe(self, info: Info, ended: NDArray[np.bool_]) -> None:
        """Observes the info of a step."""
        self.meter.observe(info, ended)

    def after_rollout(self, best: float, clearing: bool, overridden: bool) -> MetricRow:
        """Evaluates a rollout and intervenes in the next one.

        Args:
            best: Largest progress of any episode so far.
            clearing: Whether some episodes clear the level.
            overridden: Whether a script or a rescue chose some of the actions; such a rollout says
                nothing about the policy.
        """
        progress = self.meter.take().averaged(self._ranks)
        overridden = self._ranks.mean(float(overridden)) > 0
        self._rescue(progress.pixels_per_env, best, clearing)
        row: MetricRow = progress.metrics() | {
            "rescue/count": self.rescue.count,
            "rescue/envs": self.override.active,
        }
        if self._config.adaptive.enabled:
            if not overridden and self.adaptive.observe(progress.forward_share):
                self._apply_distance()
            scales = self.adaptive.scales
            row["adaptive/distance_weight"] = self._distance * scales.distance
            row["adaptive/entropy_scale"] = scales.entropy
            row["adaptive/rate_scale"] = scales.rate
        return row

    def _rescue(self, pixels: float, best: float, clearing: bool) -> None:
        reason = self.rescue.look(pixels, best, clearing)
        if reason is None:
            return
        options, envs = self._config.rescue, range(self._env.num_envs)
        if reason == "stuck":
            self.override.follow(self._stuck_plan, envs, _STAGGER)
            why, frames = f"no progress for {options.after} updates", options.frames
        else:
            self.override.follow(self._plateau_plan, envs[::2], _STAGGER)
            why, frames = f"no new best for {options.plateau} updates", options.frames // 2
        _log.warning(
            "rescue %d: %s; %d environments are forced forward for %d frames",
            self.rescue.count,
            why,
            self.override.active,
            frames,
        )

    def _apply_distance(self) -> None:
        weight = self._config.reward.weights(self._env.num_envs)["distance"]
        scale = self.adaptive.scales.distance
        if isinstance(weight, tuple) and not (self._config.adaptive.lock and scale != 1.0):
            start, end, steps = weight
            self._env.set_reward_weights(distance=(start * scale, end * scale, steps))
        else:
            self._env.set_reward_weights(distance=self._distance * scale)

    @property
    def _distance(self) -> float:
        """Returns the configured distance weight; if it is annealed, its initial value."""
        weight = self._config.reward.distance
        return weight[0] if isinstance(weight, tuple) else weight

    def entropy(self, annealed: float) -> float:
        """Returns the entropy coefficient under adaptive control."""
        scale = self.adaptive.scales.entropy
        return self.adaptive.applied(scale, self._config.learn.ent_coef, annealed)

    def rate(self, annealed: float) -> float:
        """Returns the learning rate under adaptive control."""
        scale = self.adaptive.scales.rate
        return self.adaptive.applied(scale, self._config.learn.learning_rate, annealed)

    def state_dict(self) -> dict[str, Any]:
        """Returns the state that an exact resume needs."""
        return {
            "override": self.override.state_dict(),
            "meter": self.meter.state_dict(),
            "rescue": self.rescue.state_dict(),
            "adaptive": self.adaptive.state_dict(),
        }

    def load_state_dict(self, state: dict[str, Any], *, same_episodes: bool = True) -> None:
        """Restores the state returned by `state_dict`.

        Args:
            state: Saved state.
            same_episodes: Whether the environments resume their episodes; if not, the state of
                episodes is ignored.
        """
        if same_episodes:
            self.override.load_state_dict(state["override"])
            self.meter.load_state_dict(state["meter"])
        self.rescue.load_state_dict(state["rescue"])
        self.adaptive.load_state_dict(state["adaptive"])
        self._apply_distance()
