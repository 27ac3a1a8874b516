"""Steering: tiny real runs that receive commands between updates."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from tiny import UPDATE, tiny

from warpzone.config import TrainConfig
from warpzone.runs import checkpoint
from warpzone.runs.checkpoint_store import find_latest
from warpzone.runs.directory import RunDirectory
from warpzone.runs.listing import summarize_run
from warpzone.runs.saved_config import saved_config
from warpzone.runs.steering import SteeringCommand, read_steering, send_command
from warpzone.system.background_process import BackgroundProcess
from warpzone.telemetry.reading import read_rows
from warpzone.training import session
from warpzone.training.trainer import Trainer

RATE = "learn.learning_rate"


def send(run: RunDirectory, action: Any, **changes: str) -> None:
    named = {name.replace("__", "."): text for name, text in changes.items()}
    send_command(run, SteeringCommand(action, "tester", named))


def train(
    config: TrainConfig, script: dict[int, Callable[[RunDirectory], object]], **options: Any
) -> RunDirectory:
    """Trains, and calls the script between updates with the number of updates so far."""
    run = RunDirectory(Path(config.run.runs) / "mario-1-1")

    def until(trainer: Trainer) -> bool:
        step = script.pop(trainer.updates, None)
        return step is not None and step(run) is True

    return session.start(config, "quiet", until=until, **options)[0]


def weights(run: RunDirectory) -> dict[str, torch.Tensor]:
    path = find_latest(run.path)
    assert path is not None
    found: dict[str, torch.Tensor] = checkpoint.load(path).state["model"]
    return found


def test_a_changed_option_counts_from_the_next_update_and_is_logged(tmp_path: Path) -> None:
    run = train(
        tiny(tmp_path, updates=6), {2: lambda run: send(run, "set", learn__learning_rate="3e-4")}
    )
    rates = [row["learn/learning_rate"] for row in read_rows(run.metrics)]
    # Sent after two updates, taken after the third.
    assert rates == pytest.approx([1e-3] * 3 + [3e-4] * 3)
    (row,) = read_steering(run)
    assert row["changes"] == {RATE: [1e-3, 3e-4]}
    assert (row["who"], row["action"], row["update"], row["error"]) == ("tester", "set", 3, None)
    assert row["steps"] == 3 * UPDATE
    assert "tester changed learn.learning_rate from 0.001 to 0.0003" in run.log.read_text()
    assert saved_config(run.path).learn.learning_rate == 3e-4
    assert not list(run.commands.iterdir())


def test_a_steered_run_that_was_resumed_equals_one_that_was_not(tmp_path: Path) -> None:
    def change(run: RunDirectory) -> None:
        send(run, "set", learn__learning_rate="5e-3", reward__time="0.5", learn__clip_coef="0.05")

    config = tiny(tmp_path / "whole", updates=8)
    whole = train(config, {2: change})
    halves = replace(config, run=replace(config.run, runs=str(tmp_path / "halves")))
    first = train(halves, {2: change, 5: lambda run: True})
    session.resume(first.path, saved_config(first.path), display="quiet")
    unsteered = train(replace(config, run=replace(config.run, runs=str(tmp_path / "plain"))), {})
    for name, value in weights(whole).items():
        assert torch.equal(value, weights(first)[name]), name
    assert any(not torch.equal(v, weights(unsteered)[n]) for n, v in weights(whole).items())


def test_a_change_is_saved_at_once_so_that_a_kill_does_not_lose_it(tmp_path: Path) -> None:
    def kill(run: RunDirectory) -> None:
        raise KeyboardInterrupt  # Ends without a further checkpoint, as a kill does.

    config = tiny(tmp_path, updates=8, checkpoint_minutes=1000.0)
    script = {2: lambda run: send(run, "set", learn__ent_coef="0.5"), 5: kill}
    with pytest.raises(KeyboardInterrupt):
        train(config, script)
    run = RunDirectory(tmp_path / "mario-1-1")
    path = find_latest(run.path)
    assert path is not None
    meta = checkpoint.read_meta(path)
    assert meta.updates == 3
    assert meta.config["learn"]["ent_coef"] == 0.5
    session.resume(run.path, saved_config(run.path), display="quiet")
    assert summarize_run(run.path).updates == 8


def test_reward_weights_change_for_the_next_rollout(tmp_path: Path) -> None:
    def look(trainer: Trainer) -> bool:
        seen.append(trainer.env.reward_weights()["time"])
        if trainer.updates == 1:
            send(RunDirectory(tmp_path / "mario-1-1"), "set", reward__time="7")
        return False

    seen: list[Any] = []
    session.start(tiny(tmp_path, updates=4), "quiet", until=look)
    assert seen == pytest.approx([0.003, 0.003, 7.0, 7.0])


@pytest.mark.parametrize("overlap", [False, True])
def test_steering_works_while_the_next_rollout_is_collected(tmp_path: Path, overlap: bool) -> None:
    config = tiny(tmp_path, updates=5, overlap=overlap)
    run = train(config, {1: lambda run: send(run, "set", reward__coin="2")})
    (row,) = read_steering(run)
    assert row["changes"] == {"reward.coin": [0.0, 2.0]}


def test_a_value_that_does_not_fit_is_refused_by_the_run_which_continues(tmp_path: Path) -> None:
    def forge(run: RunDirectory) -> None:
        send(run, "set", model__hidden="8")
        send(run, "set", learn__learning_rate="-1")
        (run.commands / "garbage.json").write_text("garbage")

    run = train(tiny(tmp_path, updates=5), {1: forge})
    errors = {row["command"]: row["error"] for row in read_steering(run)}
    assert len(errors) == 3
    assert all(errors.values())
    assert summarize_run(run.path).updates == 5
    assert saved_config(run.path).learn.learning_rate == 1e-3


def test_more_steps_keep_a_run_going_that_was_about_to_end(tmp_path: Path) -> None:
    run = train(
        tiny(tmp_path, updates=3), {2: lambda run: send(run, "set", run__steps=str(6 * UPDATE))}
    )
    assert summarize_run(run.path).updates == 6


def test_a_run_pauses_says_so_and_resumes(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path / "mario-1-1")
    seen: list[str] = []

    def help_out() -> None:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and "paused" not in seen:
            seen.append(summarize_run(run.path).state)
            time.sleep(0.05)
        updates.append(trainer_updates[-1])
        send(run, "resume")

    def pause(run: RunDirectory) -> None:
        send(run, "pause")
        helper.start()

    trainer_updates: list[int] = []
    updates: list[int] = []
    helper = threading.Thread(target=help_out)

    def until(trainer: Trainer) -> bool:
        trainer_updates.append(trainer.updates)
        if trainer.updates == 2:
            pause(run)
        return False

    session.start(tiny(tmp_path, updates=6), "quiet", until=until)
    helper.join()
    assert "paused" in seen
    assert updates == [2]  # Nothing was learned between the pause and its end.
    assert [row["action"] for row in read_steering(run)] == ["pause", "resume"]
    assert summarize_run(run.path).updates == 6


def test_stop_ends_a_run_with_everything_saved(tmp_path: Path) -> None:
    run = train(tiny(tmp_path, updates=50), {2: lambda run: send(run, "stop")})
    assert summarize_run(run.path).state == "interrupted"
    assert summarize_run(run.path).updates == 3
    path = find_latest(run.path)
    assert path is not None
    assert checkpoint.read_meta(path).updates == 3


def test_save_and_record_write_a_checkpoint_now(tmp_path: Path) -> None:
    recorded: list[Path] = []
    script = {1: lambda run: send(run, "save"), 3: lambda run: send(run, "record")}
    config = tiny(tmp_path, updates=6, checkpoint_minutes=1000.0, keep_checkpoints=10)
    run = train(config, script, record=lambda path, output: recorded.append(path))
    assert [row["action"] for row in read_steering(run)] == ["save", "record"]
    assert read_steering(run)[0]["checkpoint"] == "update-00000002.pt"
    assert [path.name for path in recorded] == ["update-00000004.pt"]


def test_a_run_without_a_recorder_refuses_to_record(tmp_path: Path) -> None:
    run = train(tiny(tmp_path, updates=4), {1: lambda run: send(run, "record")})
    (row,) = read_steering(run)
    assert "without a video recorder" in row["error"]


def test_what_an_earlier_session_left_is_dropped_except_changes(tmp_path: Path) -> None:
    def leave(run: RunDirectory) -> bool:
        send(run, "stop")
        send(run, "set", learn__ent_coef="0.25")
        return True  # Ends the session before the next look.

    config = tiny(tmp_path, updates=6)
    run = train(config, {2: leave})
    session.resume(run.path, config, display="quiet")
    assert summarize_run(run.path).state == "finished"
    stop, change = read_steering(run)
    assert "has ended" in stop["error"]
    assert (change["update"], change["changes"]) == (2, {"learn.ent_coef": [0.01, 0.25]})


def two_levels(runs: Path, updates: int, order: str = "curriculum") -> TrainConfig:
    config = tiny(runs, updates=updates, name="mario-1-1")
    env = replace(config.env, level="1-1,1-2", level_order=order, max_steps=6)  # type: ignore[arg-type]
    return replace(config, env=env)


def levels_of(run: RunDirectory, after: int) -> set[str]:
    rows = [json.loads(line) for line in run.episodes.read_text().splitlines()]
    return {row["level"] for row in rows if row["steps"] > after * UPDATE}


@pytest.mark.parametrize("order", ["curriculum", "random"])
def test_a_level_share_changes_which_levels_are_played(tmp_path: Path, order: str) -> None:
    share = {"level-share:1-1": "0"}
    script = {2: lambda run: send_command(run, SteeringCommand("set", "tester", share))}
    run = train(two_levels(tmp_path, 16, order), script)
    (row,) = read_steering(run)
    assert row["changes"] == {"level-share:1-1": [1.0, 0.0]}
    assert saved_config(run.path).env.level_shares == "1-1=0"
    # Episodes that were queued before the change keep their level.
    assert levels_of(run, after=6) == {"1-2"}


def test_a_run_with_steered_level_shares_resumes_exactly(tmp_path: Path) -> None:
    def change(run: RunDirectory) -> None:
        send_command(run, SteeringCommand("set", "tester", {"level-share:1-2": "5"}))

    whole = train(two_levels(tmp_path / "whole", 10), {2: change})
    first = train(two_levels(tmp_path / "halves", 10), {2: change, 5: lambda run: True})
    session.resume(first.path, saved_config(first.path), display="quiet")
    for name, value in weights(whole).items():
        assert torch.equal(value, weights(first)[name]), name


def test_a_run_with_a_fixed_level_refuses_level_shares(tmp_path: Path) -> None:
    share = {"level-share:1-1": "2"}
    script = {1: lambda run: send_command(run, SteeringCommand("set", "tester", share))}
    run = train(tiny(tmp_path, updates=4), script)
    (row,) = read_steering(run)
    assert "level shares do not apply" in row["error"]


def test_an_evaluation_runs_in_another_process_and_is_logged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wait(run: RunDirectory) -> None:
        process = started.pop()
        process._process.wait(120)  # Timing must not decide: the result is there before the end.

    def start(self: BackgroundProcess, arguments: list[str]) -> None:
        original(self, arguments)
        started.append(self)

    started: list[Any] = []
    original = BackgroundProcess.start
    monkeypatch.setattr(BackgroundProcess, "start", start)
    run = train(tiny(tmp_path, updates=5), {1: lambda run: send(run, "evaluate"), 3: wait})
    (command,) = read_steering(run)
    assert (command["action"], command["checkpoint"]) == ("evaluate", "update-00000002.pt")
    (row,) = [json.loads(line) for line in run.evaluations.read_text().splitlines()]
    assert (row["update"], row["steps"], row["who"]) == (2, 2 * UPDATE, "tester")
    assert row["error"] is None, row
    assert row["levels"][0]["level"] == "1-1"
    assert "evaluation of update-00000002.pt: 1-1 cleared in" in run.log.read_text()


def test_an_evaluation_ends_with_its_run_and_says_so(tmp_path: Path) -> None:
    run = train(tiny(tmp_path, updates=3), {1: lambda run: send(run, "evaluate")})
    (row,) = [json.loads(line) for line in run.evaluations.read_text().splitlines()]
    assert row["error"] == "the run ended first"
    assert row["levels"] == []
