"""The scoreboard: one row per level, and every measurement that was ever made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from warpzone import _native
from warpzone.campaign.protocols import MAIN, Protocol
from warpzone.evaluation.wilson import Interval, wilson


@dataclass(frozen=True)
class Measuring:
    """How many episodes each number has.

    Attributes:
        episodes: Episodes of the clear rate that counts.
        other_episodes: Episodes of each of the other protocols.
    """

    episodes: int = 400
    other_episodes: int = 100

    def episodes_of(self, protocol: Protocol) -> int:
        """Episodes per level of a protocol."""
        return self.episodes if protocol == MAIN else self.other_episodes


@dataclass(frozen=True)
class Result:
    """The result of one protocol on one level."""

    episodes: int
    clears: int
    progress_mean: float
    ends: Mapping[str, int]

    @property
    def clear_rate(self) -> float:
        """Fraction of the episodes that cleared the level."""
        return self.clears / self.episodes

    @property
    def interval(self) -> Interval:
        """The 95 % confidence interval of the clear rate."""
        return wilson(self.clears, self.episodes)


@dataclass(frozen=True)
class Row:
    """The measurement of one policy file on one level.

    Attributes:
        level: Level such as '1-1'.
        policy: The policy's file, as a path from the scoreboard's folder.
        sha256: SHA-256 of that file.
        steps: Environment steps of the training.
        minutes: Duration of the training.
        seed: Random seed of the training.
        commit: Source that the policy was exported with.
        checkpoint_sha256: SHA-256 of the checkpoint that the policy was exported from.
        measured: When it was measured, in UTC.
        results: Results by name of the protocol.
    """

    level: str
    policy: str
    sha256: str
    steps: int
    minutes: float
    seed: int
    commit: str
    checkpoint_sha256: str
    measured: str
    results: Mapping[str, Result]

    @property
    def score(self) -> Result:
        """The result that counts."""
        return self.results[MAIN.name]


@dataclass(frozen=True)
class Scoreboard:
    """Rows of the levels that were trained, how they were measured, and all measurements.

    Attributes:
        goal: Clear rate that counts as mastered.
        measuring: Number of episodes.
        rows: The best measurement of each level whose policy file is in the folder.
        history: All measurements, oldest first, including those of files that were replaced.
    """

    goal: float = 0.9
    measuring: Measuring = field(default_factory=Measuring)
    rows: Mapping[str, Row] = field(default_factory=dict)
    history: Sequence[Row] = ()

    @property
    def reached(self) -> list[str]:
        """Levels whose clear rate reaches the goal."""
        return [level for level in all_levels() if self.reaches(level)]

    def reaches(self, level: str) -> bool:
        """Whether a level's clear rate reaches the goal."""
        return level in self.rows and self.rows[level].score.clear_rate >= self.goal

    def with_rows(self, rows: Iterable[Row]) -> Scoreboard:
        """The same scoreboard with some rows added or replaced."""
        return replace(self, rows={**self.rows, **{row.level: row for row in rows}})

    def with_measurements(self, rows: Sequence[Row]) -> Scoreboard:
        """The same scoreboard with measurements added to its history.

        A measurement that is already there is never changed, except that protocols which it did
        not have are added.
        """
        new = {(row.sha256, row.level): row for row in rows}
        completed = [
            replace(row, results={**new.pop(key).results, **row.results}) if key in new else row
            for row in self.history
            for key in [(row.sha256, row.level)]
        ]
        return replace(self, history=(*completed, *new.values()))

    def measurements_of(self, sha256: str, checkpoint_sha256: str) -> list[Row]:
        """Measurements of a policy file, or of another file with the same checkpoint.

        Exporting a checkpoint again would give it new seeds, and so a second chance.
        """
        same_file = [row for row in self.history if row.sha256 == sha256]
        return same_file or [
            row for row in self.history if row.checkpoint_sha256 == checkpoint_sha256
        ]

    def files_measured(self, level: str) -> int:
        """How many policy files were measured on a level."""
        return len({row.sha256 for row in self.history if row.level == level})

    @property
    def summary(self) -> str:
        """One line."""
        count, levels = len(self.reached), len(all_levels())
        return f"{count} of {levels} levels at >= {self.goal:.0%}"


def all_levels() -> list[str]:
    """The 32 levels in the order of the game."""
    return _native.level_names("smb")
