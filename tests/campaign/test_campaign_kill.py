"""A real campaign of the smallest runs, killed without warning and continued."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from small_campaign import FLAGS

from warpzone import cli
from warpzone.campaign.board_json import read_board
from warpzone.campaign.state import read_state
from warpzone.telemetry.reading import read_lines

PROGRAM = "import sys; from warpzone.cli import main; sys.exit(main())"
LEVELS = ["1-1", "1-2"]


def words(folder: Path) -> list[str]:
    asked = ["--levels", "1-1,1-2", "--steps-per-level", "256", "--episodes", "2"]
    return ["campaign", *asked, "--checkpoint-minutes", "0.0001", *FLAGS, "-o", str(folder)]


def kill_during(folder: Path, word: str) -> None:
    """Starts the command and kills it once it says the word."""
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *words(folder)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    ) as program:
        assert program.stdout is not None
        for line in program.stdout:
            if word in line:
                program.send_signal(signal.SIGKILL)
        program.wait()
        assert program.returncode == -signal.SIGKILL


def test_a_killed_campaign_continues_and_trains_nothing_twice(
    tmp_path: Path, rom_path: Path
) -> None:
    folder = tmp_path / "campaign"
    kill_during(folder, "training in " + str(folder / "runs" / "1-2"))
    first = (folder / "policies" / "1-1.policy").read_bytes()
    assert list(read_board(folder).rows) == ["1-1"]

    assert cli.main(words(folder)) == 0
    board = read_board(folder)
    assert list(board.rows) == LEVELS
    assert all(row.steps == 256 for row in board.rows.values())
    assert (folder / "policies" / "1-1.policy").read_bytes() == first
    state = read_state(folder)
    assert state is not None
    assert {name: task.rounds for name, task in state.tasks.items()} == {"1-1": 1, "1-2": 1}
    starts = {row["run/session"] for row in read_lines(folder / "runs/1-1/metrics.jsonl")}
    assert starts == {1}

    assert cli.main(["scoreboard", str(folder), "--verify"]) == 0
    before = json.loads((folder / "campaign.json").read_text())
    assert cli.main(words(folder)) == 0
    assert json.loads((folder / "campaign.json").read_text()) == before
