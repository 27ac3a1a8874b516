"""Comparing runs, the board of all levels, and the strings of the page."""

import re
import shutil
from dataclasses import replace
from pathlib import Path

from dashboard_support import make_client, write_run

from warpzone.config import TrainConfig, to_toml
from warpzone.dashboard.app import STATIC

POLICIES = Path(__file__).parents[2] / "policies"


def test_only_options_that_differ_are_listed(tmp_path: Path) -> None:
    one, two = write_run(tmp_path, "one"), write_run(tmp_path, "two")
    config = TrainConfig()
    changed = replace(config, learn=replace(config.learn, gamma=0.5))
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
