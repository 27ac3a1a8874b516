"""However a run ends, its metrics end with the last update, and all views agree."""

from __future__ import annotations

import math
import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from small_disk import refuse_writes
from tiny import UPDATE, tiny

from warpzone import cli
from warpzone.errors import RunError
from warpzone.report.run_report import report_run
from warpzone.runs.checkpoint import load, read_meta
from warpzone.runs.checkpoint_store import find_latest
from warpzone.runs.directory import RunDirectory
from warpzone.runs.listing import summarize_run
from warpzone.telemetry.heartbeat import last_heartbeat
from warpzone.telemetry.metrics import MetricRow
from warpzone.telemetry.reading import read_rows
from warpzone.training import session
from warpzone.training.trainer import Trainer

LOG_EVERY = 10  # Divides none of the numbers of updates below.


def before_update(
    monkeypatch: pytest.MonkeyPatch, at: int, action: Callable[[Trainer], object]
) -> None:
    """Calls a function before the update with the given number, counted from 0."""
    real = Trainer.update

    def update(self: Trainer) -> Any:
        if self.updates == at:
            action(self)
        return real(self)

    monkeypatch.setattr(Trainer, "update", update)


def assert_views_agree(
    run: RunDirectory, updates: int, capsys: pytest.CaptureFixture[str], *, saved: bool = True
) -> None:
    rows = read_rows(run.metrics)
    assert (rows[-1]["run/updates"], rows[-1]["run/steps"]) == (updates, updates * UPDATE)
    heartbeat = last_heartbeat(run.heartbeat)
    assert heartbeat is not None
    assert (heartbeat["update"], heartbeat["steps"]) == (updates, updates * UPDATE)
    summary = summarize_run(run.path)
    assert (summary.updates, summary.steps) == (updates, updates * UPDATE)
    assert f"{updates * UPDATE:,} of" in report_run(run.path, videos=False)
    capsys.readouterr()
    assert cli.main(["runs", "list", str(run.path)]) == 0
    assert f" {updates * UPDATE:,} " in capsys.readouterr().out
    if saved:
        latest = find_latest(run.path)
        assert latest is not None
        assert read_meta(latest).updates == updates
        assert cli.main(["runs", "show", str(run.path)]) == 0
        out = capsys.readouterr().out
        assert out.count(f"{updates * UPDATE:,} steps, {updates:,} updates") == 2


def only_run(folder: Path) -> RunDirectory:
    (path,) = folder.iterdir()
    return RunDirectory(path)


def test_a_finished_run_that_log_every_does_not_divide(
    tmp_path: Path, rom_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, stop = session.start(tiny(tmp_path, updates=3, log_every=LOG_EVERY), "plain")
    assert not stop
    out = capsys.readouterr().out
    assert f"{3 * UPDATE}/{3 * UPDATE} steps 100%" in out
    assert_views_agree(run, 3, capsys)
    assert summarize_run(run.path).state == "finished"


def test_a_run_that_reached_its_goal(
    tmp_path: Path, rom_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, _ = session.start(
        tiny(tmp_path, updates=9, log_every=LOG_EVERY),
        "quiet",
        until=lambda trainer: trainer.updates == 2,
    )
    assert_views_agree(run, 2, capsys)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_run_that_was_stopped_by_a_signal(
    tmp_path: Path,
    rom_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    number: signal.Signals,
) -> None:
    before_update(monkeypatch, 2, lambda _: os.kill(os.getpid(), number))
    run, stop = session.start(tiny(tmp_path, updates=9, log_every=LOG_EVERY), "quiet")
    assert stop.exit_code == 128 + number
    assert_views_agree(run, 3, capsys)
    assert summarize_run(run.path).state == "interrupted"


def test_the_second_ctrl_c_loses_the_checkpoint_but_not_the_metrics(
    tmp_path: Path,
    rom_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def interrupt_twice(_: Trainer) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)

    before_update(monkeypatch, 2, interrupt_twice)
    with pytest.raises(KeyboardInterrupt):
        session.start(tiny(tmp_path, updates=9, log_every=LOG_EVERY), "quiet")
    assert_views_agree(only_run(tmp_path), 2, capsys, saved=False)


def test_a_run_that_an_error_ended(
    tmp_path: Path,
    rom_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(_: Trainer) -> None:
        raise ValueError("a bug")

    before_update(monkeypatch, 2, fail)
    with pytest.raises(ValueError, match="a bug"):
        session.start(tiny(tmp_path, updates=9, log_every=LOG_EVERY), "quiet")
    run = only_run(tmp_path)
    assert f"ended by an error after {2 * UPDATE} steps" in capsys.readouterr().out
    assert_views_agree(run, 2, capsys)
    assert summarize_run(run.path).state == "crashed"


@pytest.mark.parametrize("good_updates", [0, 2])
def test_a_run_that_nan_ended_has_metrics_and_a_report(
    tmp_path: Path,
    rom_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    good_updates: int,
) -> None:
    real = Trainer._learn

    def spoiled(self: Trainer) -> MetricRow:
        if self.updates >= good_updates:
            self.storage.rewards.fill_(math.nan)
        return real(self)

    monkeypatch.setattr(Trainer, "_learn", spoiled)
    config = tiny(tmp_path, updates=9, log_every=LOG_EVERY)
    config = replace(config, learn=replace(config.learn, max_skipped_updates=3))
    with pytest.raises(RunError, match="consecutive gradients"):
        session.start(config, "quiet")
    assert_views_agree(only_run(tmp_path), good_updates, capsys, saved=False)


def test_a_run_whose_disk_was_full_for_a_while(
    tmp_path: Path,
    rom_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    faults: list[Callable[[], None]] = []
    before_update(monkeypatch, 2, lambda _: faults.append(refuse_writes(monkeypatch)))
    before_update(monkeypatch, 4, lambda _: faults.pop()())
    config = tiny(tmp_path, updates=5, log_every=LOG_EVERY, checkpoint_minutes=1e-9)
    run, _ = session.start(config, "quiet")
    assert "cannot be written" in capsys.readouterr().out
    assert_views_agree(run, 5, capsys)


# What a row says of several updates.

SAME = ("run/steps", "run/updates", "run/episodes", "reward/sum", "loss/value", "learn/entropy")


def rows_by_update(run: RunDirectory) -> dict[int, dict[str, Any]]:
    return {row["run/updates"]: row for row in read_rows(run.metrics)}


def test_a_row_covers_every_update_since_the_previous_one(tmp_path: Path, rom_path: Path) -> None:
    singles, _ = session.start(tiny(tmp_path / "single", updates=5), "quiet")
    groups, _ = session.start(tiny(tmp_path / "groups", updates=5, log_every=3), "quiet")
    single, group = rows_by_update(singles), rows_by_update(groups)
    assert list(group) == [3, 5]
    for last, updates in ((3, (1, 2, 3)), (5, (4, 5))):
        members = [single[update] for update in updates]
        total = sum(row["reward/sum"] for row in members)
        assert group[last]["reward/sum"] == pytest.approx(total)
        mean = sum(row["loss/value"] for row in members) / len(members)
        assert group[last]["loss/value"] == pytest.approx(mean)
        assert group[last]["episode/count"] == sum(row["episode/count"] for row in members)
        assert group[last]["learn/learning_rate"] == members[-1]["learn/learning_rate"]


def test_a_run_resumed_within_an_interval_writes_the_rows_of_an_uninterrupted_one(
    tmp_path: Path, rom_path: Path
) -> None:
    config = tiny(tmp_path, updates=6, log_every=4, checkpoint_minutes=1e-9, keep_checkpoints=9)
    run, _ = session.start(config, "quiet")
    unbroken = rows_by_update(run)
    session.resume(run.checkpoints / "update-00000003.pt", config, display="quiet")
    resumed = rows_by_update(run)
    assert {row["run/session"] for row in resumed.values()} == {2}
    assert list(resumed) == list(unbroken) == [4, 6]
    for update, row in unbroken.items():
        assert [resumed[update][name] for name in SAME] == [row[name] for name in SAME]


def test_the_sums_of_a_run_that_was_stopped_and_resumed_add_up(
    tmp_path: Path, rom_path: Path
) -> None:
    whole, _ = session.start(tiny(tmp_path / "whole", updates=6), "quiet")
    options: dict[str, Any] = {"log_every": 2, "checkpoint_minutes": 1e-9}
    parts, _ = session.start(tiny(tmp_path / "parts", updates=3, **options), "quiet")
    latest = find_latest(parts.path)
    assert latest is not None
    assert load(latest).state["metrics"]["updates"] == 0, "the last row covers it already"
    session.resume(parts.path, tiny(tmp_path / "parts", updates=6, **options), display="quiet")
    rows = rows_by_update(parts)
    assert list(rows) == [2, 3, 4, 6]
    total = sum(row["reward/sum"] for row in read_rows(whole.metrics))
    assert sum(row["reward/sum"] for row in rows.values()) == pytest.approx(total)
