"""Converts the infos of finished episodes to records."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpzone import _native
from warpzone.algorithms.ranks import Ranks
from warpzone.envs.endings import RUNNING, end_name
from warpzone.rollout.rollout_env import Info
from warpzone.telemetry.episodes import Episode, EpisodeStatistics
from warpzone.training.curriculum.starts import Start


class EpisodeLog:
    """Observes steps and reports every finished episode.

    Steps may be observed in a collecting thread; its episodes are reported by `flush`, so that
    results do not depend on the timing of that thread.
    """

    def __init__(self, statistics: EpisodeStatistics, num_envs: int, ranks: Ranks):
        """Creates a log.

        Args:
            statistics: Receives the episodes of all ranks.
            num_envs: Number of environments of each rank.
            ranks: Ranks that learn together.
        """
        self.statistics, self._ranks = statistics, ranks
        self._first_env = ranks.rank * num_envs
        self._waiting: list[Episode] = []

    def observe(
        self,
        info: Info,
        ended: NDArray[np.bool_],
        steps: int,
        begun: Callable[[int], Start],
        returns: NDArray[np.float64],
    ) -> None:
        """Observes a step.

        Args:
            info: Info of the step.
            ended: Whether the step ended an episode, per environment.
            steps: Environment steps of the run so far.
            begun: Returns where an environment's episode started.
            returns: Returns of the current episodes.
        """
        for env in np.nonzero(ended)[0].tolist():
            # The episode's worker has died, so the episode has no result.
            if end_name(int(info["end_reason"][env])) != RUNNING:
                episode = self._episode(info, env, begun(env), steps, float(returns[env]))
                self._waiting.append(episode)

    def flush(self) -> list[Episode]:
        """Reports and returns the episodes of all ranks that ended since the last call."""
        waiting, self._waiting = self._waiting, []
        ended = [episode for episodes in self._ranks.gather(waiting) for episode in episodes]
        for episode in ended:
            self.statistics.add(episode)
        return ended

    def state_dict(self) -> dict[str, Any]:
        """Returns the episodes that are not reported yet."""
        return {"waiting": [episode.as_row() for episode in self._waiting]}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restores the state returned by `state_dict`."""
        self._waiting = [Episode(**row) for row in state["waiting"]]

    def _episode(
        self, info: Info, env: int, start: Start, steps: int, episode_return: float
    ) -> Episode:
        terms = info["reward_terms"][env]
        return Episode(
            time=time.time(),
            steps=steps,
            env=self._first_env + env,
            level=start.level,
            reward=episode_return,
            length=int(info["steps"][env]),
            frames=int(info["frames"][env]),
            progress=int(info["progress"][env]),
            end=end_name(int(info["end_reason"][env])),
            score=int(info["score"][env]),
            coins=int(info["coins"][env]),
            clock=int(info["time"][env]),
            start="level" if start.place is None else "snapshot",
            x=int(info["x_pos"][env]),
            y=int(info["y_pos"][env]),
            area=int(info["area"][env]),
            terms={
                name: float(term) for name, term in zip(_native.REWARD_TERMS, terms, strict=True)
            },
        )
