"""The scoreboard: written, read, shown, added to, exported, verified."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image, ImageDraw
from small_campaign import made_up_row, small_config

from warpzone import cli
from warpzone.campaign import board_files
from warpzone.campaign import measure as measure_module
from warpzone.campaign import measurer as measurer_module
from warpzone.campaign.board_files import add_policy, export_reached, open_board, publish
from warpzone.campaign.board_image import color_of
from warpzone.campaign.board_json import HISTORY_FILE, read_board, write_board
from warpzone.campaign.board_merge import merge_board
from warpzone.campaign.board_text import to_markdown
from warpzone.campaign.measure import measure
from warpzone.campaign.measurer import Measurer
from warpzone.campaign.protocols import MAIN, PROTOCOLS, row_seed
from warpzone.campaign.scoreboard import Measuring, Result, Row, Scoreboard, all_levels
from warpzone.campaign.verify import verify
from warpzone.errors import ScoreboardError
from warpzone.evaluation.evaluation import evaluate
from warpzone.evaluation.export import export_policy
from warpzone.evaluation.policy_folder import BOARD_FILE
from warpzone.evaluation.trained import load_policy
from warpzone.runs.checkpoint import sha256_of
from warpzone.training import session


@pytest.fixture(autouse=True)
def short_episodes(monkeypatch: pytest.MonkeyPatch) -> None:
    """An untrained policy would play until the game's clock runs out."""
    monkeypatch.setattr(measure_module, "evaluate", partial(evaluate, max_steps=40))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, rom_path: Path) -> Path:
    runs = tmp_path_factory.mktemp("runs")
    return session.start(small_config(runs, "1-1,1-2", name="two"), "quiet")[0].path


def test_a_scoreboard_comes_back_as_it_was_written(tmp_path: Path) -> None:
    board = Scoreboard(0.8).with_rows([made_up_row("2-1", 79), made_up_row("1-1", 80)])
    write_board(tmp_path, board)
    again = read_board(tmp_path)
    assert (again.goal, again.measuring, dict(again.rows)) == (0.8, Measuring(), dict(board.rows))
    assert again.reached == ["1-1"]
    assert again.summary == "1 of 32 levels at >= 80%"
    tree = json.loads((tmp_path / BOARD_FILE).read_text())
    assert len(tree["rows"]) == 32
    assert tree["rows"][1] == {"level": "1-2"}
    low = tree["rows"][0]["results"]["sticky"]["interval_low"]
    assert low == pytest.approx(0.711, abs=0.001)


def test_the_page_has_a_line_for_every_level_trained_or_not() -> None:
    page = to_markdown(Scoreboard().with_rows([made_up_row("1-1", 95), made_up_row("1-2", 4)]))
    assert page.startswith("**1 of 32 levels at >= 90%**")
    assert "| 1-1 | **95%** | 89%-98% |" in page
    assert "| 1-2 | 4% | 2%-10% |" in page
    assert "| 512k | 3.2 | 7 | c0ffeec0ff |" in page
    assert page.count("not trained") == 30
    assert all(f"| {level} |" in page for level in all_levels())


def test_the_image_shows_each_rate_by_its_color(tmp_path: Path) -> None:
    publish(tmp_path, Scoreboard().with_rows([made_up_row("1-1", 95), made_up_row("8-4", 0)]))
    with Image.open(tmp_path / "scoreboard.png") as image:
        colors = np.array([color for _, color in image.convert("RGB").getcolors(1 << 20)])
    for rate in (0.95, 0.0):  # The palette has few colors, so the nearest may differ a little.
        assert np.abs(colors - color_of(rate)).max(1).min() <= 4
    assert color_of(1.0) != color_of(0.9) != color_of(0.0)


def test_the_image_and_the_page_show_the_same_rates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[str] = []
    monkeypatch.setattr(
        ImageDraw.ImageDraw, "text", lambda self, place, words, **_: drawn.append(words)
    )
    row = made_up_row("1-1", 95)
    result = replace(row.score, episodes=400, clears=389)
    board = Scoreboard().with_rows([replace(row, results=row.results | {MAIN.name: result})])
    publish(tmp_path, board)
    assert "| **97.2%** |" in to_markdown(board)
    assert "97.2%" in drawn


MEASURING = asdict(Measuring())
ROW = asdict(made_up_row("1-1", 50))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"format": 9}, "has format 9"),
        ({"format": "1"}, "'format' is"),
        ({"goal": "high"}, "'goal' is"),
        ({"goal": 0}, "'goal' is 0"),
        ({"rows": 3}, "'rows' is 3"),
        ({"rows": [3]}, "it is 3; it must be a table"),
        ({"rows": [{"level": "1-1", "policy": "../x.policy"}]}, "it has no 'results'"),
        ({"rows": [ROW | {"policy": "../x.policy"}]}, "leads out of its folder"),
        ({"rows": [ROW | {"policy": "/x.policy"}]}, "leads out of its folder"),
        ({"rows": [ROW | {"policy": "notes.txt"}]}, "must end with .policy"),
        ({"rows": [ROW | {"policy": 3}]}, "'policy' is 3"),
        ({"rows": [ROW | {"level": "9-9"}]}, "unknown level, '9-9'"),
        ({"rows": [ROW | {"minutes": "ten"}]}, "'minutes' is"),
        ({"rows": [ROW | {"seed": None}]}, "'seed' is null"),
        ({"rows": [ROW | {"results": {}}]}, "it has no 'sticky'"),
        ({"measuring": {"episodes": 3}}, "it has no 'other_episodes'"),
        ({"measuring": MEASURING | {"episodes": 10**9}}, "'episodes' is 1000000000"),
        ({"measuring": MEASURING | {"other_episodes": 0}}, "'other_episodes' is 0"),
        ({"rows": [ROW | {"measured": 3}]}, "'measured' is 3"),
    ],
)
def test_a_file_that_is_not_a_scoreboard_is_refused(
    tmp_path: Path, change: dict[str, object], reason: str
) -> None:
    write_board(tmp_path, Scoreboard())
    tree = json.loads((tmp_path / BOARD_FILE).read_text())
    (tmp_path / BOARD_FILE).write_text(json.dumps(tree | change))
    with pytest.raises(ScoreboardError, match=reason):
        read_board(tmp_path)


def test_a_row_cannot_lead_out_of_its_folder(tmp_path: Path) -> None:
    write_board(tmp_path, Scoreboard().with_rows([made_up_row("1-1", 9, "../x.policy")]))
    with pytest.raises(ScoreboardError, match="leads out of its folder"):
        read_board(tmp_path)


def test_verifying_finds_an_altered_file_and_altered_numbers(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "policies"
    words = ["scoreboard", str(folder), "--add", str(run), "--episodes", "2", "--jobs", "1"]
    assert cli.main(words) == 0
    shown = capsys.readouterr().out
    assert "1-2: 0% of 2 episodes clear" in shown
    assert "0 of 32 levels at >= 90%" in shown
    assert {path.name for path in folder.iterdir()} == {
        "two.policy",
        "measurements.jsonl",
        "scoreboard.json",
        "scoreboard.md",
        "scoreboard.png",
    }
    assert cli.main(["scoreboard", str(folder), "--verify", "--jobs", "1"]) == 0
    assert capsys.readouterr().out.splitlines()[:2] == ["1-1: holds", "1-2: holds"]

    board = (folder / BOARD_FILE).read_text()
    (folder / BOARD_FILE).write_text(board.replace('"clears": 0', '"clears": 1', 1))
    assert cli.main(["scoreboard", str(folder), "--verify", "--jobs", "1"]) == 1
    shown = capsys.readouterr().out
    assert "1-1: the history has another measurement of this file; sticky: 0 of 2" in shown
    assert "clear instead of 1 of 2\n1-2: holds\n1 of 2 rows verified" in shown

    (folder / BOARD_FILE).write_text(board)
    export_policy(next((run / "checkpoints").glob("*.pt")), folder / "other.policy")
    data = bytearray((folder / "two.policy").read_bytes())
    data[-3] ^= 1
    (folder / "two.policy").write_bytes(data)
    assert cli.main(["scoreboard", str(folder), "--verify", "--jobs", "1", "--level", "1-2"]) == 1
    assert "two.policy is damaged" in capsys.readouterr().out
    (folder / "two.policy").unlink()
    assert cli.main(["scoreboard", str(folder), "--verify", "--jobs", "1"]) == 1
    assert "cannot be read" in capsys.readouterr().out


def test_a_measurement_does_not_depend_on_threads(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    trained = load_policy(run)
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        first = measure(trained, "1-1", 3, 7)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
    assert measure(trained, "1-1", 3, 7) == first


def test_measurements_are_equal_in_any_number_of_processes(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measure_module, "evaluate", evaluate)  # As in the other processes.
    measuring = Measuring(2, 1)
    boards, seen = [], []
    for jobs in (1, 2):
        measurer = Measurer(jobs, progress=lambda *progress: seen.append(progress))
        folder = tmp_path / str(jobs)
        boards.append(add_policy(folder, Scoreboard(0.9, measuring), run, measurer=measurer).board)
        assert seen[-1] == ("1-2", 10, 10)
    assert [row.results for row in boards[0].history] == [row.results for row in boards[1].history]
    verdicts = verify(tmp_path / "1", boards[0], measurer=Measurer(2))
    assert [str(verdict) for verdict in verdicts] == ["1-1: holds", "1-2: holds"]


def test_a_killed_process_of_a_measurement_is_one_sentence(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measurer_module, "_prepare", _die)
    with pytest.raises(ScoreboardError, match="was killed, perhaps because memory ran out"):
        add_policy(tmp_path, Scoreboard(0.9, Measuring(1, 1)), run, measurer=Measurer(2))
    assert not list(tmp_path.glob("*")), "nothing is left behind"


def _die(_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def fake_measuring(monkeypatch: pytest.MonkeyPatch, clears: dict[str, int]) -> None:
    """Lets policies have made-up scores, contents of their own, and no episodes."""

    def export(target: Path, file: Path) -> None:
        export_policy(target, file)
        file.write_bytes(file.read_bytes() + repr(clears).encode())

    def facts(path: Path) -> SimpleNamespace:
        return SimpleNamespace(levels=list(clears), checkpoint_sha256=repr(clears))

    def rows(folder: Path, path: Path, *_: object) -> list[Row]:
        name = path.relative_to(folder).as_posix()
        made_up = [made_up_row(level, count, name) for level, count in clears.items()]
        unique = {"sha256": sha256_of(path), "checkpoint_sha256": repr(clears)}
        return [replace(row, **unique) for row in made_up]

    monkeypatch.setattr(board_files, "export_policy", export)
    monkeypatch.setattr(board_files, "read_policy_facts", facts)
    monkeypatch.setattr(board_files, "measure_policy", rows)


def test_the_better_policy_of_a_level_stays(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_measuring(monkeypatch, {"1-1": 50, "1-2": 60})
    first = add_policy(tmp_path, Scoreboard(), run)
    assert {row.policy for row in first.board.rows.values()} == {"two.policy"}

    fake_measuring(monkeypatch, {"1-1": 70, "1-2": 10})
    second = add_policy(tmp_path, first.board, run)
    assert [row.level for row in second.taken] == ["1-1"]
    assert second.board.rows["1-1"].policy == "two-2.policy"
    assert second.board.rows["1-2"].policy == "two.policy"

    fake_measuring(monkeypatch, {"1-1": 10, "1-2": 60})
    third = add_policy(tmp_path, second.board, run)
    assert third.taken == ()

    fake_measuring(monkeypatch, {"1-1": 99, "1-2": 99})
    last = add_policy(tmp_path, third.board, run)
    assert {row.policy for row in last.board.rows.values()} == {"two.policy"}
    assert [path.name for path in tmp_path.glob("*.policy")] == ["two.policy"]
    assert read_board(tmp_path).rows == last.board.rows


def test_policies_that_are_on_no_row_are_neither_replaced_nor_removed(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "two.policy").write_bytes(b"somebody else's")
    fake_measuring(monkeypatch, {"1-1": 50, "1-2": 60})
    board = add_policy(tmp_path, Scoreboard(), run).board
    assert board.rows["1-1"].policy == "two-2.policy"
    (tmp_path / "two-2.policy").write_bytes(b"changed by hand")
    fake_measuring(monkeypatch, {"1-1": 99, "1-2": 99})
    board = add_policy(tmp_path, board, run).board
    assert board.rows["1-1"].policy == "two-3.policy"
    assert (tmp_path / "two.policy").read_bytes() == b"somebody else's"
    assert (tmp_path / "two-2.policy").read_bytes() == b"changed by hand"


def test_exporting_replaces_only_what_was_exported_before(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    there.mkdir()
    (there / "two.policy").write_bytes(b"somebody else's")
    for clears in (95, 99):
        fake_measuring(monkeypatch, {"1-1": clears, "1-2": clears})
        board = add_policy(here, open_board(here, Scoreboard()), run).board
        exported = export_reached(here, board, there)
        assert {row.policy for row in exported.rows.values()} == {"two-2.policy"}
    assert (there / "two.policy").read_bytes() == b"somebody else's"
    (there / BOARD_FILE).write_text("[]")
    with pytest.raises(ScoreboardError, match="is not a scoreboard"):
        export_reached(here, board, there)


def measured_board(run: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, **clears: int) -> Path:
    fake_measuring(monkeypatch, {name.replace("_", "-")[1:]: n for name, n in clears.items()})
    add_policy(folder, open_board(folder, Scoreboard()), run)
    return folder


def test_merging_takes_better_rows_with_their_policies_and_every_measurement(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = measured_board(run, tmp_path / "here", monkeypatch, L1_1=50, L1_2=90)
    there = measured_board(run, tmp_path / "there", monkeypatch, L1_1=70, L1_2=80)
    board, taken = merge_board(here, read_board(here), there)
    assert [row.level for row in taken] == ["1-1"]
    assert read_board(here) == board
    assert [board.rows[level].score.clears for level in ("1-1", "1-2")] == [70, 90]
    for row in board.rows.values():
        assert sha256_of(here / row.policy) == row.sha256
    assert len(board.history) == 4
    again, taken = merge_board(here, board, there)
    assert (again, taken) == (board, [])


def test_merging_removes_policies_that_lost_all_their_rows(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = measured_board(run, tmp_path / "here", monkeypatch, L1_1=50, L1_2=50)
    there = measured_board(run, tmp_path / "there", monkeypatch, L1_1=70, L1_2=80)
    board, _ = merge_board(here, read_board(here), there)
    assert [path.name for path in here.glob("*.policy")] == ["two.policy"]
    assert sha256_of(here / "two.policy") == board.rows["1-1"].sha256


def test_a_file_that_was_not_measured_is_not_merged(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = measured_board(run, tmp_path / "here", monkeypatch, L1_1=50)
    there = measured_board(run, tmp_path / "there", monkeypatch, L1_1=70)
    before = read_board(here)
    next(there.glob("*.policy")).write_bytes(b"another")
    with pytest.raises(ScoreboardError, match="not the file that the row of 1-1 was measured with"):
        merge_board(here, before, there)
    assert read_board(here) == before


def test_a_policy_that_masters_all_its_levels_gets_all_rows_of_a_campaign(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_measuring(monkeypatch, {"1-1": 99, "1-2": 60})
    board = add_policy(tmp_path, Scoreboard(), run, whole=True).board
    fake_measuring(monkeypatch, {"1-1": 89, "1-2": 95})
    board = add_policy(tmp_path, board, run, whole=True).board
    assert [row.score.clears for row in board.rows.values()] == [99, 95], "not on all levels"
    fake_measuring(monkeypatch, {"1-1": 90, "1-2": 93})
    assert add_policy(tmp_path, board, run).taken == ()
    board = add_policy(tmp_path, board, run, whole=True).board
    assert [row.score.clears for row in board.rows.values()] == [90, 93]
    assert len({row.policy for row in board.rows.values()}) == 1


def test_policies_at_the_goal_are_exported_with_their_rows(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    campaign, out = tmp_path / "campaign", tmp_path / "out"
    fake_measuring(monkeypatch, {"1-1": 91, "1-2": 60})
    board = add_policy(campaign, Scoreboard(), run, place=Path("policies")).board
    chosen = export_reached(campaign, board, out)
    assert list(chosen.rows) == ["1-1"]
    assert read_board(out).rows["1-1"].policy == "two.policy"
    assert (out / "two.policy").read_bytes() == (campaign / "policies/two.policy").read_bytes()
    with pytest.raises(ScoreboardError, match=r"no level of .* reaches 95%"):
        export_reached(campaign, Scoreboard(0.95).with_rows(board.rows.values()), out)


def test_a_folder_without_a_scoreboard_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["scoreboard", str(tmp_path)]) == 2
    assert "has no scoreboard" in capsys.readouterr().err
    write_board(tmp_path, Scoreboard())
    assert cli.main(["scoreboard", str(tmp_path), "--verify", "--jobs", "1"]) == 2
    assert "has no rows to verify" in capsys.readouterr().err
    assert cli.main(["scoreboard", str(tmp_path), "--verify", "--jobs", "1", "--level", "1-1"]) == 2
    assert "has no row for 1-1" in capsys.readouterr().err
    (tmp_path / HISTORY_FILE).unlink()
    assert cli.main(["scoreboard", str(tmp_path)]) == 2
    assert "without its history" in capsys.readouterr().err


def test_a_file_is_measured_once_and_every_measurement_is_kept(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_measuring(monkeypatch, {"1-1": 50, "1-2": 60})
    first = add_policy(tmp_path, Scoreboard(), run)
    assert not first.known

    def refuse(*_: object) -> list[Row]:
        raise AssertionError("measured twice")

    monkeypatch.setattr(board_files, "measure_policy", refuse)
    again = add_policy(tmp_path, read_board(tmp_path), run)
    assert again.known
    assert again.taken == ()
    assert [row.score for row in again.rows] == [row.score for row in first.rows]

    fake_measuring(monkeypatch, {"1-1": 40, "1-2": 70})
    board = add_policy(tmp_path, again.board, run).board
    kept = [(row.level, row.score.clears) for row in read_board(tmp_path).history]
    assert kept == [("1-1", 50), ("1-2", 60), ("1-1", 40), ("1-2", 70)]
    assert board.files_measured("1-1") == 2
    page = (tmp_path / "scoreboard.md").read_text()
    assert "| 1-1 | 40 of 100 |" in page, "measurements that were not taken are shown as well"


def test_another_export_of_a_measured_checkpoint_gets_no_second_chance(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    board = add_policy(tmp_path, Scoreboard(0.9, Measuring(2, 1)), run).board
    # The version is part of the file, so another one changes its hash.
    monkeypatch.setattr("warpzone.evaluation.export.source_version", lambda: "another")
    added = add_policy(tmp_path, board, run)
    assert added.known
    assert added.taken == ()
    assert added.board.history == board.history


def test_a_protocol_that_a_measurement_lacks_is_added_to_it(run: Path, tmp_path: Path) -> None:
    board = add_policy(tmp_path, Scoreboard(0.9, Measuring(2, 1)), run).board
    older = [
        replace(row, results={MAIN.name: Result(2, 1, 5.0, {"clear": 1, "pit": 1})})
        for row in board.history
    ]
    board = replace(board, history=older).with_rows(older)
    board = replace(
        board, rows={level: replace(row, policy="two.policy") for level, row in board.rows.items()}
    )
    board = add_policy(tmp_path, board, run).board
    for row in (*board.history, *board.rows.values()):
        assert row.score.clears == 1, "what was measured stays"
        assert set(row.results) == {protocol.name for protocol in PROTOCOLS}


def test_seeds_follow_from_the_file_the_level_and_the_protocol() -> None:
    seeds = {
        row_seed(sha256, level, protocol)
        for sha256 in ("ab" * 32, "cd" * 32)
        for level in ("1-1", "1-2")
        for protocol in PROTOCOLS
    }
    assert len(seeds) == 4 * len(PROTOCOLS)
    assert min(seeds) >= 2**61, "far above the seeds of training and of checks"
    assert row_seed("ab" * 32, "1-1", MAIN) == row_seed("ab" * 32, "1-1", MAIN)
