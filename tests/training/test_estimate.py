"""Estimates of a run's time and memory, before and during the run."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from tiny import UPDATE, tiny

from warpzone import cli
from warpzone.telemetry.terminal import PlainDisplay
from warpzone.training import session
from warpzone.training.estimate import estimate
from warpzone.training.pace import Pace


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_first_update_counts_only_until_there_is_another() -> None:
    clock = Clock()
    pace = Pace(1000, clock)
    assert pace.steps_per_second is None
    assert pace.seconds_for(10) is None
    clock.now += 10.0
    pace.tick(1100)
    assert pace.steps_per_second == pytest.approx(10.0)
    clock.now += 1.0
    pace.tick(1200)
    assert pace.steps_per_second == pytest.approx(100.0)
    assert pace.seconds_for(500) == pytest.approx(5.0)
    assert pace.seconds_for(-5) == 0.0


def test_the_pace_follows_a_lasting_change_and_smooths_a_short_one() -> None:
    clock = Clock()
    pace, steps = Pace(0, clock), 0
    for seconds in [1.0] * 50 + [10.0]:
        clock.now += seconds
        steps += 100
        pace.tick(steps)
    assert 60 < (pace.steps_per_second or 0) < 100
    for _ in range(200):
        clock.now += 2.0
        steps += 100
        pace.tick(steps)
    assert pace.steps_per_second == pytest.approx(50.0, rel=0.02)


def test_a_trial_measures_time_and_memory(rom_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warpzone.training.estimate.TRIAL_SECONDS", 0.0)
    found = estimate(tiny(updates=100))
    assert (found.updates, found.update_steps, found.tried) == (100, UPDATE, 2)
    assert found.seconds == pytest.approx(100 * UPDATE / found.steps_per_second)
    tiles = 2 * 5 * 13 * 16 + 70
    assert found.storage > (UPDATE + 4) * tiles
    assert found.network == pytest.approx(4 * 4 * 52_000, rel=0.2)  # weights, gradient, two moments
    assert found.resident > found.storage + found.network
    assert "on cpu" in str(found)


def test_a_dry_run_prints_it_and_writes_nothing(
    tmp_path: Path,
    rom_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("warpzone.training.estimate.TRIAL_SECONDS", 0.0)
    options = [
        "--obs",
        "tiles",
        "--num-envs",
        "4",
        "--rollout-steps",
        "8",
        "--minibatch-size",
        "16",
    ]
    assert (
        cli.main(["train", "--dry-run", *options, "--device", "cpu", "--torch-threads", "1"]) == 0
    )
    text = capsys.readouterr().out
    assert "[env]" in text
    assert "# on cpu, " in text
    assert "steps/s in a trial of" in text
    assert "# memory: " in text
    assert list(tmp_path.iterdir()) == []


def test_a_run_says_where_it_computes_and_how_long_it_will_take(
    tmp_path: Path, rom_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(session, "make_display", lambda *_, **__: PlainDisplay(10.0, stream))
    config = tiny(tmp_path, updates=8, precision="float32")
    session.start(config)
    first, *rest = stream.getvalue().splitlines()
    assert first.endswith("on cpu, float32, PyTorch on 1 thread, 4 environments on 1 thread")
    assert any(
        line.startswith("about 0:0") and "for the remaining 96 steps" in line for line in rest
    )
    assert "ETA 0:0" in rest[0]
