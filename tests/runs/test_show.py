"""`warpzone runs show` says what a checkpoint holds."""

from __future__ import annotations

from pathlib import Path

import pytest
from tiny import UPDATE, tiny

from warpzone import cli
from warpzone.errors import CheckpointError, RunError
from warpzone.runs.directory import RunDirectory
from warpzone.runs.show import checkpoint_lines, look_into
from warpzone.training import session
from warpzone.training.trainer import Trainer


@pytest.fixture
def run(tmp_path: Path, rom_path: Path) -> RunDirectory:
    return session.start(tiny(tmp_path), "quiet")[0]


def test_parameters_are_counted_by_part(run: RunDirectory) -> None:
    content = look_into(run.path)
    trainer = Trainer(tiny())
    real = sum(parameter.numel() for parameter in trainer.model.parameters())
    policy = sum(parameter.numel() for parameter in trainer.model.policy.parameters())
    trainer.close()
    assert sum(content.parameters.values()) == real
    assert content.parameters["policy"] == policy
    assert set(content.parameters) == {"encoder", "policy", "value"}


def test_sizes_add_up_to_about_the_file(run: RunDirectory) -> None:
    content = look_into(run.path)
    assert {"model", "optimizer", "envs", "random"} <= content.sizes.keys()
    inside = sum(content.sizes.values())
    assert 0.5 * content.size < inside <= content.size
    assert content.marks == ("latest",)
    assert not content.compiled


@pytest.mark.parametrize("damage", ["missing", "unreadable"])
def test_a_bad_side_car_is_told_and_made_again(run: RunDirectory, damage: str) -> None:
    sidecar = look_into(run.path).path.with_suffix(".json")
    if damage == "missing":
        sidecar.unlink()
    else:
        sidecar.write_text("{")
    assert look_into(run.path).sidecar == damage
    assert look_into(run.path).sidecar == "whole"


def test_the_command_prints_it_all(run: RunDirectory, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["runs", "show", str(run.path)]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert f"{2 * UPDATE} steps, 2 updates" in text
    for part in ("parameters", "encoder", "compiled no", "torch", "sidecar whole", "[env]"):
        assert part in text, part
    assert 'level = "1-1"' in text


def test_an_unreadable_checkpoint_is_listed_as_such(run: RunDirectory) -> None:
    (run.checkpoints / "update-00000009.pt").write_bytes(b"no checkpoint")
    lines = {line.path.name: line.steps for line in checkpoint_lines(run.path)}
    assert lines["update-00000009.pt"] is None
    assert lines["update-00000002.pt"] == 2 * UPDATE


def test_what_is_no_run_or_has_no_checkpoint_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(RunError, match=r"has no config\.toml"):
        look_into(tmp_path)
    empty = RunDirectory.create(tmp_path, "mario", "")
    with pytest.raises(CheckpointError, match="has no checkpoint yet"):
        look_into(empty.path)
    assert cli.main(["runs", "show", str(tmp_path / "nothing")]) == 2
    assert "is not a run" in capsys.readouterr().err
