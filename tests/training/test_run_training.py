"""One run of a campaign: started, ended early, and resumed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from small_campaign import small_config

from warpzone.campaign.ending import Ending
from warpzone.campaign.plan import Budget
from warpzone.runs.checkpoint import read_meta
from warpzone.runs.checkpoint_store import find_latest
from warpzone.telemetry.reading import read_lines
from warpzone.training.session import RunTraining
from warpzone.training.trainer import Trainer


class AfterOne(Ending):
    """Ends every session after one update of its own."""

    def __init__(self) -> None:
        super().__init__(("1-1",), 0.9, Budget(1000, 0.0), 0)
        self._first: int | None = None

    def __call__(self, trainer: Trainer) -> bool:
        self._first = trainer.updates if self._first is None else self._first
        return trainer.updates > self._first


def steps_of(run: Path) -> int:
    latest = find_latest(run)
    assert latest is not None
    return read_meta(latest).steps


def test_a_run_resumes_where_it_ended(tmp_path: Path, rom_path: Path) -> None:
    train, run = RunTraining("quiet"), tmp_path / "1-1"
    config = small_config(tmp_path, name="1-1")
    assert not train(run, config, AfterOne())
    assert steps_of(run) == 32
    # What a campaign changes from round to round, or memory did at the start, is no hindrance.
    longer = replace(config, run=replace(config.run, steps=128))
    assert not train(run, replace(longer, env=replace(longer.env, num_envs=5)), AfterOne())
    assert steps_of(run) == 64
    assert not train(run, longer, Ending(("1-1",), 0.9, Budget(128, 0.0), 0))
    assert steps_of(run) == 128
    assert [row["run/session"] for row in read_lines(run / "metrics.jsonl")] == [1, 2, 3, 3]
    assert [path.name for path in tmp_path.iterdir()] == ["1-1"]
