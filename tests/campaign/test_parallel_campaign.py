"""Campaigns with several runs at a time: the order of runs, failures, kills and interruptions."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import psutil
import pytest
from small_campaign import FLAGS, made_up_row, small_config

from warpzone import cli
from warpzone.campaign.board_files import publish
from warpzone.campaign.board_json import read_board
from warpzone.campaign.campaign import Campaign
from warpzone.campaign.options import CampaignOptions
from warpzone.campaign.parallel import ParallelTraining
from warpzone.campaign.state import (
    CampaignState,
    TaskState,
    asked_for,
    asked_of,
    read_state,
    record_task,
)
from warpzone.errors import ScoreboardError
from warpzone.evaluation.policy_file import read_policy_file
from warpzone.runs.checkpoint_store import find_latest
from warpzone.system.signals import StopRequest
from warpzone.system.workers import Job

PROGRAM = "import sys; from warpzone.cli import main; sys.exit(main())"


class ScriptedWorkers:
    """Runs jobs without processes; each ends when it is the oldest, with a scripted exit code."""

    def __init__(self, folder: Path, jobs: int, failing: Iterable[str] = ()) -> None:
        self.jobs, self.threads = jobs, 1
        self.started: list[tuple[str, str]] = []
        self.most = 0
        self._folder, self._failing = folder, set(failing)
        self._running: list[Job] = []

    @property
    def running(self) -> int:
        return len(self._running)

    def start(self, job: Job) -> None:
        name, number, threads = job.arguments[1], job.arguments[2], job.arguments[4]
        self.started.append((name, f"round {number}, {threads} threads"))
        self._running.append(job)
        self.most = max(self.most, self.running)

    def take_ended(self) -> list[tuple[Job, int]]:
        if not self._running:
            return []
        job = self._running.pop(0)
        if job.name in self._failing:
            job.log.parent.mkdir(exist_ok=True)
            job.log.write_text("training\nerror: the ROM is gone\n")
            return [(job, 1)]
        record_task(self._folder, job.name, TaskState(rounds=int(job.arguments[2])))
        return [(job, 0)]

    def stop(self) -> None:
        self._running.clear()


def make_campaign(folder: Path, lines: list[str], **asked: object) -> Campaign:
    options = CampaignOptions(**{"levels": "1-1..1-4", "steps_per_level": 1000} | asked)  # type: ignore[arg-type]
    config = small_config()
    state = CampaignState(asked_of(config, options))
    return Campaign(folder, config, options, state, report=lines.append)


def train(folder: Path, workers: ScriptedWorkers, **asked: object) -> list[str]:
    lines: list[str] = []
    campaign = make_campaign(folder, lines, **asked)
    ParallelTraining(campaign, workers, module="worker", arguments=()).run(StopRequest())
    return lines


def test_as_many_runs_as_jobs_are_trained_at_the_same_time(tmp_path: Path) -> None:
    workers = ScriptedWorkers(tmp_path, jobs=2)
    lines = train(tmp_path, workers)
    assert [name for name, _ in workers.started] == ["1-1", "1-2", "1-3", "1-4"]
    assert workers.most == 2
    assert lines[0] == "[1 of 4] 1-1: up to 1k steps of training"
    assert lines[-1] == "0 of 32 levels at >= 90%"


def test_a_free_worker_begins_the_next_round_and_the_generalist_waits_for_all(
    tmp_path: Path,
) -> None:
    publish(tmp_path, make_campaign(tmp_path, []).board.with_rows([made_up_row("1-3", 95)]))
    workers = ScriptedWorkers(tmp_path, jobs=3)
    train(tmp_path, workers, rounds=2, generalist=True)
    assert workers.started == [
        ("1-1", "round 1, 1 threads"),
        ("1-2", "round 1, 1 threads"),
        ("1-4", "round 1, 1 threads"),
        ("1-1", "round 2, 1 threads"),
        ("1-2", "round 2, 1 threads"),
        ("1-4", "round 2, 1 threads"),
        ("generalist-2", "round 2, 3 threads"),
    ]


def test_a_level_is_refined_once_its_run_is_over(tmp_path: Path) -> None:
    workers = ScriptedWorkers(tmp_path, jobs=2)
    train(tmp_path, workers, levels="1-1,1-2", refine_steps=1000)
    names = [name for name, _ in workers.started]
    assert names == ["1-1", "1-2", "1-1-refined", "1-2-refined"]
    (tmp_path / "other").mkdir()
    campaign = make_campaign(tmp_path / "other", [], levels="1-1,1-2", refine_steps=1000)
    assert campaign.next_step(busy=["1-1"], failed=["1-2"]) is None


def test_a_failing_run_is_reported_and_the_others_continue(tmp_path: Path) -> None:
    workers = ScriptedWorkers(tmp_path, jobs=2, failing=["1-2"])
    with pytest.raises(ScoreboardError, match=r"1 of the campaign's runs failed \(1-2: the ROM"):
        train(tmp_path, workers, rounds=2, generalist=True)
    names = [name for name, _ in workers.started]
    assert sorted(names) == ["1-1", "1-1", "1-2", "1-3", "1-3", "1-4", "1-4"]


def test_runs_that_all_fail_end_the_campaign(tmp_path: Path) -> None:
    workers = ScriptedWorkers(tmp_path, jobs=1, failing=["1-1", "1-2", "1-3", "1-4"])
    with pytest.raises(ScoreboardError, match="3 of the campaign's runs failed"):
        train(tmp_path, workers)


def test_workers_read_what_was_asked_for_from_the_campaign(tmp_path: Path) -> None:
    make_campaign(tmp_path, [], jobs=2, goal=0.75)
    config, options = asked_for(tmp_path)
    assert config == small_config()
    assert (options.levels, options.jobs, options.goal) == ("1-1..1-4", 2, 0.75)


def words(folder: Path, jobs: int, steps: int = 256) -> list[str]:
    asked = ["--levels=1-1,1-2", f"--steps-per-level={steps}", "--episodes=2", f"--jobs={jobs}"]
    return ["campaign", *asked, "--checkpoint-minutes=0.0001", *FLAGS, "-o", str(folder)]


def start(arguments: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *arguments],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )


def wait_for_updates(program: subprocess.Popen[str], folder: Path) -> list[psutil.Process]:
    """Waits until both runs have learned something, and returns the workers."""
    files = [folder / "runs" / level / "metrics.jsonl" for level in ("1-1", "1-2")]
    while program.poll() is None and not all(
        file.exists() and file.stat().st_size for file in files
    ):
        time.sleep(0.05)
    return psutil.Process(program.pid).children(recursive=True)


def test_a_killed_campaign_of_two_workers_resumes_and_equals_one_in_turn(
    tmp_path: Path, rom_path: Path
) -> None:
    parallel, in_turn = tmp_path / "parallel", tmp_path / "in-turn"
    with start(words(parallel, jobs=2)) as program:
        workers = wait_for_updates(program, parallel)
        program.send_signal(signal.SIGKILL)
        program.wait()
    psutil.wait_procs(workers, timeout=120)
    assert not any(worker.is_running() for worker in workers)

    assert cli.main(words(parallel, jobs=2)) == 0
    assert cli.main(words(in_turn, jobs=1)) == 0
    rows, expected = read_board(parallel).rows, read_board(in_turn).rows
    assert sorted(rows) == sorted(expected) == ["1-1", "1-2"]
    for row in rows.values():
        assert row.steps == 256
        weights, same = (
            read_policy_file(folder / row.policy).weights for folder in (parallel, in_turn)
        )
        assert all((weights[name] == same[name]).all() for name in same)
    state = read_state(parallel)
    assert state is not None
    assert {name: task.rounds for name, task in state.tasks.items()} == {"1-1": 1, "1-2": 1}
    assert cli.main(["scoreboard", str(parallel), "--verify"]) == 0


def test_ctrl_c_ends_all_workers_and_everything_is_saved(tmp_path: Path, rom_path: Path) -> None:
    folder = tmp_path / "campaign"
    with start(words(folder, jobs=2, steps=10**9)) as program:
        workers = wait_for_updates(program, folder)
        program.send_signal(signal.SIGINT)
        said = program.stdout.read() if program.stdout else ""
    assert program.returncode == 130
    assert "the same command resumes" in said
    assert not any(worker.is_running() for worker in workers)
    for level in ("1-1", "1-2"):
        assert find_latest(folder / "runs" / level) is not None
