"""The tab *Levels*: rates, lost episodes and maps."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from dashboard_support import make_client, write_run

from warpzone.dashboard.level_maps import LevelMaps


def episode(end: str, **changes: object) -> dict[str, object]:
    row = {"level": "1-1", "end": end, "start": "level", "progress": 50, "x": 90, "y": 79}
    return row | {"area": 7} | changes


def test_levels_have_rates_from_their_start_and_places_of_lost_episodes(tmp_path: Path) -> None:
    run = write_run(tmp_path)
    rows = [
        episode("clear", progress=3000),
        episode("pit"),
        episode("enemy", start="snapshot", x=400),
        episode("enemy", x=None),
        episode("pit", level="9-9", x=float("nan")),
    ]
    lines = [json.dumps(row) for row in rows]
    (run / "episodes.jsonl").write_text("\n".join([*lines, "garbage"]))
    answer = make_client(tmp_path).get("/api/levels", params={"run": run.name}).json()
    first, unknown = answer["levels"]
    assert (first["level"], first["episodes"], first["whole"]) == ("1-1", 4, 3)
    assert first["clear_rate"] == pytest.approx(1 / 3)
    assert first["furthest"] == 3000
    assert first["lost"] == [
        {"x": 90, "y": 79, "area": 7, "end": "pit"},
        {"x": 400, "y": 79, "area": 7, "end": "enemy"},
    ]
    assert (unknown["level"], unknown["lost"]) == ("9-9", [])


def test_a_map_is_drawn_once_and_kept_outside_of_the_run(
    tmp_path: Path, rom_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WARPZONE_ROM", str(rom_path))
    first = LevelMaps(tmp_path).get("smb", "1-1", "")
    assert first.png.startswith(b"\x89PNG")
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".json", ".png"]
    monkeypatch.setattr("warpzone.dashboard.level_maps.draw_level_map", None)
    assert LevelMaps(tmp_path).get("smb", "1-1", "") == first


def test_only_maps_of_the_runs_own_levels_are_served(
    tmp_path: Path, rom_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WARPZONE_ROM", str(rom_path))
    monkeypatch.setattr("warpzone.dashboard.level_maps.cache_folder", lambda: tmp_path / "maps")
    run = write_run(tmp_path / "runs")
    client = make_client(tmp_path / "runs")
    facts = client.get("/api/map", params={"run": run.name, "level": "1-1"}).json()
    assert facts["height"] == 208
    answer = client.get("/map", params={"run": run.name, "level": "1-1"})
    assert answer.headers["content-type"] == "image/png"
    for level in ("8-4", "../../1-1", ""):
        answer = client.get("/map", params={"run": run.name, "level": level})
        assert answer.status_code == 404, level
        assert "is not a level of this run" in answer.json()["error"]


def test_a_missing_rom_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPZONE_ROM", str(tmp_path / "nowhere.nes"))
    monkeypatch.setattr("warpzone.dashboard.level_maps.cache_folder", lambda: tmp_path / "maps")
    run = write_run(tmp_path)
    answer = make_client(tmp_path).get("/api/map", params={"run": run.name, "level": "1-1"})
    assert answer.status_code == 400
    assert "nowhere.nes" in answer.json()["error"]
