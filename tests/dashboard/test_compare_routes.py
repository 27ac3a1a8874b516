"""Comparing runs, the board of all levels, and the strings of the page."""

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from dashboard_support import make_client, metric_row, write_run

from warpzone.config import TrainConfig, to_toml
from warpzone.dashboard.app import STATIC

POLICIES = Path(__file__).parents[2] / "policies"


def test_only_options_that_differ_are_listed(tmp_path: Path) -> None:
    one, two = write_run(tmp_path, "one"), write_run(tmp_path, "two")
    config = TrainConfig()
    changed = replace(config, learn=replace(config.learn, gamma=0.5))
    changed = replace(changed, run=replace(config.run, name="two"))
    (two / "config.toml").write_text(to_toml(changed))
    client = make_client(tmp_path)
    rows = client.get("/api/differences", params={"runs": [one.name, two.name]}).json()["rows"]
    assert rows == [{"option": "learn.gamma", "values": [0.97, 0.5]}]


def test_a_damaged_configuration_does_not_end_a_comparison(tmp_path: Path) -> None:
    one, two = write_run(tmp_path, "one"), write_run(tmp_path, "two")
    (two / "config.toml").write_text("garbage")
    answer = make_client(tmp_path).get("/api/differences", params={"runs": [one.name, two.name]})
    assert all(row["values"][1] == "?" for row in answer.json()["rows"])
    missing = make_client(tmp_path).get("/api/differences", params={"runs": ["nosuch"]})
    assert missing.status_code == 404


def test_the_board_shows_the_levels_of_policies_and_campaigns(tmp_path: Path) -> None:
    write_run(tmp_path, "campaign/one")
    shutil.copy(POLICIES / "scoreboard.json", tmp_path / "campaign")
    shutil.copy(POLICIES / "measurements.jsonl", tmp_path / "campaign")
    write_run(tmp_path, "broken/one")
    (tmp_path / "broken" / "scoreboard.json").write_text("garbage")
    answer = make_client(tmp_path, policies=POLICIES).get("/api/boards").json()
    boards = {board["name"]: board for board in answer["boards"]}
    assert boards.keys() == {"policies", "campaign", "broken"}
    assert len(answer["levels"]) == 32
    row = boards["policies"]["rows"]["2-1"]
    assert 0 <= row["low"] <= row["clear_rate"] <= row["high"] <= 1
    assert (POLICIES / row["policy"]).is_file()
    assert boards["broken"]["error"]


def test_both_languages_have_the_same_strings() -> None:
    def names(file: str) -> list[str]:
        text = (STATIC / "js" / file).read_text(encoding="utf-8")
        return re.findall(r"^  (\w+):", text, re.MULTILINE)

    english, chinese = names("strings_en.js"), names("strings_zh.js")
    assert sorted(english) == sorted(chinese)
    assert len(set(english)) == len(english)


def test_every_string_of_the_pages_exists() -> None:
    known = set(
        re.findall(r"^  (\w+):", (STATIC / "js" / "strings_en.js").read_text(), re.MULTILINE)
    )
    for file in (STATIC / "js").glob("*.js"):
        used = set(re.findall(r"\bt\(\"(\w+)\"", file.read_text(encoding="utf-8")))
        assert used <= known, file.name


def test_the_pages_load_nothing_from_other_servers() -> None:
    for file in STATIC.rglob("*"):
        if file.suffix in (".html", ".css", ".js") and "vendor" not in file.parts:
            text = file.read_text(encoding="utf-8")
            assert not re.search(r"https?://(?!www\.w3\.org)", text), file.name


def write_seed(folder: Path, name: str, seed: int, rates: list[float], steps: int = 1) -> None:
    rows = [metric_row(i * steps, rollout__clear_rate=rate) for i, rate in enumerate(rates)]
    run = write_run(folder, name, rows)
    config = TrainConfig()
    changed = replace(config, run=replace(config.run, seed=seed, name=name))
    (run / "config.toml").write_text(to_toml(changed))


def test_runs_that_differ_only_in_the_seed_become_one_curve_with_a_band(tmp_path: Path) -> None:
    write_seed(tmp_path, "mario-a", 1, [0.0, 0.2, 0.4])
    write_seed(tmp_path, "mario-b", 2, [0.2, 0.4, 0.6])
    write_seed(tmp_path, "mario-c", 3, [0.1, 0.9])  # Ended early.
    other = write_run(tmp_path, "other", [metric_row(0, rollout__clear_rate=0.5)])
    changed = replace(TrainConfig(), learn=replace(TrainConfig().learn, gamma=0.5))
    (other / "config.toml").write_text(to_toml(changed))
    names = ["mario-a", "other", "mario-b", "mario-c"]
    query = {"runs": names, "metric": "rollout/clear_rate", "points": 5}
    seeds, single = make_client(tmp_path).get("/api/bands", params=query).json()["curves"]
    assert (seeds["label"], seeds["seeds"]) == ("mario (3 seeds)", 3)
    assert seeds["x"] == [0.0, 0.5, 1.0, 1.5, 2.0]
    assert seeds["y"] == pytest.approx([0.1, 0.3, 0.4, 0.4, 0.5])
    assert seeds["low"] == pytest.approx([0.0, 0.1, 0.2, 0.3, 0.4])
    assert seeds["high"] == pytest.approx([0.2, 0.5, 0.9, 0.5, 0.6])
    assert (single["label"], single["x"], "low" in single) == ("other", [0], False)


def test_runs_are_grouped_by_folder_and_campaigns_and_sweeps_are_named(tmp_path: Path) -> None:
    for name in ("alone", "search/runs/trial-1", "levels/mario-1-1", "old/one"):
        write_run(tmp_path, name)
    (tmp_path / "search" / "sweep.json").write_text("{}")
    (tmp_path / "levels" / "campaign.json").write_text("{}")
    answer = make_client(tmp_path).get("/api/runs").json()
    groups = {row["id"]: row["group"] for row in answer["runs"]}
    assert groups == {
        "alone": "",
        "search/runs/trial-1": "search",
        "levels/mario-1-1": "levels",
        "old/one": "old",
    }
    assert answer["groups"] == {"levels": "campaign", "old": "folder", "search": "sweep"}
