"""Evaluation: episodes from the level's start, and how they ended."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from warpzone.envs.endings import CLEAR, end_name
from warpzone.envs.vector import MarioVectorEnv
from warpzone.envs.wrapping import Vector, Wrap, wrapped
from warpzone.evaluation.episodes import MOST_ENVS, EpisodeStep, play_episodes
from warpzone.evaluation.losses import counted, loss_at
from warpzone.evaluation.wilson import Interval, wilson


class Policy(Protocol):
    """Chooses actions; `first` marks environments whose episode begins."""

    def __call__(self, obs: Any, first: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Returns one action per environment."""


@dataclass(frozen=True)
class Episode:
    """The outcome of one episode; `x` is where Mario was before the last step."""

    level: str
    seed: int
    end: str
    x: int
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
        """Fraction of the episodes in which the level was cleared."""
        return self.clears / len(self.episodes)

    @property
    def interval(self) -> Interval:
        """The 95 % confidence interval of the clear rate."""
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
            "losses": counted(
                loss_at(episode.level, episode.x, episode.end)
                for episode in self.episodes
                if not episode.clear
            ),
        }


Progress = Callable[[int, int], None]
"""Called with the number of ended episodes and of all episodes."""


def envs_for(episodes: int) -> int:
    """How many environments `evaluate` uses; policies that keep state need to know."""
    return min(episodes, MOST_ENVS)


def evaluate(
    policy: Policy,
    level: str,
    *,
    episodes: int = 100,
    seed: int = 10_000,
    max_steps: int = 4000,
    wrap: Wrap | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Evaluation:
    """Plays episodes and returns their outcomes.

    Args:
        policy: Chooses the actions of `envs_for(episodes)` environments.
        level: Level to play, from its start.
        episodes: Number of episodes.
        seed: Seed of the first episode; episode i has `seed + i`.
        max_steps: Steps after which an episode counts as not cleared.
        wrap: Puts the vector wrappers that the policy was trained in around the environments.
        progress: Called after each step.
        options: Keywords of the environment. By default actions are sticky (0.25 per frame) and
            episodes begin with up to 30 no-op frames, so that memorized inputs fail.
    """
    results: dict[int, Episode] = {}
    returns = np.zeros(episodes)
    with episode_envs(level, episodes, max_steps, options, wrap) as env:
        steps = play_episodes(
            env, range(seed, seed + episodes), lambda obs, first, _: policy(obs, first)
        )
        for step in steps:
            active = step.playing >= 0
            np.add.at(returns, step.playing[active], step.reward[active])
            for index in np.flatnonzero(step.ended):
                number = int(step.playing[index])
                results[number] = _episode(
                    level, seed + number, step, int(index), float(returns[number])
                )
            if progress is not None:
                progress(len(results), episodes)
    return Evaluation(level, tuple(results[number] for number in range(episodes)))


@contextmanager
def episode_envs(
    level: str,
    episodes: int,
    max_steps: int,
    options: dict[str, Any],
    wrap: Wrap | None = None,
) -> Iterator[Vector]:
    """Environments for `play_episodes`, with the noise of evaluations unless options differ."""
    env = MarioVectorEnv(
        level,
        num_envs=envs_for(episodes),
        autoreset="disabled",
        max_steps=max_steps,
        **{"sticky_prob": 0.25, "noop_max": 30, **options},
    )
    try:
        yield env if wrap is None else wrapped(env, wrap)
    finally:
        env.close()


def _episode(
    level: str, seed: int, step: EpisodeStep, index: int, episode_return: float
) -> Episode:
    info = step.info
    return Episode(
        level=level,
        seed=seed,
        end=end_name(int(info["end_reason"][index])),
        x=int(step.before["x_pos"][index]),
        progress=int(info["progress"][index]),
        steps=int(info["steps"][index]),
        levels_cleared=int(info["clears"][index]),
        deaths=int(info["deaths"][index]),
        episode_return=episode_return,
    )
