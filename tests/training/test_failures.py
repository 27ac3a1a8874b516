"""Errors in an update: what is saved, and what is reported."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from tiny import UPDATE, tiny
from torch import Tensor

from warpzone.errors import CheckpointError, ConfigError, RunError
from warpzone.models.tree import map_tree
from warpzone.runs import checkpoint
from warpzone.runs.checkpoint_store import CheckpointStore, find_latest, list_checkpoints
from warpzone.runs.directory import RunDirectory
from warpzone.telemetry.heartbeat import last_heartbeat
from warpzone.telemetry.metrics import MetricRow
from warpzone.training import session
from warpzone.training.trainer import Trainer


def break_update(monkeypatch: pytest.MonkeyPatch, error: Exception, at: int = 2) -> None:
    """Makes the learner fail in update `at`, after its rollout."""
    real = Trainer._learn

    def broken(self: Trainer) -> MetricRow:
        if self.updates == at:
            # A new one: what is raised holds on to the frames that it came through.
            raise type(error)(*error.args)
        return real(self)

    monkeypatch.setattr(Trainer, "_learn", broken)


def only_run(folder: Path) -> RunDirectory:
    (path,) = folder.iterdir()
    return RunDirectory(path)


@pytest.mark.parametrize("acting", ["native", "torch"])
def test_an_error_in_an_update_leaves_a_state_to_resume_from(
    tmp_path: Path, rom_path: Path, monkeypatch: pytest.MonkeyPatch, acting: str
) -> None:
    break_update(monkeypatch, ValueError("a bug"))
    with pytest.raises(ValueError, match="a bug"):
        session.start(tiny(tmp_path, updates=5, acting=acting), "quiet")
    run = only_run(tmp_path)
    latest = find_latest(run.path)
    assert latest is not None
    assert checkpoint.read_meta(latest).updates == 2
    assert "a bug; the latest state is saved" in run.log.read_text()
    assert (last_heartbeat(run.heartbeat) or {})["phase"] == "crashed"
    state = checkpoint.load(latest).state
    trainer = Trainer(tiny(tmp_path, acting=acting))
    trainer.load_state_dict(dict(state))
    obs, info = trainer.env.observe()
    saved = map_tree(Tensor.clone, trainer.storage.obs(0))
    trainer.collector.put_first(obs, info["steps"] == 0)
    for name, part in trainer.storage.obs(0).items():
        assert torch.equal(part, saved[name]), "the saved observation is not the present one"
    assert (trainer.storage.first[0].numpy() == (info["steps"] == 0)).all()
    trainer.close()
    monkeypatch.undo()
    session.resume(run.path, tiny(tmp_path, updates=5, acting=acting), display="quiet")
    latest = find_latest(run.path)
    assert latest is not None
    assert checkpoint.read_meta(latest).steps == 5 * UPDATE


@pytest.mark.parametrize(
    "error",
    [
        torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB"),
        MemoryError(),
        RuntimeError(
            "[enforce fail at alloc_cpu.cpp] . DefaultCPUAllocator: can't allocate memory"
        ),
    ],
    ids=["gpu", "python", "cpu"],
)
def test_out_of_memory_is_one_message_and_the_latest_state_is_saved(
    tmp_path: Path, rom_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    break_update(monkeypatch, error)
    with pytest.raises(RunError, match=r"memory ran out .*the latest state is saved; resume with"):
        session.start(tiny(tmp_path, updates=5), "quiet")
    assert find_latest(only_run(tmp_path).path) is not None


def test_gradients_that_stay_unusable_stop_the_run_with_a_snapshot(
    tmp_path: Path, rom_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tiny(tmp_path, updates=9, checkpoint_minutes=1e-9)
    config = replace(config, learn=replace(config.learn, max_skipped_updates=3))
    real = Trainer._learn

    def spoiled(self: Trainer) -> MetricRow:
        if self.updates >= 1:
            self.storage.rewards.fill_(float("nan"))
        return real(self)

    monkeypatch.setattr(Trainer, "_learn", spoiled)
    with pytest.raises(
        RunError, match=r"4 consecutive gradients .*failed-0000000\d\.pt for inspection"
    ):
        session.start(config, "quiet")
    run = only_run(tmp_path)
    (failed,) = run.checkpoints.glob("failed-*.pt")
    meta = checkpoint.load(failed).meta
    assert "consecutive gradients" in meta.extra["failure"]
    assert meta.extra["rollout"]["rewards"]["not_finite"] == UPDATE
    assert json.loads(failed.with_suffix(".json").read_text())["extra"] == meta.extra
    latest = find_latest(run.path)
    assert latest is not None
    assert latest.name.startswith("update-")
    assert failed not in list_checkpoints(run.path)


def test_a_resumed_run_remembers_its_best(tmp_path: Path) -> None:
    store = CheckpointStore(tmp_path)
    assert store.best_clear_rate() == 0.0
    store.save({}, checkpoint.CheckpointMeta(1, 1, extra={"clear_rate": 0.75}), best=True)
    store.save({}, checkpoint.CheckpointMeta(2, 2, extra={"clear_rate": 0.5}))
    assert CheckpointStore(tmp_path).best_clear_rate() == 0.75


def test_the_last_save_is_not_tried_twice(
    tmp_path: Path, rom_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = []

    def refuse(*_: object, **__: object) -> None:
        tries.append(1)
        raise CheckpointError("the disk is full")

    monkeypatch.setattr(CheckpointStore, "save", refuse)
    with pytest.raises(CheckpointError, match="the disk is full"):
        session.start(tiny(tmp_path, updates=3), "quiet")
    assert tries == [1]


def test_advice_of_observers_reaches_log_and_terminal(
    tmp_path: Path, rom_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    class Once:
        def observe(self, row: Mapping[str, object]) -> list[str]:
            return ["look here"] if row["run/updates"] == 1 else []

    run, _ = session.start(tiny(tmp_path), "plain", observers=[Once()])
    assert run.log.read_text().count("[hint] look here") == 1
    assert capsys.readouterr().out.count("[hint] look here") == 1


def test_a_run_that_cannot_be_built_leaves_nothing_behind(tmp_path: Path, rom_path: Path) -> None:
    config = tiny(tmp_path)
    with pytest.raises(ConfigError, match="9-9"):
        session.start(replace(config, env=replace(config.env, level="9-9")), "quiet")
    assert list(tmp_path.iterdir()) == []
