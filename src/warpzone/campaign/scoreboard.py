"""The scoreboard: one row per level, in a JSON file that holds all that is needed to verify it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from warpzone import _native
from warpzone.errors import ScoreboardError
from warpzone.evaluation.policy_file import SUFFIX
from warpzone.evaluation.wilson import Interval, wilson
from warpzone.system.atomic_file import write_text_atomically
from warpzone.system.json_file import entry, read_json

BOARD_FILE = "scoreboard.json"
CONDITIONS = ("sticky", "steady", "greedy")
"""Sampled actions with sticky actions on, the same without them, and the most likely actions with
them. The first is the one that counts."""
_FORMAT = 1
_MOST_EPISODES = 100_000
_MOST_NOOPS = 10_000
_MOST_SEED = 2**62


@dataclass(frozen=True)
class Measuring:
    """How rows are measured: always from the level's true start.

    Attributes:
        episodes: Episodes per level and condition.
        seed: Seed of the first episode.
        sticky_prob: Probability per frame that the buttons of the frame before stay pressed.
        noop_max: Maximum number of idle frames at the start.
    """

    episodes: int = 100
    seed: int = 10_000
    sticky_prob: float = 0.25
    noop_max: int = 30


@dataclass(frozen=True)
class Result:
    """The result under one condition."""

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
    """A level, its policy, and how well that plays it.

    Attributes:
        level: Such as '1-1'.
        policy: The policy's file, as a path from the scoreboard's folder.
        sha256: SHA-256 of that file.
        steps: Environment steps of the training.
        minutes: Duration of the training.
        seed: Random seed of the training.
        commit: Source that the policy was exported with.
        checkpoint_sha256: SHA-256 of the checkpoint that the policy was exported from.
        results: Results by condition.
    """

    level: str
    policy: str
    sha256: str
    steps: int
    minutes: float
    seed: int
    commit: str
    checkpoint_sha256: str
    results: Mapping[str, Result]

    @property
    def score(self) -> Result:
        """The result that counts."""
        return self.results[CONDITIONS[0]]


@dataclass(frozen=True)
class Scoreboard:
    """Rows of the levels that were trained, and how they were measured."""

    goal: float = 0.9
    measuring: Measuring = field(default_factory=Measuring)
    rows: Mapping[str, Row] = field(default_factory=dict)

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

    @property
    def summary(self) -> str:
        """One line."""
        count, levels = len(self.reached), len(all_levels())
        return f"{count} of {levels} levels at >= {self.goal:.0%}"


def all_levels() -> list[str]:
    """The 32 levels in the order of the game."""
    return _native.level_names("smb")


def write_board(folder: Path, board: Scoreboard) -> None:
    """Writes `scoreboard.json` atomically."""
    tree = {
        "format": _FORMAT,
        "summary": board.summary,
        "goal": board.goal,
        "measuring": asdict(board.measuring),
        "rows": [
            _row_tree(board.rows[level]) if level in board.rows else {"level": level}
            for level in all_levels()
        ],
    }
    write_text_atomically(folder / BOARD_FILE, json.dumps(tree, indent=1) + "\n")


def read_board(folder: Path) -> Scoreboard:
    """Reads `scoreboard.json`.

    Raises:
        ScoreboardError: It is missing, or not a scoreboard; the text says what is wrong.
    """
    path = folder / BOARD_FILE
    try:
        tree = read_json(path)
    except OSError as error:
        raise ScoreboardError(
            f"{folder} has no scoreboard ({path.name}: {error.strerror}); `warpzone campaign` and "
            "`warpzone scoreboard --add` create one"
        ) from error
    except ValueError as error:
        raise ScoreboardError(f"{path} is not JSON: {error}") from error
    try:
        found = entry(tree, "format", int)
        if found != _FORMAT:
            raise ScoreboardError(f"it has format {found}; this version reads {_FORMAT}")
        goal = entry(tree, "goal", float)
        if not 0.0 < goal <= 1.0:
            raise ScoreboardError(f"'goal' is {goal}; it must be above 0 and at most 1")
        rows = [_row(row) for row in entry(tree, "rows", list) if _has_policy(row)]
        return Scoreboard(goal, _measuring(entry(tree, "measuring", dict))).with_rows(rows)
    except ValueError as error:
        raise ScoreboardError(f"{path} is not a scoreboard: {error}") from error


def _row_tree(row: Row) -> dict[str, Any]:
    tree = asdict(row)
    for name, result in row.results.items():
        low, high = result.interval
        tree["results"][name] |= {
            "clear_rate": result.clear_rate,
            "interval_low": round(low, 4),
            "interval_high": round(high, 4),
        }
    return tree


def _has_policy(row: Any) -> bool:
    """Whether a row is of a level that was trained; the others have nothing but their level."""
    return not isinstance(row, dict) or "policy" in row


def _row(tree: Any) -> Row:
    level = entry(tree, "level", str)
    if level not in all_levels():
        raise ValueError(f"it has a row of an unknown level, {level!r}")
    results = entry(tree, "results", dict)
    return Row(
        level=level,
        policy=_policy(level, entry(tree, "policy", str)),
        sha256=entry(tree, "sha256", str),
        steps=entry(tree, "steps", int, least=0),
        minutes=entry(tree, "minutes", float, least=0),
        seed=entry(tree, "seed", int),
        commit=entry(tree, "commit", str),
        checkpoint_sha256=entry(tree, "checkpoint_sha256", str),
        results={name: _result(entry(results, name, dict)) for name in CONDITIONS},
    )


def _policy(level: str, name: str) -> str:
    """A policy's file, which lies in the scoreboard's folder: it may be replaced and removed."""
    path = Path(name)
    if path.is_absolute() or ".." in path.parts or "\0" in name:
        raise ValueError(f"the row of {level} leads out of its folder: {name!r}")
    if path.suffix != SUFFIX:
        raise ValueError(f"the policy of {level} is {name!r}; its name must end with {SUFFIX}")
    return path.as_posix()


def _measuring(tree: Any) -> Measuring:
    measuring = Measuring(
        episodes=entry(tree, "episodes", int, least=1),
        seed=entry(tree, "seed", int, least=0),
        sticky_prob=entry(tree, "sticky_prob", float, least=0),
        noop_max=entry(tree, "noop_max", int, least=0),
    )
    # `--verify` plays what is written here.
    for name, most in (
        ("episodes", _MOST_EPISODES),
        ("seed", _MOST_SEED),
        ("sticky_prob", 1),
        ("noop_max", _MOST_NOOPS),
    ):
        if getattr(measuring, name) > most:
            raise ValueError(f"'{name}' is {getattr(measuring, name)}; it must be at most {most}")
    return measuring


def _result(tree: Any) -> Result:
    ends = entry(tree, "ends", dict)
    result = Result(
        episodes=entry(tree, "episodes", int, least=1),
        clears=entry(tree, "clears", int, least=0),
        progress_mean=entry(tree, "progress_mean", float),
        ends={end: entry(ends, end, int, least=0) for end in ends},
    )
    if result.clears > result.episodes:
        raise ValueError(f"{result.clears} of {result.episodes} episodes cannot clear")
    return result
