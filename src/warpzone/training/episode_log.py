"""Turns the infos of ended environments into episodes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpzone import _native
from warpzone.envs.endings import RUNNING, end_name
from warpzone.rollout.rollout_env import Info
from warpzone.telemetry.episodes import Episode, EpisodeStatistics
from warpzone.training.curriculum.starts import Start


class EpisodeLog:
    """Watches steps and reports every episode that ends.

    Steps may be watched by a collecting thread; its episodes are reported by `flush`, so that
    nothing depends on the timing of that thread.
    """

    def __init__(self, statistics: EpisodeStatistics):
        """Reports to the statistics."""
        self.statistics = statistics
        self._waiting: list[Episode] = []

    def observe(
        self,
        info: Info,
        ended: NDArray[np.bool_],
        steps: int,
        begun: Callable[[int], Start],
        returns: NDArray[np.float64],
    ) -> None:
        """Takes a step.

        Args:
            info: Its info.
            ended: Where it ended an episode.
            steps: Environment steps of the run so far.
            begun: Returns where an environment's episode began.
            returns: Sums of the rewards of the present episodes.
        """
        for env in np.nonzero(ended)[0].tolist():
            # The worker of an episode that was still running has died: it has no result.
            if end_name(int(info["end_reason"][env])) != RUNNING:
                episode = self._episode(info, env, begun(env), steps, float(returns[env]))
                self._waiting.append(episode)

    def flush(self) -> list[Episode]:
        """Reports what ended since the last call, and returns it."""
        ended, self._waiting = self._waiting, []
        for episode in ended:
            self.statistics.add(episode)
        return ended

    def state_dict(self) -> dict[str, Any]:
        """Episodes that are not reported yet."""
        return {"waiting": [episode.as_row() for episode in self._waiting]}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Takes what `state_dict` returned."""
        self._waiting = [Episode(**row) for row in state["waiting"]]

    def _episode(
        self, info: Info, env: int, start: Start, steps: int, episode_return: float
    ) -> Episode:
        terms = info["reward_terms"][env]
        return Episode(
            time=time.time(),
            steps=steps,
            env=env,
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
            terms={
                name: float(term) for name, term in zip(_native.REWARD_TERMS, terms, strict=True)
            },
        )
