"""`torchrun -m warpzone train`: the real command with two ranks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from warpzone.runs.checkpoint_store import find_latest
from warpzone.telemetry.reading import last_line

pytestmark = pytest.mark.slow

RANKS = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m"]
SMALL = [
    *("--level", "1-1", "--obs", "tiles", "--num-envs", "4", "--rollout-steps", "8"),
    *("--minibatch-size", "16", "--log-every", "1", "--name", "two"),
    *("--no-video", "--display", "plain", "--replay-capacity", "0"),
]
FAILING = """
import os
import warpzone
from warpzone.algorithms.ppo import PPO

@warpzone.register_algorithm("failing")
class Failing(PPO):
    calls = 0

    def targets(self, rollout):
        Failing.calls += 1
        if Failing.calls == 3 and os.environ.get("RANK") == "1":
            raise ZeroDivisionError("a bug in rank one")
        return super().targets(rollout)
"""


def run(folder: Path, *arguments: str, ranks: bool = True) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *(RANKS if ranks else ["-m"]), "warpzone", "train", *arguments]
    return subprocess.run(
        command, check=False, cwd=folder, capture_output=True, text=True, timeout=600
    )


def test_a_run_of_two_ranks_continues_with_two_and_with_one(tmp_path: Path) -> None:
    first = run(tmp_path, *SMALL, "--steps", "128")
    assert first.returncode == 0, first.stderr
    assert "divided among 2 ranks" in first.stdout + first.stderr
    folder = tmp_path / "runs" / "two"
    row = last_line(folder / "metrics.jsonl")
    assert row is not None
    assert (row["run/steps"], row["run/updates"]) == (128, 4)
    again = run(tmp_path, "--resume", "two", "--steps", "256", "--display", "plain", "--no-video")
    assert again.returncode == 0, again.stderr
    assert "another number of ranks" not in again.stdout + again.stderr
    alone = run(
        tmp_path,
        "--resume",
        "two",
        "--steps",
        "384",
        "--display",
        "plain",
        "--no-video",
        ranks=False,
    )
    assert alone.returncode == 0, alone.stderr
    assert "another number of ranks" in (folder / "log.txt").read_text()
    row = last_line(folder / "metrics.jsonl")
    assert row is not None
    assert (row["run/steps"], row["run/updates"], row["run/session"]) == (384, 12, 3)


def test_a_failing_rank_ends_all_with_its_message_and_the_run_can_be_resumed(
    tmp_path: Path,
) -> None:
    plugin = tmp_path / "failing.py"
    plugin.write_text(FAILING)
    ended = run(tmp_path, *SMALL, "--steps", "512", "--plugin", str(plugin), "--algo", "failing")
    assert ended.returncode != 0
    assert "a bug in rank one" in ended.stderr
    folder = tmp_path / "runs" / "two"
    assert find_latest(folder) is not None
    assert "rank 1: ZeroDivisionError: a bug in rank one" in (folder / "log.txt").read_text()
