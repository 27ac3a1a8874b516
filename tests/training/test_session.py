"""Sessions: messages to the user, and the run's folder."""

from __future__ import annotations

import gc
import os
import signal
import weakref
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from small_disk import refuse_writes
from tiny import UPDATE, tiny

from warpzone import cli
from warpzone.errors import CheckpointError, RunCompleteError, WorkerError
from warpzone.runs.checkpoint import read_meta
from warpzone.runs.checkpoint_store import CheckpointStore, find_latest
from warpzone.runs.directory import RunDirectory
from warpzone.telemetry.reading import read_episodes, read_lines, read_rows
from warpzone.training import session
from warpzone.training.trainer import Trainer


def before_update(
    monkeypatch: pytest.MonkeyPatch, at: int, action: Callable[[Trainer], object]
) -> None:
    real = Trainer.update

    def update(self: Trainer) -> Any:
        if self.updates == at:
            action(self)
        return real(self)

    monkeypatch.setattr(Trainer, "update", update)


# Complete runs.


def test_resuming_a_complete_run_says_so_and_does_nothing(
    tmp_path: Path, rom_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, _ = session.start(tiny(tmp_path, updates=2), "quiet")
    before = run.metrics.read_bytes()
    capsys.readouterr()
    assert cli.main(["train", "--resume", str(run.path)]) == 0
    out = capsys.readouterr().out
    assert f"already complete: {2 * UPDATE} of {2 * UPDATE} steps are done" in out
    assert "use a larger --steps" in out
    assert run.metrics.read_bytes() == before
    assert list(run.videos.iterdir()) == []


def test_a_run_that_reached_its_goal_is_complete(tmp_path: Path, rom_path: Path) -> None:
    run, _ = session.start(tiny(tmp_path, updates=2), "quiet")
    path = find_latest(run.path)
    assert path is not None
    meta = read_meta(path)
    reached = replace(meta, extra={"clear_rate": 0.95, "episodes": 100})
    goal = tiny(tmp_path, updates=9, stop_at_clear_rate=0.9)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warpzone.training.completion.read_meta", lambda _: reached)
        with pytest.raises(RunCompleteError, match="95% reaches the goal of 90%"):
            session.resume(run.path, goal, display="quiet")


# What the terminal shows.


def test_the_end_of_a_session_names_result_place_and_next_command(
    tmp_path: Path, rom_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = "--obs tiles --num-envs 4 --num-threads 1 --rollout-steps 8 --minibatch-size 16"
    flags += " --hidden 16 --device cpu --torch-threads 1 --display plain --no-video --steps 100"
    assert cli.main(["train", "--runs", str(tmp_path), *flags.split()]) == 0
    *_, progress, end, following = capsys.readouterr().out.splitlines()
    run = tmp_path / "mario-1-1"
    assert "128/100 steps 100%" in progress
    assert end.startswith("finished: clear rate ")
    assert "128 steps and 4 updates in 0:" in end
    assert end.endswith(f"all files are in {run}")
    assert following == f"evaluate with: warpzone eval {run}"


def test_the_terminal_shows_the_mean_return(
    tmp_path: Path, rom_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tiny(tmp_path, updates=3)
    session.start(replace(config, env=replace(config.env, max_steps=5)), "plain")
    last = [line for line in capsys.readouterr().out.splitlines() if "steps 100%" in line][-1]
    assert "return -  " not in last


def test_a_damaged_newest_checkpoint_is_reported_on_the_terminal(
    tmp_path: Path, rom_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, _ = session.start(tiny(tmp_path, updates=2, checkpoint_minutes=1e-9), "quiet")
    newest = find_latest(run.path)
    assert newest is not None
    newest.write_bytes(newest.read_bytes()[:-100])
    capsys.readouterr()
    session.resume(run.path, tiny(tmp_path, updates=3), display="quiet")
    out = capsys.readouterr().out
    assert f"skipped a damaged checkpoint: {newest}" in out
    assert "resuming from update-00000001.pt instead" in out


# The run's folder.


@pytest.mark.parametrize("at", [1, 2])
def test_a_run_folder_deleted_during_training_comes_back_resumable(
    tmp_path: Path,
    rom_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    at: int,
) -> None:
    run = RunDirectory(tmp_path / "mario-1-1")
    # In one step: threads of the run write into the folder while it is emptied.
    before_update(monkeypatch, at, lambda _: run.path.rename(tmp_path / "deleted"))
    session.start(tiny(tmp_path, updates=3), "quiet")
    assert f"{run.path} was deleted during training" in capsys.readouterr().out
    assert run.config.is_file()
    session.resume(run.path, tiny(tmp_path, updates=4), display="quiet")
    assert read_rows(run.metrics)[-1]["run/updates"] == 4


def test_logs_of_workers_and_their_replacements_are_in_the_run(
    tmp_path: Path, rom_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def kill_a_worker(trainer: Trainer) -> None:
        os.kill(trainer.env._env.processes[0].pid, signal.SIGKILL)

    before_update(monkeypatch, 1, kill_a_worker)
    config = tiny(tmp_path, updates=3)
    run, _ = session.start(
        replace(config, env=replace(config.env, vector="async", num_envs=2)), "quiet"
    )
    assert (run.workers / "worker-0.jsonl").is_file()
    (line,) = [line for line in run.log.read_text().splitlines() if "replaced" in line]
    assert "[env] warning: worker 0 was killed by SIGKILL" in line


def test_a_start_that_fails_in_a_worker_keeps_only_its_logs(
    tmp_path: Path, rom_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: Trainer, config: object, *, worker_logs: Path, **_: object) -> None:
        worker_logs.mkdir()
        (worker_logs / "worker-0.jsonl").write_text("{}\n")
        raise WorkerError("worker 0 failed")

    monkeypatch.setattr(Trainer, "__init__", fail)
    with pytest.raises(WorkerError):
        session.start(tiny(tmp_path), "quiet")
    (run,) = tmp_path.iterdir()
    assert [path.name for path in run.iterdir()] == ["workers"]


# Episodes, errors, memory.


def test_episodes_repeated_by_a_resumed_run_are_distinguishable(
    tmp_path: Path, rom_path: Path
) -> None:
    config = tiny(tmp_path, updates=4, checkpoint_minutes=1e-9, keep_checkpoints=9)
    config = replace(config, env=replace(config.env, max_steps=5))
    run, _ = session.start(config, "quiet")
    once = [(row["update"], row["env"], row["steps"]) for row in read_lines(run.episodes)]
    session.resume(run.checkpoints / "update-00000002.pt", config, display="quiet")
    everything = list(read_lines(run.episodes))
    assert len(everything) > len(once)
    assert {row["session"] for row in everything} == {1, 2}
    kept = [(row["update"], row["env"], row["steps"]) for row in read_episodes(run.episodes)]
    assert kept == once


def test_the_traceback_of_a_collecting_thread_is_in_the_log(
    tmp_path: Path, rom_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ValueError("a bug in the environment")

    def fail_later(trainer: Trainer) -> None:
        monkeypatch.setattr(trainer.starts, "observe", broken)

    before_update(monkeypatch, 1, fail_later)
    with pytest.raises(ValueError, match="a bug in the environment"):
        session.start(tiny(tmp_path, updates=9, overlap=True), "quiet")
    log = (tmp_path / "mario-1-1" / "log.txt").read_text()
    assert "native_rollouts.py" in log
    assert "in collect" in log
    assert "ValueError: a bug in the environment" in log


def test_failed_saves_keep_no_state_alive(
    tmp_path: Path, rom_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    states: list[weakref.ref[torch.Tensor]] = []
    real = Trainer.state_dict

    def state_dict(self: Trainer) -> dict[str, Any]:
        assert all(state() is None for state in states), "an earlier state is still in memory"
        large = torch.zeros(100_000)
        states.append(weakref.ref(large))
        return real(self) | {"large": large}

    monkeypatch.setattr(Trainer, "state_dict", state_dict)
    faults: list[Callable[[], None]] = []
    before_update(monkeypatch, 1, lambda _: faults.append(refuse_writes(monkeypatch)))
    before_update(monkeypatch, 4, lambda _: faults.pop()())
    gc.disable()  # What only the garbage collector finds stays for hours in a large process.
    try:
        session.start(tiny(tmp_path, updates=5, checkpoint_minutes=1e-9), "quiet")
    finally:
        gc.enable()
    assert len(states) >= 5


def test_a_failed_save_does_not_raise_the_best_mark(
    tmp_path: Path, rom_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("warpzone.training.saving.ENOUGH_EPISODES", 0)
    monkeypatch.setattr(Trainer, "success", 0.5)
    marks: list[bool] = []
    real = CheckpointStore.save

    def save(self: CheckpointStore, *arguments: Any, best: bool) -> Path:
        marks.append(best)
        if len(marks) == 1:
            raise CheckpointError("the disk is full")
        return real(self, *arguments, best=best)

    monkeypatch.setattr(CheckpointStore, "save", save)
    session.start(tiny(tmp_path, updates=3, checkpoint_minutes=1e-9), "quiet")
    assert marks == [True, True, False]


def test_the_first_update_of_a_warm_up_learns(tmp_path: Path, rom_path: Path) -> None:
    config = tiny(tmp_path, updates=4)
    config = replace(config, learn=replace(config.learn, lr_warmup=0.5))
    run, _ = session.start(config, "quiet")
    rates = [row["learn/learning_rate"] for row in read_rows(run.metrics)]
    full = config.learn.learning_rate
    assert rates[:2] == pytest.approx([full / 2, full])
