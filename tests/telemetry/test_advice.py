"""Hints of observers reach the log and the terminal."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping

import pytest

from warpzone.telemetry.advice import HINTS, AdviceSink
from warpzone.telemetry.hub import Telemetry


class Slow:
    """Complains about a low speed."""

    def observe(self, row: Mapping[str, object]) -> Iterable[str]:
        speed = row.get("speed/steps_per_second")
        if isinstance(speed, float) and speed < 100:
            yield f"only {speed:.0f} steps/s; use more games"


class Broken:
    def observe(self, row: Mapping[str, object]) -> Iterable[str]:
        raise ValueError("a bug of the observer")


def test_advice_is_logged_as_a_hint(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, HINTS)
    with Telemetry([AdviceSink([Slow(), Slow()])]) as telemetry:
        telemetry.write({"speed/steps_per_second": 5000.0})
        telemetry.write({"speed/steps_per_second": 50.0})
    hints = [record.message for record in caplog.records if record.name == HINTS]
    assert hints == ["only 50 steps/s; use more games"] * 2


def test_an_observer_that_fails_is_reported_and_loses_no_metrics(
    caplog: pytest.LogCaptureFixture,
) -> None:
    rows: list[Mapping[str, object]] = []

    class Keep:
        def write(self, row: Mapping[str, object]) -> None:
            rows.append(row)

        def close(self) -> None:
            pass

    with Telemetry([AdviceSink([Broken()]), Keep()]) as telemetry:
        telemetry.write({"speed/steps_per_second": 50.0})
    assert len(rows) == 1
    assert "a bug of the observer" in caplog.text
