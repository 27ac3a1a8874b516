"""Playing recorded rollouts again: the same save states, the same actions, now with frames."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpzone import _native
from warpzone.config import RewardOptions, TrainConfig
from warpzone.dashboard.frames import COLORS, frame_message, view_image
from warpzone.envs.actions import describe_buttons
from warpzone.envs.vector import MarioVectorEnv
from warpzone.runs.levels import trained_levels
from warpzone.runs.live_rollout import LiveRollout
from warpzone.step_info import step_info

WALL, DETAIL, VIEW = 1, 2, 4
_SHRINK = 2  # Tiles of the wall are half as wide and half as high as the screen.


@dataclass(frozen=True)
class LiveMoment:
    """What viewers get of one step.

    Attributes:
        wall: The frames of all environments, as one message.
        details: For each enlarged environment: facts, its frame as a message, and for image
            observations what the network sees as another.
    """

    wall: bytes
    details: dict[int, tuple[dict[str, Any], list[bytes]]]


class _Screens:
    """Screens of the environments, as color numbers.

    Where only the run knows how the next episode begins, an environment stays at its end.
    """

    def __init__(self, pool: _native.Pool, count: int) -> None:
        self._pool, self._count = pool, count
        self._frozen: dict[int, NDArray[np.uint8]] = {}

    def whole(self, place: int) -> NDArray[np.uint8]:
        """Returns the screen of an environment."""
        return self._frozen[place] if place in self._frozen else self._pool.color_numbers(place)

    def small(self) -> list[NDArray[np.uint8]]:
        """Returns the tiles of all environments."""
        return [
            self._frozen[place][::_SHRINK, ::_SHRINK]
            if place in self._frozen
            else self._pool.color_numbers(place, _SHRINK)
            for place in range(self._count)
        ]

    def is_frozen(self, place: int) -> bool:
        """Returns whether an environment stays at the end of its episode."""
        return place in self._frozen

    def freeze(self, ended: NDArray[np.bool_]) -> None:
        """Keeps the screens of environments whose episode has just ended."""
        for place in np.flatnonzero(ended).tolist():
            self._frozen.setdefault(place, self._pool.color_numbers(place))


class LivePlayer:
    """Plays rollouts of one run. It holds as many environments as are watched."""

    def __init__(self, config: TrainConfig, num_envs: int) -> None:
        """Makes environments like those of the run."""
        env = config.env
        self._is_color = env.obs == "rgb"
        self._env = MarioVectorEnv(
            trained_levels(env),
            num_envs=num_envs,
            num_threads=1,  # Cores belong to training.
            render_mode="rgb_array",
            autoreset="same-step",
            max_steps=env.max_steps,
            stagnation_limit=env.stagnation_limit,
            reward=config.reward.env_reward,
            power=env.power,
            random_power=env.random_power,
            reseed_game=env.reseed_game,
            start_random_steps=config.starts.random_steps,
            halfway=env.halfway,
            exact=env.exact,
            sticky_prob=env.sticky_prob,
            sticky=env.sticky,
            noop_max=env.noop_max,
            game_start_prob=env.game_start_prob,
            **env.policy_env_options(),
        )
        self._env.reset(seed=0)
        self.set_reward(config.reward)
        self._terms = np.zeros((num_envs, len(_native.REWARD_TERMS)), np.float32)
        self._obs: Any = None

    def close(self) -> None:
        """Frees the environments."""
        self._env.close()

    def set_reward(self, options: RewardOptions) -> None:
        """Uses the run's reward weights, which may have been steered."""
        self._env.set_reward_weights(**options.weights(self._env.num_envs))

    def ram(self) -> NDArray[np.uint8]:
        """RAM of every environment, to compare with that of the run."""
        return self._env.ram()

    def play(self, rollout: LiveRollout, details: Collection[int]) -> Iterator[LiveMoment]:
        """Plays a rollout step by step.

        Args:
            rollout: Of as many environments as the player has.
            details: Indices of environments that are enlarged; it may change on the way.
        """
        for place, (state, level) in enumerate(zip(rollout.states, rollout.levels, strict=True)):
            self._env.set_level(level, [place])
            self._env.load_state(state, [place])
        screens = _Screens(self._env.pool, len(rollout.envs))
        sums = self._env.observe()[1]["reward_terms"].copy()
        for step in range(len(rollout.actions)):
            self._obs, *_, info = self._env.step(rollout.actions[step])
            # Infos have the sums of an episode so far.
            self._terms = step_info(info)["reward_terms"] - sums
            sums = info["reward_terms"].copy()
            moment = self._moment(rollout, step, screens, details)
            if not rollout.resets_known:
                screens.freeze(rollout.ended[step])
            yield moment

    def _moment(
        self,
        rollout: LiveRollout,
        step: int,
        screens: _Screens,
        details: Collection[int],
    ) -> LiveMoment:
        found = {}
        for place, env in enumerate(rollout.envs):
            if env in details:
                facts = self._facts(rollout, step, place) | {"over": screens.is_frozen(place)}
                frame = frame_message(DETAIL, [env], [screens.whole(place)], COLORS)
                found[env] = (facts, [frame, *self._view(place)])
        wall = frame_message(WALL, list(rollout.envs), screens.small(), COLORS)
        return LiveMoment(wall, found)

    def _view(self, place: int) -> list[bytes]:
        """What the network sees next, if that is an image."""
        if isinstance(self._obs, dict):
            return []
        image, palette = view_image(self._obs[place], is_color=self._is_color)
        return [frame_message(VIEW, [place], [image], palette)]

    def _facts(self, rollout: LiveRollout, step: int, place: int) -> dict[str, Any]:
        env = rollout.envs[place]
        action = int(rollout.actions[step, place])
        buttons = self._env.config.actions
        probabilities: list[float] = []
        if env in rollout.details:
            row = rollout.probabilities[step, rollout.details.index(env)]
            probabilities = [round(float(share), 4) for share in row]
        tiles = _native.tiles(self._env.ram()[place])
        return {
            "env": env,
            "level": rollout.levels[place],
            "update": rollout.update,
            "action": action,
            "actions": [describe_buttons(byte) for byte in buttons],
            "buttons": int(buttons[action]),
            "probabilities": probabilities,
            "value": round(float(rollout.values[step, place]), 3),
            "reward": round(float(rollout.rewards[step, place]), 4),
            "terms": {
                name: round(float(term), 4)
                for name, term in zip(_native.REWARD_TERMS, self._terms[place], strict=True)
            },
            "tiles": _grid(tiles) if isinstance(self._obs, dict) else [],
        }


def _grid(planes: NDArray[np.uint8]) -> list[str]:
    """The tile grid as text, one letter per cell: solid, hostile, platform, item, Mario."""
    letters = np.full(planes.shape[1:], ".", "<U1")
    for plane, letter in zip(planes, "shpim", strict=True):
        letters[plane > 0] = letter
    return ["".join(row) for row in letters]
