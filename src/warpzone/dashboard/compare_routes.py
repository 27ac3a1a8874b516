"""Comparing runs, and the board of all levels."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from fastapi import APIRouter, Query

from warpzone.campaign.board_json import BOARD_FILE, read_board
from warpzone.campaign.scoreboard import Scoreboard, all_levels
from warpzone.dashboard.run_routes import State
from warpzone.dashboard.seed_groups import band, group_label, seed_group
from warpzone.dashboard.series import curves
from warpzone.dashboard.state import ServerState
from warpzone.errors import ConfigError, ScoreboardError, WarpzoneError
from warpzone.runs.resume import flat_options
from warpzone.runs.saved_config import saved_config

router = APIRouter()

_MOST_RUNS = 16
_MISSING = "?"
_OF_THE_RUN_ITSELF = frozenset({"run.name", "run.runs"})
Axis = Literal["steps", "time"]


@router.get("/api/differences")
def differences(
    runs: Annotated[list[str], Query(max_length=_MOST_RUNS)], state: State
) -> dict[str, list[dict[str, Any]]]:
    """Options in which runs differ, with the value of each run."""
    trees = []
    for run in runs:
        found = state.catalog.find(run)
        try:
            trees.append(flat_options(asdict(saved_config(found.path))))
        except WarpzoneError:
            trees.append({})  # A damaged configuration; its page says so.
    names = sorted({name for tree in trees for name in tree} - _OF_THE_RUN_ITSELF)
    rows = [
        {"option": name, "values": [tree.get(name, _MISSING) for tree in trees]} for name in names
    ]
    return {"rows": [row for row in rows if any(v != row["values"][0] for v in row["values"])]}


@router.get("/api/bands")
def bands(
    runs: Annotated[list[str], Query(max_length=_MOST_RUNS)],
    metric: Annotated[str, Query(max_length=200)],
    state: State,
    axis: Axis = "steps",
    points: Annotated[int, Query(ge=4, le=4000)] = 400,
) -> dict[str, list[dict[str, Any]]]:
    """One curve per run; of runs that differ only in the seed, one with a band."""
    groups: dict[str, list[str]] = {}
    for run in runs:
        groups.setdefault(_group(state, run), []).append(run)
    result = []
    for members in groups.values():
        found = [_curve(state, run, metric, axis, points) for run in members]
        if len(members) == 1:
            result.append({"label": members[0], "seeds": 1, **found[0]})
            continue
        spans = [(np.array(curve["x"]), np.array(curve["y"])) for curve in found]
        label = f"{group_label(members)} ({len(members)} seeds)"
        result.append({"label": label, "seeds": len(members), **band(spans, points)})
    return {"curves": result}


def _group(state: ServerState, run: str) -> str:
    try:
        return seed_group(saved_config(state.catalog.find(run).path))
    except ConfigError:
        return run  # A damaged configuration equals no other.


def _curve(
    state: ServerState, run: str, metric: str, axis: str, points: int
) -> dict[str, list[float]]:
    table = state.metrics.get(state.catalog.find(run).metrics).refresh()
    found: dict[str, list[float]] = curves(table, [metric], axis=axis, points=points)[metric]
    return found


@router.get("/api/boards")
def boards(state: State) -> dict[str, Any]:
    """Scoreboards of the folder of policies and of the campaigns below the folder of runs."""
    groups = {row["group"].partition("/")[0] for row in state.catalog.rows()[0]} - {""}
    folder = state.settings.folder
    places = {"policies": state.settings.policies, ".": folder}
    places |= {name: folder / name for name in sorted(groups)}
    found = []
    for name, place in places.items():
        if not (place / BOARD_FILE).is_file():
            continue
        found.append({"name": name} | _board(place))
    return {"boards": found, "levels": all_levels()}


def _board(place: Path) -> dict[str, Any]:
    try:
        board = read_board(place)
    except ScoreboardError as error:
        return {"error": str(error), "rows": {}}
    return {"error": None, "goal": board.goal, "summary": board.summary, "rows": _rows(board)}


def _rows(board: Scoreboard) -> dict[str, dict[str, Any]]:
    return {
        level: {
            "clear_rate": row.score.clear_rate,
            "episodes": row.score.episodes,
            "low": row.score.interval.low,
            "high": row.score.interval.high,
            "ends": dict(row.score.ends),
            "steps": row.steps,
            "policy": Path(row.policy).name,
        }
        for level, row in board.rows.items()
    }
