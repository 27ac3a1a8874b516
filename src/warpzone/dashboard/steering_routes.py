"""Routes that steer runs. The gatekeeper refuses them on a read-only dashboard."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body

from warpzone.config.values import show
from warpzone.dashboard.run_routes import RunId, State
from warpzone.dashboard.state import ServerState
from warpzone.dashboard.steering_history import evaluations, history
from warpzone.errors import WarpzoneError
from warpzone.runs.directory import RunDirectory
from warpzone.runs.saved_config import saved_config
from warpzone.runs.steering import (
    Action,
    SteeringCommand,
    changed_config,
    find_outcome,
    level_share_names,
    read_changes,
    send_command,
    sender,
    steerable_options,
    steered_value,
)
from warpzone.telemetry.reading import Row

router = APIRouter()

_SHARE_HELP = "Factor by which the level is preferred; 0 leaves it out."


@router.get("/api/steering")
def steering(run: RunId, state: State) -> dict[str, Any]:
    """What can be changed, its present values, what was changed before, and evaluations."""
    found = state.catalog.find(run)
    return {
        "options": _options(found),
        "history": history(found),
        "evaluations": evaluations(found),
    }


@router.post("/api/steer")
def steer(
    run: Annotated[str, Body(max_length=1000)],
    action: Annotated[Action, Body()],
    state: State,
    changes: Annotated[dict[str, str] | None, Body()] = None,
) -> dict[str, str]:
    """Leaves a command for a run."""
    found = state.catalog.find(run)
    checked = read_changes(changes or {})
    if checked:
        changed_config(saved_config(found.path), checked)
    command = SteeringCommand(action, sender("dashboard"), checked)
    send_command(found, command)
    return {"command": command.name}


@router.get("/api/outcome")
def outcome(run: RunId, command: str, state: State) -> dict[str, Row | None]:
    """What became of a command; null while it waits."""
    return {"outcome": find_outcome(_find(state, run), command)}


def _options(run: RunDirectory) -> list[dict[str, Any]]:
    try:
        config = saved_config(run.path)
    except WarpzoneError:
        return []  # The page shows what is wrong with the configuration.
    options = [
        {
            "path": option.path,
            "flag": option.flag,
            "help": option.help,
            "text": show(config.value(option)),
        }
        for option in steerable_options()
    ]
    shares = [
        {"path": name, "flag": name, "help": _SHARE_HELP, "text": show(steered_value(config, name))}
        for name in level_share_names(config)
    ]
    return options + shares


def _find(state: ServerState, run_id: str) -> RunDirectory:
    return state.catalog.find(run_id)
