"""The scoreboard: a row a level, as a JSON file that says all that is needed to check it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from warpzone import _native
from warpzone.errors import ScoreboardError
from warpzone.evaluate.wilson import Interval, wilson
from warpzone.system.atomic_file import write_text_atomically

BOARD_FILE = "scoreboard.json"
CONDITIONS = ("sticky", "steady", "greedy")
"""Drawn actions with sticky buttons, the same without stickiness, and the most likely actions with
sticky buttons. The first is the one that counts."""
_FORMAT = 1


@dataclass(frozen=True)
class Measuring:
    """How rows are measured: always from the level's true start.

    Attributes:
        episodes: For each level and condition.
        seed: Of the first episode.
        sticky_prob: Where buttons are sticky, the chance at each frame.
        noop_max: Up to so many idle frames at the start.
    """

    episodes: int = 100
    seed: int = 10_000
    sticky_prob: float = 0.25
    noop_max: int = 30


@dataclass(frozen=True)
class Result:
    """What came out under one condition."""

    episodes: int
    clears: int
    progress_mean: float
    ends: Mapping[str, int]

    @property
    def clear_rate(self) -> float:
        """Share of the episodes that cleared the level."""
        return self.clears / self.episodes

    @property
    def interval(self) -> Interval:
        """Where the true rate lies, with 95 % confidence."""
        return wilson(self.clears, self.episodes)


@dataclass(frozen=True)
class Row:
    """A level, its policy, and how well that plays it.

    Attributes:
        level: Such as '1-1'.
        policy: The policy's file, as a path from the scoreboard's folder.
        sha256: Of that file.
        steps: Environment steps of the training.
        minutes: Time of the training.
        seed: Of the training.
        commit: Source that the policy was exported with.
        checkpoint_sha256: Of the checkpoint that the policy was made from.
        results: By condition.
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
        """Levels whose clear rate is at the goal."""
        return [level for level in all_levels() if self.reaches(level)]

    def reaches(self, level: str) -> bool:
        """Whether a level's clear rate is at the goal."""
        return level in self.rows and self.rows[level].score.clear_rate >= self.goal

    def with_rows(self, rows: Iterable[Row]) -> Scoreboard:
        """The same with some rows new or replaced."""
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
    """Writes `scoreboard.json` in one step."""
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
        ScoreboardError: It is missing or no scoreboard.
    """
    path = folder / BOARD_FILE
    try:
        tree = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ScoreboardError(
            f"{folder} has no scoreboard ({path.name}: {error.strerror}); `warpzone campaign` and "
            "`warpzone scoreboard --add` make one"
        ) from error
    except ValueError as error:
        raise ScoreboardError(f"{path} is no JSON: {error}") from error
    try:
        if tree["format"] != _FORMAT:
            raise ScoreboardError(f"{path} has format {tree['format']}; this is {_FORMAT}")
        rows = [_row(row) for row in tree["rows"] if "policy" in row]
        measuring = Measuring(**tree["measuring"])
        board = Scoreboard(float(tree["goal"]), measuring).with_rows(rows)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        if isinstance(error, ScoreboardError):
            raise
        raise ScoreboardError(f"{path} is no scoreboard: {error!r}") from error
    unknown = set(board.rows) - set(all_levels())
    if unknown:
        raise ScoreboardError(f"{path} has rows of unknown levels: {', '.join(sorted(unknown))}")
    return board


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


def _row(tree: Mapping[str, Any]) -> Row:
    results = {name: _result(tree["results"][name]) for name in CONDITIONS}
    policy = Path(tree["policy"])
    if policy.is_absolute() or ".." in policy.parts:
        raise ScoreboardError(f"the row of {tree['level']} leads out of its folder: {policy}")
    facts = {name: tree[name] for name in _FACTS}
    return Row(level=tree["level"], policy=policy.as_posix(), results=results, **facts)


_FACTS = ("sha256", "steps", "minutes", "seed", "commit", "checkpoint_sha256")


def _result(tree: Mapping[str, Any]) -> Result:
    result = Result(
        int(tree["episodes"]),
        int(tree["clears"]),
        float(tree["progress_mean"]),
        {str(end): int(count) for end, count in tree["ends"].items()},
    )
    if not 0 <= result.clears <= result.episodes or result.episodes < 1:
        raise ScoreboardError(f"{result.clears} clears of {result.episodes} episodes cannot be")
    return result
