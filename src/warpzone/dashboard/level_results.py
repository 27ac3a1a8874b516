"""How a run does on each of its levels, and where it loses: the tab *Levels*."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from warpzone.config import TrainConfig
from warpzone.dashboard.run_details import recent_episodes
from warpzone.envs.endings import CLEAR
from warpzone.errors import RunError
from warpzone.runs.directory import RunDirectory
from warpzone.runs.levels import held_out_levels, trained_levels
from warpzone.runs.saved_config import saved_config
from warpzone.telemetry.reading import Row, finite


def level_results(run: RunDirectory) -> list[dict[str, Any]]:
    """One row per level that the run trains, made from its recent episodes."""
    found: dict[str, list[Row]] = {level: [] for level in _levels(saved_config(run.path))}
    for row in recent_episodes(run.episodes):
        found.setdefault(str(row.get("level")), []).append(row)
    return [_result(level, rows) for level, rows in found.items()]


def map_arguments(run: RunDirectory, level: str) -> tuple[str, str, str]:
    """Game, level and ROM for the map of a level.

    Raises:
        RunError: The run does not train the level.
    """
    config = saved_config(run.path)
    if level not in _levels(config):
        raise RunError(f"'{level}' is not a level of this run")
    return config.env.game, level, config.env.rom


def _levels(config: TrainConfig) -> list[str]:
    return [*trained_levels(config.env), *held_out_levels(config.env)]


def _result(level: str, rows: Sequence[Row]) -> dict[str, Any]:
    whole = [row for row in rows if row.get("start") != "snapshot"]
    clears = sum(row.get("end") == CLEAR for row in whole)
    progress = [value for row in rows if (value := finite(row, "progress")) is not None]
    lost = [row for row in rows if row.get("end") != CLEAR]
    return {
        "level": level,
        "episodes": len(rows),
        "whole": len(whole),
        "clear_rate": clears / len(whole) if whole else None,
        "furthest": max(progress, default=None),
        "ends": dict(Counter(str(row.get("end")) for row in rows).most_common()),
        "lost": [place for row in lost if (place := _place(row)) is not None],
    }


def _place(row: Row) -> dict[str, Any] | None:
    """Where an episode was lost; None for a damaged row, or one of an earlier version."""
    x, y, area = (finite(row, name) for name in ("x", "y", "area"))
    if x is None or y is None:
        return None
    return {"x": x, "y": y, "area": area, "end": str(row.get("end"))}
