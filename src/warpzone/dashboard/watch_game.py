"""One game that a policy plays for a person, who may pause, rewind and take over."""

from __future__ import annotations

import zlib
from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from warpzone.dashboard.frames import COLORS, frame_message
from warpzone.envs.actions import describe_buttons, resolve_actions
from warpzone.envs.endings import RUNNING, end_name
from warpzone.envs.vector import MarioVectorEnv
from warpzone.evaluation.trained import TrainedPolicy
from warpzone.models.tree import to_tensors
from warpzone.rollout.collector import sample
from warpzone.runs.levels import named_levels, trained_levels

SCREEN = 3
_STICKY = 0.25
_KEPT_STEPS = 1200  # About 80 seconds and 30 MB.
_LARGEST_BYTE = 0xFF


@dataclass(frozen=True)
class _Moment:
    """Everything that rewinding restores."""

    env: bytes
    memory: torch.Tensor
    random: torch.Tensor
    first: bool
    total: float
    facts: dict[str, Any]
    frame: bytes


class WatchGame:
    """A game with its policy. Every method belongs to one thread.

    Attributes:
        facts: What the page shows about the present moment.
        frame: The screen, as a message.
    """

    def __init__(self, policy: TrainedPolicy, level: str | None = None, seed: int = 0) -> None:
        """Begins an episode.

        Args:
            policy: Chooses actions, at its evaluation temperature.
            level: Level to play; by default the first one that the policy was trained on.
            seed: Of environment and actions.

        Raises:
            ConfigError: The level does not exist.
        """
        options = policy.config.env
        levels = named_levels(level, options.game) if level else trained_levels(options)
        self._policy, self._level = policy, levels[0]
        own = list(resolve_actions(options.actions))
        # The keyboard may press every combination; the policy only knows the first ones.
        self._actions = [*own, *(byte for byte in range(_LARGEST_BYTE + 1) if byte not in own)]
        self._own = len(own)
        self._sticky = options.sticky_prob > 0
        self._env = self._make_env()
        self._random = torch.Generator().manual_seed(seed)
        self._seed = seed
        self._past: deque[_Moment] = deque(maxlen=_KEPT_STEPS)
        self.restart()

    def _make_env(self) -> MarioVectorEnv:
        options = self._policy.env_options() | {"actions": self._actions}
        return MarioVectorEnv(
            self._level,
            num_envs=1,
            num_threads=1,
            render_mode="rgb_array",
            autoreset="disabled",
            sticky_prob=_STICKY if self._sticky else 0.0,
            noop_max=self._policy.config.env.noop_max,
            **options,
        )

    @property
    def seconds_per_step(self) -> float:
        """Duration of a step in the game."""
        return int(self._env.config.frame_skip) / 60

    @property
    def has_ended(self) -> bool:
        """Whether the episode has ended."""
        return bool(self.facts["end"] != RUNNING)

    def restart(self) -> None:
        """Begins the next episode."""
        self._obs, info = self._env.reset(seed=self._seed)
        self._seed += 1
        self._memory = self._policy.model.initial_state(1)
        self._first, self._total = True, 0.0
        self._past.clear()
        self.facts = self._describe(info, -1, 0.0, np.zeros(0, np.float32), "policy")
        self.frame = self._drawn()

    @torch.inference_mode()
    def step(self, buttons: int | None = None) -> None:
        """Plays a step: the policy's action, or the buttons that a person presses."""
        if self.has_ended:
            self.restart()
            return
        self._past.append(self._present())
        first = torch.tensor([self._first])
        decision = self._policy.model.step(to_tensors(self._obs), self._memory, first)
        self._memory, self._first = decision.state, False
        logits = decision.logits / self._policy.config.model.eval_temperature
        chosen = int(sample(logits, self._random)[0])
        action = chosen if buttons is None else self._actions.index(buttons & _LARGEST_BYTE)
        self._obs, reward, _, _, info = self._env.step([action])
        self._total += float(reward[0])
        shares = torch.softmax(logits[0], -1).numpy()
        who = "policy" if buttons is None else "person"
        self.facts = self._describe(info, action, float(decision.values[0]), shares, who)
        self.frame = self._drawn()

    def rewind(self, steps: int) -> None:
        """Takes back some steps."""
        moment = None
        for _ in range(min(steps, len(self._past))):
            moment = self._past.pop()
        if moment is None:
            return
        self._env.load_state(moment.env)
        self._obs, _ = self._env.observe()
        self._memory, self._first, self._total = moment.memory, moment.first, moment.total
        self._random.set_state(moment.random)
        self.facts = moment.facts
        self.frame = zlib.decompress(moment.frame)  # A restored machine has drawn nothing yet.

    def set_sticky(self, sticky: bool) -> None:
        """Switches sticky buttons on or off; the game continues where it is."""
        if sticky == self._sticky:
            return
        state = self._env.save_state(0)
        self._sticky = sticky
        self._env.close()
        self._env = self._make_env()
        self._env.reset(seed=0)
        self._env.load_state(state)
        self._obs, _ = self._env.observe()

    def _drawn(self) -> bytes:
        """The screen, as a message."""
        return frame_message(SCREEN, [0], [self._env.pool.color_numbers(0)], COLORS)

    def close(self) -> None:
        """Frees the environment."""
        self._env.close()

    def _present(self) -> _Moment:
        return _Moment(
            self._env.save_state(0),
            self._memory,
            self._random.get_state(),
            self._first,
            self._total,
            self.facts,
            zlib.compress(self.frame, 1),
        )

    def _describe(
        self,
        info: dict[str, Any],
        action: int,
        value: float,
        shares: NDArray[np.float32],
        who: str,
    ) -> dict[str, Any]:
        return {
            "level": f"{int(info['world'][0])}-{int(info['stage'][0])}",
            "step": int(info["steps"][0]),
            "x": int(info["x_pos"][0]),
            "progress": int(info["progress"][0]),
            "end": end_name(int(info["end_reason"][0])),
            "return": round(self._total, 3),
            "value": round(value, 3),
            "action": action,
            "actions": [describe_buttons(byte) for byte in self._actions[: self._own]],
            "buttons": self._actions[action] if action >= 0 else 0,
            "probabilities": [round(float(share), 4) for share in shares],
            "player": who,
            "sticky": self._sticky,
        }
