"""Turns the infos of ended environments into episodes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpzone import _native
from warpzone.envs.endings import RUNNING, end_name
from warpzone.rollout.collector import Info
from warpzone.telemetry.episodes import Episode, EpisodeStatistics
from warpzone.train.curriculum.starts import Start


class EpisodeLog:
    """Watches steps and reports every episode that ends.

    Steps may be watched by a collecting thread; its episodes are reported by `flush`, so that
    nothing depends on the timing of that thread.
    """

    def __init__(self, statistics: EpisodeStatistics):
        """Reports to the statistics, and to `sink` once one is set."""
        self.statistics = statistics
        self.sink: Callable[[Episode], None] | None = None
        self._waiting: list[Episode] = []

    def observe(
        self,
        info: Info,
        ended: NDArray[np.bool_],
        steps: int,
        begun: Callable[[int], Start],
    ) -> None:
        """Takes the info of a step; `begun` returns where an environment's episode began."""
        for env in np.nonzero(ended)[0].tolist():
            # The worker of an episode that was still running has died: it has no result.
            if end_name(int(info["end_reason"][env])) != RUNNING:
                self._waiting.append(self._episode(info, env, begun(env), steps))

    def flush(self) -> None:
        """Reports what ended since the last call."""
        for episode in self._waiting:
            self.statistics.add(episode)
            if self.sink is not None:
                self.sink(episode)
        self._waiting.clear()

    def state_dict(self) -> dict[str, Any]:
        """Episodes that are not reported yet."""
        return {"waiting": [episode.as_row() for episode in self._waiting]}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Takes what `state_dict` returned."""
        self._waiting = [Episode(**row) for row in state["waiting"]]

    def _episode(self, info: Info, env: int, start: Start, steps: int) -> Episode:
        terms = info["reward_terms"][env]
        return Episode(
            time=time.time(),
            steps=steps,
            env=env,
            level=start.level,
            reward=float(terms.sum()),
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
