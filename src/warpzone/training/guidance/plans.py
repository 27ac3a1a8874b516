"""Plans of the action override: converts buttons and frames to one action per step."""

from __future__ import annotations

import logging
from typing import NamedTuple

from warpzone.config import TrainConfig
from warpzone.envs.actions import BUTTONS, describe_buttons
from warpzone.envs.button_script import parse_script, script_steps, steps_of
from warpzone.envs.probe import probe_forward
from warpzone.errors import ConfigError
from warpzone.runs.levels import trained_levels

_FORWARD = "RIGHT+B"
_RESCUE = "RIGHT+A+B:32,RIGHT+B:4"


class Note(NamedTuple):
    """Message for the log of the run."""

    level: int
    text: str


class Plans:
    """Plans described by the options.

    The forward action is the explicit action, the action found by probing, or RIGHT+B. The first
    two take precedence over a script.
    """

    def __init__(self, config: TrainConfig, actions: list[int]):
        """Creates the plans; probes for the forward action if configured.

        Raises:
            ConfigError: An action does not exist.
        """
        self._config, self._actions = config, actions
        self._skip = config.env.frame_skip
        self.notes: list[Note] = []
        """Messages about the forward action and overridden options, for the log of the run."""
        self._forward = self._choose_forward()

    def _choose_forward(self) -> int | None:
        script, env = self._config.script, self._config.env
        if script.forward_action >= 0:
            if script.forward_action >= len(self._actions):
                raise ConfigError(
                    f"script.forward_action is {script.forward_action}, but env.actions "
                    f"{env.actions!r} only has actions 0 to {len(self._actions) - 1}"
                )
            self._note("script.forward_action", script.forward_action)
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
            self._note(f"probing for {script.probe_frames} frames", found)
            return found
        return None

    def _note(self, source: str, action: int) -> None:
        buttons = describe_buttons(self._actions[action])
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
        """Returns the actions at the start of episodes; empty unless configured."""
        script = self._config.script
        if self._forward is not None:
            return [self._forward] * steps_of(script.forward_frames, self._skip)
        if script.sequence:
            return self._steps(script.sequence, "script.sequence")
        if script.forward_frames:
            return self._steps(f"{_FORWARD}:{script.forward_frames}", "script.forward_frames")
        return []

    @property
    def can_rescue(self) -> bool:
        """Whether any action moves forward."""
        return self._forward is not None or bool(self._rightward)

    @property
    def _rightward(self) -> list[int]:
        return [action for action, held in enumerate(self._actions) if held & BUTTONS["RIGHT"]]

    def rescue(self, frames: int) -> list[int]:
        """Returns the actions of a rescue for a number of frames."""
        pattern = self._pattern()
        steps = steps_of(frames, self._skip)
        return (pattern * -(-steps // len(pattern)))[:steps]

    def _pattern(self) -> list[int]:
        """Returns the actions to repeat: the forward action, or runs with jumps."""
        if self._forward is not None:
            return [self._forward]
        holds = parse_script(_RESCUE)
        if all(hold.buttons in self._actions for hold in holds):
            return script_steps(holds, self._actions, self._skip, "rescue")
        # A custom action set: any action that moves right, preferably with a jump.
        return [max(self._rightward, key=lambda action: self._actions[action] & BUTTONS["A"])]

    def _steps(self, text: str, option: str) -> list[int]:
        try:
            holds = parse_script(text)
        except ConfigError as error:
            raise ConfigError(f"{option}: {error}") from error
        return script_steps(holds, self._actions, self._skip, option)
