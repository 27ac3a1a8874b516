"""The scoreboard as files: `scoreboard.json` has the rows, `measurements.jsonl` the history."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from warpzone.campaign.protocols import MAIN, PROTOCOLS
from warpzone.campaign.scoreboard import Measuring, Result, Row, Scoreboard, all_levels
from warpzone.errors import ScoreboardError
from warpzone.evaluation.policy_file import SUFFIX
from warpzone.evaluation.policy_folder import BOARD_FILE
from warpzone.system.atomic_file import write_text_atomically
from warpzone.system.json_file import entry, parse_json, read_bytes, read_json

HISTORY_FILE = "measurements.jsonl"
_FORMAT = 2
_MOST_EPISODES = 100_000


def write_board(folder: Path, board: Scoreboard) -> None:
    """Writes both files atomically, the history first: a row without its measurement cannot be."""
    lines = [json.dumps(_row_tree(row)) for row in board.history]
    write_text_atomically(folder / HISTORY_FILE, "".join(f"{line}\n" for line in lines))
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
    """Reads the scoreboard of a folder.

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
        measuring = _measuring(entry(tree, "measuring", dict))
    except ValueError as error:
        raise ScoreboardError(f"{path} is not a scoreboard: {error}") from error
    return Scoreboard(goal, measuring, history=_read_history(folder)).with_rows(rows)


def _read_history(folder: Path) -> tuple[Row, ...]:
    path = folder / HISTORY_FILE
    try:
        lines = read_bytes(path).decode().splitlines()
        return tuple(_row(parse_json(line)) for line in lines)
    except FileNotFoundError as error:
        raise ScoreboardError(
            f"{folder} has a scoreboard without its history; restore {HISTORY_FILE}, or remove "
            f"{BOARD_FILE} to start again"
        ) from error
    except OSError as error:
        raise ScoreboardError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise ScoreboardError(f"{path} is not a history of measurements: {error}") from error


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
    names = [one.name for one in PROTOCOLS if one == MAIN or one.name in results]
    return Row(
        level=level,
        policy=_policy(level, entry(tree, "policy", str)),
        sha256=entry(tree, "sha256", str),
        steps=entry(tree, "steps", int, least=0),
        minutes=entry(tree, "minutes", float, least=0),
        seed=entry(tree, "seed", int),
        commit=entry(tree, "commit", str),
        checkpoint_sha256=entry(tree, "checkpoint_sha256", str),
        measured=entry(tree, "measured", str),
        results={name: _result(entry(results, name, dict)) for name in names},
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
        other_episodes=entry(tree, "other_episodes", int, least=1),
    )
    for name in ("episodes", "other_episodes"):
        _check_episodes(name, getattr(measuring, name))
    return measuring


def _result(tree: Any) -> Result:
    ends = entry(tree, "ends", dict)
    result = Result(
        episodes=entry(tree, "episodes", int, least=1),
        clears=entry(tree, "clears", int, least=0),
        progress_mean=entry(tree, "progress_mean", float),
        ends={end: entry(ends, end, int, least=0) for end in ends},
    )
    _check_episodes("episodes", result.episodes)
    if result.clears > result.episodes:
        raise ValueError(f"{result.clears} of {result.episodes} episodes cannot clear")
    return result


def _check_episodes(name: str, value: int) -> None:
    """Limits what `--verify` plays at the word of a file."""
    if value > _MOST_EPISODES:
        raise ValueError(f"'{name}' is {value}; it must be at most {_MOST_EPISODES}")
