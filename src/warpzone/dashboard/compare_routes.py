"""Comparing runs, and the board of all levels."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query

from warpzone.campaign.board_json import read_board
from warpzone.campaign.scoreboard import Scoreboard, all_levels
from warpzone.dashboard.run_routes import State
from warpzone.errors import ScoreboardError
from warpzone.evaluation.policy_folder import BOARD_FILE
from warpzone.runs.comparison import (
    MOST_RUNS,
    ComparedRun,
    compared_curves,
    config_or_none,
    option_differences,
)

router = APIRouter()

Axis = Literal["steps", "time"]
RunIds = Annotated[list[str], Query(max_length=MOST_RUNS)]


@router.get("/api/differences")
def differences(runs: RunIds, state: State) -> dict[str, list[dict[str, Any]]]:
    """Options in which runs differ, with the value of each run."""
    configs = [config_or_none(state.catalog.find(run)) for run in runs]
    return {"rows": [asdict(row) for row in option_differences(configs)]}


@router.get("/api/bands")
def bands(
    runs: RunIds,
    metric: Annotated[str, Query(max_length=200)],
    state: State,
    axis: Axis = "steps",
    points: Annotated[int, Query(ge=4, le=4000)] = 400,
) -> dict[str, list[dict[str, Any]]]:
    """One curve per run; of runs that differ only in the seed, one with a band."""
    found = []
    for run in runs:
        directory = state.catalog.find(run)
        table = state.metrics.get(directory.metrics).refresh()
        found.append(ComparedRun(run, config_or_none(directory), table))
    return {"curves": compared_curves(found, metric, axis=axis, points=points)}


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
    return {"error": None, "goal": board.goal, "rows": _rows(board)}


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
