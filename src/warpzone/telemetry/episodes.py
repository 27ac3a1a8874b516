"""Episodes: their lines in `episodes.jsonl`, and metrics over many episodes."""

from __future__ import annotations

import math
import numbers
from collections import Counter, defaultdict, deque
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from warpzone.envs.endings import EPISODE_ENDS
from warpzone.errors import MetricError
from warpzone.telemetry.metrics import REWARD_TERMS, MetricRow
from warpzone.telemetry.summary import summarize

_WINDOW = 100  # Episodes over which clear rates and mean returns are computed.


def _about(text: str, **options: Any) -> Any:
    return field(metadata={"help": text}, **options)


@dataclass(frozen=True, slots=True)
class Episode:
    """A finished episode; the help texts of the fields are their documentation."""

    time: float = _about("Unix time at the end of the episode, in seconds")
    steps: int = _about("environment steps of the run at the end of the episode")
    env: int = _about("index of the env")
    level: str = _about("level in which the episode started")
    reward: float = _about("sum of rewards (the return)")
    length: int = _about("agent steps")
    frames: int = _about("emulated frames")
    progress: int = _about("pixels of progress")
    end: str = _about("why the episode ended: one of the reasons below")
    score: int = _about("score of the game at the end")
    coins: int = _about("coins at the end")
    clock: int = _about("time left on the game's clock")
    start: str = _about(
        "where it started: 'level', or 'snapshot' (a state within the level)", default="level"
    )
    x: int | None = _about("x of Mario at the end, from the left end of the area", default=None)
    y: int | None = _about("height of Mario at the end, as in `info['y_pos']`", default=None)
    area: int | None = _about("area in which it ended, as in `info['area']`", default=None)
    terms: Mapping[str, float] = _about("sum of each reward term", default_factory=dict)

    def __post_init__(self) -> None:
        """Rejects unknown end reasons and reward terms."""
        if self.end not in EPISODE_ENDS:
            known = ", ".join(EPISODE_ENDS)
            raise MetricError(f"'{self.end}' is not a reason for an episode's end; known: {known}")
        unknown = sorted(set(self.terms) - set(REWARD_TERMS))
        if unknown:
            raise MetricError(f"unknown reward terms: {', '.join(unknown)}")

    @property
    def cleared(self) -> bool:
        """Whether the level was cleared."""
        return self.end == "clear"

    def as_row(self) -> dict[str, object]:
        """Returns the episode as plain data, with None for NaN and infinity."""
        row = {name: _plain(value) for name, value in asdict(self).items()}
        row["terms"] = {name: _plain(value) for name, value in self.terms.items()}
        return row


def _plain(value: object) -> object:
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value) if math.isfinite(value) else None
    return value


EPISODE_FIELDS: dict[str, str] = {
    **{item.name: item.metadata["help"] for item in fields(Episode)},
    "session": "number of the run's session, as `run/session`",
    "update": "number of the update that learns from the end of the episode",
}
"""Meaning of every field of a line in `episodes.jsonl`."""


class EpisodeStatistics:
    """Collects episodes and computes metrics over those since the last row.

    Attributes:
        total: Number of episodes so far.
        best_progress: Largest progress of any episode, in pixels.
    """

    def __init__(self) -> None:
        """Creates empty statistics."""
        self.total = 0
        self.best_progress = 0
        self._new: list[Episode] = []
        self._returns: deque[float] = deque(maxlen=_WINDOW)
        self._cleared: deque[bool] = deque(maxlen=_WINDOW)
        self._by_level: dict[str, deque[tuple[bool, int]]] = defaultdict(
            lambda: deque(maxlen=_WINDOW)
        )

    def add(self, episode: Episode) -> None:
        """Adds a finished episode."""
        self.total += 1
        self.best_progress = max(self.best_progress, episode.progress)
        self._new.append(episode)
        self._returns.append(episode.reward)
        if episode.start == "level":  # A clear from near the flag proves nothing.
            self._cleared.append(episode.cleared)
            self._by_level[episode.level].append((episode.cleared, episode.progress))

    @property
    def clear_rate(self) -> float | None:
        """Clear rate of the last 100 episodes from a level's start; None before the first."""
        return sum(self._cleared) / len(self._cleared) if self._cleared else None

    @property
    def mean_return(self) -> float | None:
        """Mean return of the last 100 episodes; None before the first."""
        return sum(self._returns) / len(self._returns) if self._returns else None

    @property
    def level_clear_rates(self) -> dict[str, tuple[float, int]]:
        """Clear rate and number of each level's last 100 episodes from its start."""
        return {
            level: (sum(clear for clear, _ in results) / len(results), len(results))
            for level, results in self._by_level.items()
        }

    def take_metrics(self) -> MetricRow:
        """Returns the metrics of the episodes since the last call."""
        new, self._new = self._new, []
        row: MetricRow = {
            "run/episodes": self.total,
            "episode/count": len(new),
            "episode/progress_best": self.best_progress,
        }
        if self.clear_rate is not None:
            row["rollout/clear_rate"] = self.clear_rate
        for level, results in self._by_level.items():
            clears, pixels = zip(*results, strict=True)
            row[f"level/clear_rate/{level}"] = sum(clears) / len(results)
            row[f"level/progress_mean/{level}"] = sum(pixels) / len(results)
        row |= summarize("episode/return", [episode.reward for episode in new])
        row |= summarize("episode/length", [episode.length for episode in new])
        row |= summarize("episode/progress", [episode.progress for episode in new])
        row |= _ends_and_terms(new)
        return row

    def state_dict(self) -> dict[str, Any]:
        """Returns the state that a resumed run needs, as plain data."""
        return {
            "total": self.total,
            "best_progress": self.best_progress,
            "new": [episode.as_row() for episode in self._new],
            "returns": list(self._returns),
            "cleared": list(self._cleared),
            "by_level": {level: list(results) for level, results in self._by_level.items()},
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restores the state returned by `state_dict`."""
        self.total = state["total"]
        self.best_progress = state["best_progress"]
        self._new = [Episode(**row) for row in state["new"]]
        self._returns = deque(state["returns"], maxlen=_WINDOW)
        self._cleared = deque(state["cleared"], maxlen=_WINDOW)
        self._by_level.clear()
        for level, results in state["by_level"].items():
            self._by_level[level].extend((bool(clear), int(pixels)) for clear, pixels in results)


def _ends_and_terms(episodes: list[Episode]) -> MetricRow:
    if not episodes:
        return {}
    counts = Counter(episode.end for episode in episodes)
    row: MetricRow = {}
    for reason in EPISODE_ENDS:
        row[f"end/{reason}_count"] = counts[reason]
        row[f"end/{reason}_share"] = counts[reason] / len(episodes)
    for term in {term for episode in episodes for term in episode.terms}:
        row[f"reward/{term}_sum"] = sum(episode.terms.get(term, 0.0) for episode in episodes)
    return row
