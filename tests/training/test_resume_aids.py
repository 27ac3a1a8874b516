"""Exact resume with replay, guidance and curriculum, and overlap independent of timing."""

from __future__ import annotations

import logging
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from tiny import NUM_ENVS, STEPS, UPDATE, tiny

from warpzone.config import (
    AdaptiveOptions,
    ReplayOptions,
    RescueOptions,
    ScriptOptions,
    TrainConfig,
)
from warpzone.errors import CheckpointError
from warpzone.runs import checkpoint
from warpzone.runs.checkpoint_store import CheckpointStore, list_checkpoints
from warpzone.telemetry.reading import read_rows
from warpzone.training import session
from warpzone.training.guidance import rescue
from warpzone.training.trainer import Trainer

REPLAY = ReplayOptions(capacity=3 * UPDATE, learning_starts=UPDATE, batch_size=16, batches=2)


def made(**changes: Any) -> TrainConfig:
    """Returns the tiny configuration with options of any table: `learn_algo="vtrace"`."""
    config = tiny(updates=20)
    for name, value in changes.items():
        table, _, option = name.partition("_")
        options = value if not option else replace(getattr(config, table), **{option: value})
        config = replace(config, **{table: options})  # type: ignore[arg-type]
    return config


def weights(trainer: Trainer) -> torch.Tensor:
    return torch.cat([p.detach().flatten().clone() for p in trainer.model.parameters()])


CONFIGS = {
    "overlap": made(run_overlap=True),
    "overlap-lstm-vtrace-noisy": made(
        run_overlap=True,
        model_memory="lstm",
        model_memory_size=8,
        model_heads="noisy",
        learn_algo="vtrace",
    ),
    "replay": made(replay=REPLAY),
    "replay-overlap-pixels": made(replay=REPLAY, run_overlap=True, env_obs="pixels"),
    "guided": made(
        script=ScriptOptions("RIGHT+B:48", episodes=2),
        rescue=RescueOptions(after=2, frames=40, cool_down=1),
        adaptive=AdaptiveOptions(enabled=True, thresholds=(0.9, 1.0), cool_down=0),
        run_overlap=True,
    ),
}


@pytest.mark.parametrize("name", CONFIGS)
def test_a_resumed_trainer_equals_an_uninterrupted_one(
    tmp_path: Path, rom_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rescue, "STUCK_PIXELS", 1e6)  # Every rollout counts as stuck.
    config = CONFIGS[name]
    unbroken = Trainer(config)
    unbroken.begin()
    for _ in range(4):
        unbroken.update()
    path = checkpoint.save(tmp_path, "mid", unbroken.state_dict(), checkpoint.CheckpointMeta(0, 4))
    expected = [unbroken.update() for _ in range(4)]

    resumed = Trainer(replace(config, run=replace(config.run, seed=99)))
    resumed.load_state_dict(dict(checkpoint.load(path).state))
    rows = [resumed.update() for _ in range(4)]

    assert torch.equal(weights(unbroken), weights(resumed))
    assert unbroken.steps == resumed.steps == 8 * UPDATE
    for trainer in (unbroken, resumed):
        trainer.source.wait()
    assert (unbroken.env.ram() == resumed.env.ram()).all()
    for row, other in zip(expected, rows, strict=True):
        same = {
            n for n in row if not n.startswith(("speed/", "replay/sample")) and "seconds" not in n
        }
        assert {n: row[n] for n in same} == {n: other[n] for n in same}
    unbroken.close()
    resumed.close()


@pytest.mark.parametrize("name", ["overlap", "overlap-lstm-vtrace-noisy"])
def test_overlapped_training_does_not_depend_on_timing(rom_path: Path, name: str) -> None:
    results = []
    for delay in (0.0, 0.004):
        trainer = Trainer(CONFIGS[name], observers=[lambda *_, delay=delay: time.sleep(delay)])
        trainer.begin()
        rows = [trainer.update() for _ in range(4)]
        assert [row["learn/policy_lag"] for row in rows] == [0, 1, 1, 1]
        results.append((weights(trainer), trainer.statistics.state_dict()["cleared"]))
        trainer.close()
    assert torch.equal(results[0][0], results[1][0])
    assert results[0][1] == results[1][1]


@pytest.mark.parametrize("interval", [1, 3])
def test_every_update_adds_its_rollout_whatever_the_interval(rom_path: Path, interval: int) -> None:
    trainer = Trainer(made(replay=replace(REPLAY, interval=interval)))
    trainer.begin()
    learned = 0
    for update in range(1, 7):
        row = trainer.update()
        assert row["replay/pushed"] == update * STEPS * NUM_ENVS
        learned += "loss/imitation_policy" in row
    assert learned == (6 if interval == 1 else 2)
    trainer.close()


def test_replay_that_is_not_saved_starts_empty_with_a_warning(
    rom_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    config = made(replay=replace(REPLAY, save=False))
    trainer = Trainer(config)
    trainer.begin()
    trainer.update()
    state = trainer.state_dict()
    again = Trainer(config)
    with caplog.at_level(logging.WARNING, "warpzone"):
        again.load_state_dict(state)
    assert again.replay is not None
    assert len(again.replay.buffer) == 0
    assert "does not resume exactly where it left off" in caplog.text
    trainer.close()
    again.close()


def test_a_serial_run_resumes_from_an_overlapped_checkpoint_and_back(rom_path: Path) -> None:
    overlapped = Trainer(CONFIGS["overlap"])
    overlapped.begin()
    overlapped.update()
    serial = Trainer(made())
    serial.load_state_dict(overlapped.state_dict())
    serial.update()
    back = Trainer(CONFIGS["overlap"])
    back.load_state_dict(serial.state_dict())
    assert back.update()["learn/policy_lag"] == 0
    for trainer in (overlapped, serial, back):
        trainer.close()


def test_sessions_count_up_even_from_an_earlier_checkpoint(tmp_path: Path, rom_path: Path) -> None:
    """Rows of the new session then replace those of the lost steps."""
    run, _ = session.start(tiny(tmp_path, updates=2, keep_checkpoints=9), "quiet")
    for updates in (3, 4):
        session.resume(
            run.path, tiny(tmp_path, updates=updates, keep_checkpoints=9), display="quiet"
        )
    newest, older, oldest = list_checkpoints(run.path)
    for path in (newest, older):
        path.write_bytes(b"damaged")
    session.resume(run.path, tiny(tmp_path, updates=5, keep_checkpoints=9), display="quiet")
    rows = read_rows(run.metrics)
    assert [row["run/updates"] for row in rows] == [1, 2, 3, 4, 5]
    assert [row["run/session"] for row in rows] == [1, 1, 4, 4, 4]
    assert run.log.read_text().count("skipped a damaged checkpoint") == 2
    assert oldest.exists()


def test_a_temporarily_full_disk_costs_only_a_checkpoint(
    tmp_path: Path, rom_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, saves = CheckpointStore.save, []

    def save(self: CheckpointStore, *arguments: Any, **options: Any) -> Path:
        saves.append(arguments)
        if len(saves) in (2, 3, 4):
            raise CheckpointError("the disk is full")
        return real(self, *arguments, **options)

    monkeypatch.setattr(CheckpointStore, "save", save)
    config = tiny(tmp_path, updates=7, checkpoint_minutes=1e-9)
    run, _ = session.start(config, "quiet")
    assert len(saves) == 7
    assert (
        run.log.read_text().count("the disk is full; training continues and saving is retried") == 3
    )
    assert len(read_rows(run.metrics)) == 7


def test_a_disk_that_stays_full_stops_the_run(
    tmp_path: Path, rom_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def save(*_: Any, **__: Any) -> Path:
        raise CheckpointError("the disk is full")

    monkeypatch.setattr(CheckpointStore, "save", save)
    with pytest.raises(CheckpointError, match="the disk is full"):
        session.start(tiny(tmp_path, updates=100, checkpoint_minutes=1e-9), "quiet")
