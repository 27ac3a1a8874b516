"""Guidance: scripted progress, rescue and adaptive control, put together for a run."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpzone.config.options import TrainConfig
from warpzone.envs.button_script import parse_script, script_steps, steps_of
from warpzone.envs.probe import probe_forward
from warpzone.envs.vectors.make import AnyVectorEnv
from warpzone.errors import ConfigError
from warpzone.rollout.action_override import ActionOverride
from warpzone.rollout.collector import Info
from warpzone.runs.levels import trained_levels
from warpzone.telemetry.metrics import MetricRow
from warpzone.train.guidance.adaptive import AdaptiveControl, AdaptiveSettings, Scales
from warpzone.train.guidance.progress_meter import ProgressMeter
from warpzone.train.guidance.rescue import Rescue, RescueSettings

_log = logging.getLogger(__name__)

_FORWARD = "RIGHT+B"
_STAGGER = 5  # Steps; lanes that are driven at once do not all jump at once.


class Guidance:
    """Watches the lanes' progress and steps in between rollouts, while no game moves."""

    def __init__(self, env: AnyVectorEnv, config: TrainConfig):
        """Makes the plans; probing plays some games of its own."""
        self._env, self._config = env, config
        plans = Plans(config, list(env.config.actions))
        rescue = config.rescue
        self._stuck_plan = plans.rescue(rescue.frames) if rescue.after else []
        self._plateau_plan = plans.rescue(rescue.plateau_frames) if rescue.plateau else []
        self.override = ActionOverride(env.num_envs, plans.start(), config.script.episodes)
        self.meter = ProgressMeter(env.num_envs)
        self.rescue = Rescue(
            RescueSettings(rescue.after, rescue.pixels, rescue.plateau, rescue.cool_down)
        )
        self.adaptive = AdaptiveControl(_adaptive_settings(config))

    def observe(self, info: Info, ended: NDArray[np.bool_]) -> None:
        """Takes the info of a step."""
        self.meter.observe(info, ended)

    def after_rollout(self, best: float, clearing: bool, forced: bool) -> MetricRow:
        """Judges a rollout and acts on the next one.

        Args:
            best: Most progress of any episode so far.
            clearing: Whether episodes clear the level now and then.
            forced: Whether a script or a rescue drove some of it, which says nothing of the policy.
        """
        seen = self.meter.take()
        self._rescue(seen.pixels_per_lane, best, clearing)
        row: MetricRow = seen.metrics() | {
            "rescue/count": self.rescue.count,
            "rescue/envs": self.override.forcing,
        }
        if self._config.adaptive.enabled:
            if not forced and self.adaptive.observe(seen.forward_share):
                self._apply_distance()
            scales = self.adaptive.scales
            row["adaptive/distance_weight"] = self._config.reward.distance * scales.distance
            row["adaptive/entropy_scale"] = scales.entropy
            row["adaptive/rate_scale"] = scales.rate
        return row

    def _rescue(self, pixels: float, best: float, clearing: bool) -> None:
        reason = self.rescue.look(pixels, best, clearing)
        if reason is None:
            return
        options, lanes = self._config.rescue, range(self._env.num_envs)
        if reason == "stuck":
            self.override.force(self._stuck_plan, lanes, _STAGGER)
            why, frames = f"no distance for {options.after} updates", options.frames
        else:
            self.override.force(self._plateau_plan, lanes[::2], _STAGGER)
            why, frames = f"no new best for {options.plateau} updates", options.plateau_frames
        _log.warning(
            "rescue %d: %s; %d games are driven forward for %d frames",
            self.rescue.count,
            why,
            self.override.forcing,
            frames,
        )

    def _apply_distance(self) -> None:
        scale = self.adaptive.scales.distance
        self._env.set_reward_weights(distance=self._config.reward.distance * scale)

    def entropy(self, annealed: float) -> float:
        """The entropy weight under adaptive control."""
        scale = self.adaptive.scales.entropy
        return self.adaptive.applied(scale, self._config.learn.ent_coef, annealed)

    def rate(self, annealed: float) -> float:
        """The learning rate under adaptive control."""
        scale = self.adaptive.scales.rate
        return self.adaptive.applied(scale, self._config.learn.learning_rate, annealed)

    def state_dict(self) -> dict[str, Any]:
        """Everything that an exact resume needs."""
        return {
            "pilot": self.override.state_dict(),
            "meter": self.meter.state_dict(),
            "rescue": self.rescue.state_dict(),
            "adaptive": self.adaptive.state_dict(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Takes what `state_dict` gave."""
        self.override.load_state_dict(state["pilot"])
        self.meter.load_state_dict(state["meter"])
        self.rescue.load_state_dict(state["rescue"])
        self.adaptive.load_state_dict(state["adaptive"])
        self._apply_distance()


class Plans:
    """From the options to actions, one a step.

    The forward action is the explicit one, or the one found by probing, or RIGHT+B; where one of
    the first two is given, it counts before a written sequence.
    """

    def __init__(self, config: TrainConfig, actions: list[int]):
        """Probes if that is asked for.

        Raises:
            ConfigError: For an action that there is not.
        """
        self._config, self._actions = config, actions
        self._skip = config.env.frame_skip
        self._chosen = self._choose()

    def _choose(self) -> int | None:
        script, env = self._config.script, self._config.env
        if script.forward_action >= 0:
            if script.forward_action >= len(self._actions):
                raise ConfigError(
                    f"script.forward_action is {script.forward_action}, but env.actions "
                    f"{env.actions!r} has only {len(self._actions)}, from 0 on"
                )
            return script.forward_action
        if script.probe_frames > 0:
            level = trained_levels(env)[0]
            found = probe_forward(script.probe_frames, level, env.actions, env.frame_skip)
            _log.info("probing: action %d leads forward", found)
            return found
        return None

    def start(self) -> list[int]:
        """What episodes begin with; nothing unless it is asked for."""
        script = self._config.script
        if self._chosen is not None:
            return [self._chosen] * steps_of(script.forward_frames, self._skip)
        if script.sequence:
            return self._steps(script.sequence, "script.sequence")
        if script.forward_frames:
            return self._steps(f"{_FORWARD}:{script.forward_frames}", "script.forward_frames")
        return []

    def rescue(self, frames: int) -> list[int]:
        """What a rescue presses for so many frames."""
        if self._chosen is not None:
            pattern = [self._chosen]
        else:
            pattern = self._steps(self._config.rescue.pattern, "rescue.pattern")
        steps = steps_of(frames, self._skip)
        return (pattern * -(-steps // len(pattern)))[:steps]

    def _steps(self, text: str, option: str) -> list[int]:
        try:
            holds = parse_script(text)
        except ConfigError as error:
            raise ConfigError(f"{option}: {error}") from error
        return script_steps(holds, self._actions, self._skip, option)


def _adaptive_settings(config: TrainConfig) -> AdaptiveSettings:
    options = config.adaptive
    return AdaptiveSettings(
        low=options.low,
        high=options.high,
        window=options.window,
        smoothing=options.smoothing,
        factor=options.factor,
        cool_down=options.cool_down,
        lowest=Scales(options.distance_low, options.entropy_low, options.rate_low),
        highest=Scales(options.distance_high, options.entropy_high, options.rate_high),
        lock=options.lock,
    )
