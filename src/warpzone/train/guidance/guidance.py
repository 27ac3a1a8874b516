"""Guidance: scripted progress, rescue and adaptive control, put together for a run."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warpzone.config import TrainConfig
from warpzone.envs.actions import BUTTONS, describe_buttons
from warpzone.envs.button_script import parse_script, script_steps, steps_of
from warpzone.envs.probe import probe_forward
from warpzone.envs.vectors.make import AnyVectorEnv
from warpzone.errors import ConfigError
from warpzone.rollout.action_override import ActionOverride
from warpzone.rollout.collector import Info
from warpzone.runs.levels import trained_levels
from warpzone.telemetry.metrics import MetricRow
from warpzone.train.guidance.adaptive import AdaptiveControl
from warpzone.train.guidance.progress_meter import ProgressMeter
from warpzone.train.guidance.rescue import Rescue

_log = logging.getLogger(__name__)

_FORWARD = "RIGHT+B"
_RESCUE = "RIGHT+A+B:32,RIGHT+B:4"
_STAGGER = 5  # Steps; lanes that are driven at once do not all jump at once.


class Note(NamedTuple):
    """Something for the log of the run."""

    level: int
    text: str


class Guidance:
    """Watches the lanes' progress and steps in between rollouts, while no game moves."""

    def __init__(self, env: AnyVectorEnv, config: TrainConfig):
        """Makes the plans; probing plays some games of its own."""
        self._env, self._config = env, config
        plans = Plans(config, list(env.config.actions))
        rescue = config.rescue if plans.can_rescue else replace(config.rescue, after=0, plateau=0)
        self._stuck_plan = plans.rescue(rescue.frames) if rescue.after else []
        self._plateau_plan = plans.rescue(rescue.frames // 2) if rescue.plateau else []
        self.notes = plans.notes
        self.override = ActionOverride(env.num_envs, plans.start(), config.script.episodes)
        self.meter = ProgressMeter(env.num_envs)
        self.rescue = Rescue(rescue)
        self.adaptive = AdaptiveControl(config.adaptive)

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
            row["adaptive/distance_weight"] = self._distance * scales.distance
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
            why, frames = f"no new best for {options.plateau} updates", options.frames // 2
        _log.warning(
            "rescue %d: %s; %d games are driven forward for %d frames",
            self.rescue.count,
            why,
            self.override.forcing,
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
        """The configured distance weight; of one that is annealed, where it starts."""
        weight = self._config.reward.distance
        return weight[0] if isinstance(weight, tuple) else weight

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
        self.notes: list[Note] = []
        """What was found, and which options it overrides; for the log of the run."""
        self._chosen = self._choose()

    def _choose(self) -> int | None:
        script, env = self._config.script, self._config.env
        if script.forward_action >= 0:
            if script.forward_action >= len(self._actions):
                raise ConfigError(
                    f"script.forward_action is {script.forward_action}, but env.actions "
                    f"{env.actions!r} has only {len(self._actions)}, from 0 on"
                )
            buttons = describe_buttons(self._actions[script.forward_action])
            self._note("script.forward_action", script.forward_action, buttons)
            return script.forward_action
        if script.probe_frames > 0:
            level = trained_levels(env)[0]
            found = probe_forward(
                script.probe_frames,
                level,
                env.actions,
                env.frame_skip,
                rom=env.rom or None,
                game=env.game,
            )
            buttons = describe_buttons(self._actions[found])
            self._note(f"probing for {script.probe_frames} frames", found, buttons)
            return found
        return None

    def _note(self, source: str, action: int, buttons: str) -> None:
        self.notes.append(
            Note(logging.INFO, f"{source}: the forward action is {action} ({buttons})")
        )
        script = self._config.script
        if script.sequence:
            text = (
                f"--script {script.sequence} is not used: a forward action takes precedence, and "
                f"is held for --script-forward-frames {script.forward_frames}"
            )
            self.notes.append(Note(logging.WARNING, text))

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

    @property
    def can_rescue(self) -> bool:
        """Whether any action moves forward."""
        return self._chosen is not None or bool(self._rightward)

    @property
    def _rightward(self) -> list[int]:
        return [action for action, held in enumerate(self._actions) if held & BUTTONS["RIGHT"]]

    def rescue(self, frames: int) -> list[int]:
        """What a rescue presses for so many frames."""
        pattern = self._pattern()
        steps = steps_of(frames, self._skip)
        return (pattern * -(-steps // len(pattern)))[:steps]

    def _pattern(self) -> list[int]:
        """What is pressed over and over: the forward action, or runs with jumps."""
        if self._chosen is not None:
            return [self._chosen]
        holds = parse_script(_RESCUE)
        if all(hold.buttons in self._actions for hold in holds):
            return script_steps(holds, self._actions, self._skip, "rescue")
        # An action set of the user's own: whatever moves right, jumping if there is such a thing.
        return [max(self._rightward, key=lambda action: self._actions[action] & BUTTONS["A"])]

    def _steps(self, text: str, option: str) -> list[int]:
        try:
            holds = parse_script(text)
        except ConfigError as error:
            raise ConfigError(f"{option}: {error}") from error
        return script_steps(holds, self._actions, self._skip, option)
