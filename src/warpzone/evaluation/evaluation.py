"""Evaluation: one episode in each of many lanes, all from the true start."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from warpzone.envs.endings import CLEAR, end_name
from warpzone.envs.vector import MarioVectorEnv
from warpzone.evaluation.wilson import Interval, wilson
from warpzone.step_info import step_info


class Policy(Protocol):
    """Chooses an action for every lane; `first` marks lanes whose episode begins."""

    def __call__(self, obs: Any, first: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Returns an action a lane."""


@dataclass(frozen=True)
class Episode:
    """How one episode went."""

    level: str
    seed: int
    end: str
    progress: int
    steps: int
    levels_cleared: int
    deaths: int
    episode_return: float

    @property
    def clear(self) -> bool:
        """Whether the level was cleared; for 'game', whether the princess was rescued."""
        return self.end == CLEAR


@dataclass(frozen=True)
class Evaluation:
    """Episodes of one level and policy."""

    level: str
    episodes: tuple[Episode, ...]

    @property
    def clears(self) -> int:
        """Episodes in which the level was cleared."""
        return sum(episode.clear for episode in self.episodes)

    @property
    def clear_rate(self) -> float:
        """Share of episodes in which the level was cleared."""
        return self.clears / len(self.episodes)

    @property
    def interval(self) -> Interval:
        """Where the true clear rate lies, with 95 % confidence."""
        return wilson(self.clears, len(self.episodes))

    def summary(self) -> dict[str, Any]:
        """Plain numbers for JSON."""
        ends = [episode.end for episode in self.episodes]
        progress = np.array([episode.progress for episode in self.episodes])
        cleared = [episode.levels_cleared for episode in self.episodes]
        return {
            "level": self.level,
            "episodes": len(self.episodes),
            "clears": self.clears,
            "clear_rate": self.clear_rate,
            "interval_low": self.interval.low,
            "interval_high": self.interval.high,
            "progress_mean": float(progress.mean()),
            "progress_max": int(progress.max()),
            "levels_cleared_mean": float(np.mean(cleared)),
            "levels_cleared_max": max(cleared),
            "deaths": sum(episode.deaths for episode in self.episodes),
            "steps_mean": float(np.mean([episode.steps for episode in self.episodes])),
            "ends": {end: ends.count(end) for end in sorted(set(ends))},
        }


def evaluate(
    policy: Policy,
    level: str,
    *,
    episodes: int = 100,
    seed: int = 10_000,
    max_steps: int = 4000,
    progress: Callable[[int, int], None] | None = None,
    **options: Any,
) -> Evaluation:
    """Plays episodes and says how they went.

    Every lane plays exactly one episode: counting the first that end would favour short ones.

    Args:
        policy: Chooses the actions.
        level: Level to play, from its true start.
        episodes: How many.
        seed: Of the first episode; the others follow.
        max_steps: Steps after which an episode counts as not cleared.
        progress: Called with (ended, all) after each step.
        options: Of the environment; sticky buttons (0.25) and up to 30 idle frames by default, so
            that a memorised sequence of inputs fails.
    """
    settings = {"sticky_prob": 0.25, "noop_max": 30, **options}
    env = MarioVectorEnv(
        level, num_envs=episodes, autoreset="same-step", max_steps=max_steps, **settings
    )
    try:
        results = _play(policy, env, seed, progress)
    finally:
        env.close()
    return Evaluation(level, tuple(results))


def _play(
    policy: Policy,
    env: MarioVectorEnv,
    seed: int,
    progress: Callable[[int, int], None] | None,
) -> list[Episode]:
    obs, _ = env.reset(seed=seed)
    lanes = env.num_envs
    first = np.ones(lanes, np.bool_)
    returns = np.zeros(lanes)
    results: dict[int, Episode] = {}
    while len(results) < lanes:
        obs, reward, terminated, truncated, info = env.step(policy(obs, first))
        first = terminated | truncated
        info = step_info(info)
        returns += reward
        for lane in np.nonzero(first)[0]:
            if int(lane) not in results:
                results[int(lane)] = _episode(env, info, int(lane), seed, float(returns[lane]))
        if progress is not None:
            progress(len(results), lanes)
    return [results[lane] for lane in range(lanes)]


def _episode(
    env: MarioVectorEnv, info: dict[str, Any], lane: int, seed: int, episode_return: float
) -> Episode:
    return Episode(
        level=env.levels()[lane],
        seed=seed + lane,
        end=end_name(int(info["end_reason"][lane])),
        progress=int(info["progress"][lane]),
        steps=int(info["steps"][lane]),
        levels_cleared=int(info["clears"][lane]),
        deaths=int(info["deaths"][lane]),
        episode_return=episode_return,
    )
