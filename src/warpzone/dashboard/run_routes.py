"""Routes that read runs."""

from __future__ import annotations

import math
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from fastapi.responses import FileResponse, Response

from warpzone.dashboard import run_details
from warpzone.dashboard.level_results import level_results, map_arguments
from warpzone.dashboard.security import csrf_token
from warpzone.dashboard.state import ServerState, state_of_request
from warpzone.dashboard.steering_history import marks
from warpzone.errors import RunError
from warpzone.runs.directory import RunDirectory
from warpzone.telemetry.series import AXES, curves

router = APIRouter()

State = Annotated[ServerState, Depends(state_of_request)]
RunId = Annotated[str, Query(max_length=1000)]
LevelName = Annotated[str, Query(max_length=20)]
_MOST_NAMES = 40


@router.get("/api/session")
def session(state: State) -> dict[str, Any]:
    """What the page needs to know about the server."""
    return {
        "csrf": csrf_token(state.settings.token),
        "read_only": state.settings.read_only,
        "folder": str(state.settings.folder),
    }


@router.get("/api/runs")
def runs(state: State) -> dict[str, Any]:
    """The list of runs."""
    rows, missing = state.catalog.rows()
    return {"runs": rows, "missing": missing, "groups": state.catalog.group_kinds()}


@router.get("/api/run")
def run(run: RunId, state: State) -> dict[str, Any]:
    """A run: its summary and the names of its metrics."""
    row = state.catalog.row(run)
    directory = _find(state, run)
    file = state.metrics.get(directory.metrics)
    try:
        table = file.refresh()
    except OSError as error:
        return {"run": row, "metrics": [], "rows": 0, "damages": [str(error)], "marks": []}
    return {
        "run": row,
        "metrics": table.names,
        "rows": len(table),
        "damages": [*row["damages"], *file.damages],
        "marks": marks(directory),
    }


@router.get("/api/curves")
def read_curves(
    *,
    run: RunId,
    state: State,
    names: Annotated[str, Query(max_length=4000)],
    axis: str = "steps",
    points: Annotated[int, Query(ge=4, le=4000)] = 1000,
    low: float = -math.inf,
    high: float = math.inf,
) -> dict[str, Any]:
    """Curves of some metrics."""
    if axis not in AXES:
        raise RunError(f"'{axis}' is not an axis; there are {', '.join(AXES)}")
    wanted = names.split(",")[:_MOST_NAMES]
    table = state.metrics.get(_find(state, run).metrics).refresh()
    return {"curves": curves(table, wanted, axis=axis, points=points, low=low, high=high)}


@router.get("/api/episodes")
def episodes(run: RunId, state: State) -> dict[str, Any]:
    """The last episodes and how they ended."""
    return run_details.episodes(_find(state, run))


@router.get("/api/levels")
def levels(run: RunId, state: State) -> dict[str, Any]:
    """How the run does on each of its levels."""
    return {"levels": level_results(_find(state, run))}


@router.get("/api/map")
def map_facts(run: RunId, level: LevelName, state: State) -> dict[str, int]:
    """Size of a level's map, and the area that it shows."""
    found = state.maps.get(*map_arguments(_find(state, run), level))
    return {"area": found.area, "width": found.width, "height": found.height}


@router.get("/map")
def level_map(run: RunId, level: LevelName, state: State) -> Response:
    """The map of a level, as PNG."""
    found = state.maps.get(*map_arguments(_find(state, run), level))
    return Response(found.png, media_type="image/png")


@router.get("/api/log")
def log(run: RunId, state: State) -> dict[str, Any]:
    """The end of the log, and hints."""
    return run_details.log(_find(state, run))


@router.get("/api/config")
def config(run: RunId, state: State) -> dict[str, str]:
    """The configuration."""
    return {"text": run_details.config_text(_find(state, run))}


@router.get("/api/files")
def files(run: RunId, state: State) -> dict[str, Any]:
    """Checkpoints and videos."""
    return run_details.files(_find(state, run))


@router.get("/media")
def media(run: RunId, name: Annotated[str, Query(max_length=255)], state: State) -> FileResponse:
    """A video."""
    return FileResponse(run_details.find_video(_find(state, run), name))


def _find(state: ServerState, run_id: str) -> RunDirectory:
    return state.catalog.find(run_id)
