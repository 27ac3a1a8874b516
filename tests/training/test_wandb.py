"""The Weights & Biases sink, with a fake wandb module that records calls."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from tiny import UPDATE, tiny

from warpzone.errors import ConfigError
from warpzone.training.session import resume, start


class FakeWandb(ModuleType):
    """Fake wandb module that records runs and rows."""

    def __init__(self) -> None:
        super().__init__("wandb")
        self.errors = SimpleNamespace(Error=type("Error", (Exception,), {}))
        self.runs: list[dict[str, Any]] = []
        self.rows: list[tuple[int, dict[str, Any]]] = []
        self.finished = 0

    def init(self, **options: Any) -> FakeWandb:
        self.runs.append(options)
        return self

    def log(self, row: dict[str, Any], step: int) -> None:
        self.rows.append((step, row))

    def finish(self) -> None:
        self.finished += 1


@pytest.fixture
def wandb(monkeypatch: pytest.MonkeyPatch) -> FakeWandb:
    fake = FakeWandb()
    monkeypatch.setitem(sys.modules, "wandb", fake)
    return fake


def test_rows_and_configuration_are_sent_and_a_resumed_run_continues_its_own(
    wandb: FakeWandb, tmp_path: Path
) -> None:
    run, _ = start(tiny(tmp_path, updates=2, name="here", wandb="project"), "quiet")
    resume(run.path, tiny(tmp_path, updates=3, name="here", wandb="project"), display="quiet")
    assert [(one["project"], one["id"], one["resume"]) for one in wandb.runs] == [
        ("project", "here", "allow"),
        ("project", "here", "allow"),
    ]
    assert wandb.runs[0]["config"]["env"]["obs"] == "tiles"
    assert [step for step, _ in wandb.rows] == [UPDATE, 2 * UPDATE, 3 * UPDATE]
    assert "loss/policy" in wandb.rows[0][1]
    assert all(isinstance(value, int | float) for value in wandb.rows[0][1].values())
    assert wandb.finished == 2


def test_an_error_of_wandb_is_one_sentence(
    wandb: FakeWandb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_: Any) -> None:
        raise wandb.errors.Error("no API key")

    monkeypatch.setattr(wandb, "init", refuse)
    with pytest.raises(ConfigError, match="wandb failed to start: no API key"):
        start(tiny(tmp_path, wandb="project"), "quiet")


def test_without_wandb_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(ConfigError, match="wandb is not installed; run `pip install wandb`"):
        start(tiny(tmp_path / "runs", wandb="project"), "quiet")
    assert list(tmp_path.iterdir()) == []
