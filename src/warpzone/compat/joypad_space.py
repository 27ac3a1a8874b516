"""`nes_py.wrappers.JoypadSpace`: a short list of actions instead of 256 controller bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium as gym

from warpzone.envs.actions import parse_buttons

_BUTTONS = ("right", "left", "down", "up", "start", "select", "B", "A", "NOOP")


class JoypadSpace(gym.Wrapper[Any, Any, Any, Any]):
    """Converts the number of an action into the controller byte of its buttons."""

    def __init__(self, env: gym.Env[Any, Any], actions: Sequence[Sequence[str]]) -> None:
        """Wraps an environment that takes controller bytes.

        Args:
            env: An environment of `gym_super_mario_bros.make`.
            actions: Lists of buttons, such as `SIMPLE_MOVEMENT`.

        Raises:
            ConfigError: A button does not exist.
        """
        super().__init__(env)
        self._bytes = [parse_buttons(buttons) for buttons in actions]
        self._meanings = [" ".join(buttons) for buttons in actions]
        self.action_space = gym.spaces.Discrete(len(self._bytes))

    @classmethod
    def buttons(cls) -> list[str]:
        """The names of the buttons."""
        return list(_BUTTONS)

    def step(self, action: Any) -> Any:
        """Takes a step with the buttons of an action."""
        return self.env.step(self._bytes[action])

    def get_action_meanings(self) -> list[str]:
        """The buttons of each action, as text."""
        return list(self._meanings)
