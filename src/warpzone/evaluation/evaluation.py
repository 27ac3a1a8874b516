"""Evaluation: one episode in each of many environments, all from the true start."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from warpzone.envs.endings import CLEAR, end_name
from warpzone.envs.vector import MarioVectorEnv
from warpzone.envs.wrapping import EpisodeEnv, Wrap
from warpzone.evaluation.wilson import Interval, wilson


class Policy(Protocol):
    """Chooses actions; `first` marks environments whose episode begins."""

    def __call__(self, obs: Any, first: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Returns one action per environment."""


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

    def __str__(self) -> str:
        """One line for people."""
        low, high = self.interval
        facts = self.summary()
        ends = ", ".join(f"{end} {count}" for end, count in facts["ends"].items())
        return (
            f"{self.level}: {self.clears} of {len(self.episodes)} episodes clear "
            f"({self.clear_rate:.0%}, 95 % interval {low:.0%}-{high:.0%}); mean progress "
            f"{facts['progress_mean']:,.0f} pixels; ends: {ends}"
        )

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
    wrap: Wrap | None = None,
    progress: Callable[[int, int], None] | None = None,
    **options: Any,
) -> Evaluation:
    """Plays episodes and says how they went.

    Every environment plays exactly one episode: counting the first that end would favor short ones.

    Args:
        policy: Chooses the actions.
        level: Level to play, from its true start.
        episodes: Number of episodes.
        seed: Seed of the first episode; the others follow.
        max_steps: Steps after which an episode counts as not cleared.
        wrap: Puts the vector wrappers that the policy was trained in around the environments.
        progress: Called with (ended, all) after each step.
        options: Of the environment; sticky actions (0.25) and up to 30 no-op frames by default, so
            that a memorised sequence of inputs fails.
    """
    settings = {"sticky_prob": 0.25, "noop_max": 30, **options}
    env = MarioVectorEnv(
        level, num_envs=episodes, autoreset="disabled", max_steps=max_steps, **settings
    )
    try:
        results = _play(policy, env, EpisodeEnv(env, wrap), seed, progress)
    finally:
        env.close()
    return Evaluation(level, tuple(results))


def _play(
    policy: Policy,
    base: MarioVectorEnv,
    env: EpisodeEnv,
    seed: int,
    progress: Callable[[int, int], None] | None,
) -> list[Episode]:
    obs = env.reset(seed)
    first = np.ones(env.num_envs, np.bool_)
    returns = np.zeros(env.num_envs)
    results: dict[int, Episode] = {}
    levels = base.levels()  # Each environment keeps its level.
    while len(results) < env.num_envs:
        obs, reward, first, info = env.step(policy(obs, first))
        returns += reward
        for index in map(int, np.flatnonzero(first)):
            if index not in results:
                episode_return = float(returns[index])
                results[index] = _episode(levels[index], info, index, seed, episode_return)
        if progress is not None:
            progress(len(results), env.num_envs)
    return [results[index] for index in range(env.num_envs)]


def _episode(
    level: str, info: dict[str, Any], index: int, seed: int, episode_return: float
) -> Episode:
    return Episode(
        level=level,
        seed=seed + index,
        end=end_name(int(info["end_reason"][index])),
        progress=int(info["progress"][index]),
        steps=int(info["steps"][index]),
        levels_cleared=int(info["clears"][index]),
        deaths=int(info["deaths"][index]),
        episode_return=episode_return,
    )
