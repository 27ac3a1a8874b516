"""What the page of a run shows besides charts."""

import json
from pathlib import Path

from dashboard_support import make_client, write_run


def test_episodes_are_counted_by_their_end_and_damaged_lines_left_out(tmp_path: Path) -> None:
    run = write_run(tmp_path)
    rows = [{"end": end, "progress": 100 + i, "level": "1-1"} for i, end in enumerate("aab")]
    rows.append({"end": "clear", "progress": 3000, "level": "1-1", "reward": None})
    lines = [json.dumps(row) for row in rows]
    (run / "episodes.jsonl").write_text("\n".join([lines[0], "garbage", *lines[1:], '{"half']))
    answer = make_client(tmp_path).get("/api/episodes", params={"run": run.name}).json()
    assert answer["ends"] == {"a": 2, "b": 1, "clear": 1}
    assert [row["progress"] for row in answer["lost"]] == [100, 101, 102]
    assert answer["last"][0]["end"] == "clear"
    assert answer["last"][0]["reward"] is None


def test_a_run_without_any_further_files_has_empty_panels(tmp_path: Path) -> None:
    run = write_run(tmp_path)
    client = make_client(tmp_path)

    def ask(what: str) -> object:
        return client.get(f"/api/{what}", params={"run": run.name}).json()

    assert ask("episodes") == {"count": 0, "ends": {}, "lost": [], "last": []}
    assert ask("log") == {"lines": [], "hints": []}
    assert ask("files") == {"checkpoints": [], "videos": []}


def test_hints_and_warnings_are_found_in_the_log(tmp_path: Path) -> None:
    run = write_run(tmp_path)
    lines = [
        "t [train] saved",
        "t [hint] try this",
        "t [env] warning: slow",
        b"\xff".decode("latin-1"),
    ]
    (run / "log.txt").write_bytes("\n".join(lines).encode("latin-1"))
    answer = make_client(tmp_path).get("/api/log", params={"run": run.name}).json()
    assert answer["hints"] == ["t [hint] try this", "t [env] warning: slow"]
    assert answer["lines"][:3] == lines[:3]


def test_checkpoints_show_what_their_side_cars_say(tmp_path: Path) -> None:
    run = write_run(tmp_path)
    (run / "checkpoints" / "update-00000001.pt").write_bytes(b"12345")
    meta = {"steps": 100, "extra": {"clear_rate": 0.5}}
    (run / "checkpoints" / "update-00000001.json").write_text(json.dumps(meta))
    (run / "checkpoints" / "update-00000002.pt").write_bytes(b"1")
    (run / "checkpoints" / "update-00000002.json").write_text("garbage")
    answer = make_client(tmp_path).get("/api/files", params={"run": run.name}).json()
    found = {row["name"]: row for row in answer["checkpoints"]}
    assert found["update-00000001.pt"] == {
        "name": "update-00000001.pt",
        "size": 5,
        "steps": 100,
        "clear_rate": 0.5,
    }
    assert found["update-00000002.pt"]["steps"] is None


def test_the_configuration_is_shown_even_if_it_is_damaged(tmp_path: Path) -> None:
    run = write_run(tmp_path)
    client = make_client(tmp_path)
    text = client.get("/api/config", params={"run": run.name}).json()["text"]
    assert text == (run / "config.toml").read_text()
    (run / "config.toml").write_bytes(b"\xff\xfe")
    assert "damaged" in client.get("/api/config", params={"run": run.name}).json()["text"]
