"""A trained policy that plays in the window, in turns with the person at the keyboard."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpzone.envs.actions import resolve_actions
from warpzone.envs.console import Console
from warpzone.envs.single import MarioEnv
from warpzone.errors import ConfigError
from warpzone.evaluation.policies import add_batch_dimension
from warpzone.evaluation.trained import TrainedPolicy, load_policy
from warpzone.runs.levels import trained_levels


class PolicyAgent:
    """Chooses buttons from what it sees of a console that others may run as well.

    It follows every frame, whoever pressed the buttons, so that it can take over at any time with
    the stacked frames and the memory that it would have had.

    Attributes:
        console: The console that it sees; the session plays on it.
        game: The game that the policy knows.
        level: The first level that the policy was trained on.
    """

    def __init__(self, policy: TrainedPolicy, seed: int = 0) -> None:
        """Makes the console.

        Args:
            policy: Chooses actions, at its evaluation temperature.
            seed: Of sampled actions.

        Raises:
            ConfigError: The policy sees the game through wrappers.
        """
        if policy.wrap is not None:
            raise ConfigError(
                f"{policy.path} was trained in wrappers, which `warpzone play` does not have; "
                "`warpzone video` records it"
            )
        self.game = policy.config.env.game
        self.level = trained_levels(policy.config.env)[0]
        self._policy, self._seed = policy, seed
        self._eyes = _Eyes(self.level, **policy.env_options())
        self._actions = resolve_actions(policy.config.env.actions)
        self.console: Console = self._eyes.console

    def begin(self) -> None:
        """Forgets everything before this moment: the game has just started, or was restored."""
        self._player = self._policy.player(1, self._seed, greedy=False)
        self._decide(self._eyes.first_look(), first=True)

    def buttons(self) -> int:
        """The controller byte of the next frame."""
        return self._buttons

    def follow(self, buttons: int) -> None:
        """Sees the frame that was just played with some buttons, and decides when a step ends."""
        obs = self._eyes.follow(buttons)
        if obs is not None:
            self._decide(obs, first=False)

    def _decide(self, obs: Any, *, first: bool) -> None:
        action = self._player(add_batch_dimension(obs), np.array([first]))
        self._buttons = self._actions[int(action[0])]


def load_agent(target: Path, level: str | None = None, rom: Path | None = None) -> PolicyAgent:
    """Loads a policy that plays in the window.

    Args:
        target: A run, a checkpoint, a policy file, or a folder of those.
        level: Of a folder, the policy that is for this level.
        rom: ROM to play instead of the one that the policy was trained with.
    """
    return PolicyAgent(load_policy(target, level, rom))


class _Eyes(MarioEnv):
    """The observations of an environment, without its steps: others run the frames."""

    _count = 0  # Frames of the step so far.
    _before: NDArray[np.uint8] | None = None  # The screen before the last frame of a step.

    def first_look(self) -> Any:
        """The observation of the present, as if it were the start of an episode."""
        self._count, self._before, self._buttons = 0, None, 0
        self._machine.draw_ahead()  # A restored machine has drawn nothing yet.
        self._frames.extend([self._frame()] * (self._frames.maxlen or 1))
        return self._observation()

    def follow(self, buttons: int) -> Any | None:
        """The observation after a frame that ends a step; None after the others."""
        skip = self._config.frame_skip
        self._buttons = buttons
        self._count += 1
        if self._count == skip - 1 and self._config.max_pool:
            self._before = self._screen()
        if self._count < skip:
            return None
        self._frames.append(self._frame(self._before))
        self._count, self._before = 0, None
        return self._observation()
