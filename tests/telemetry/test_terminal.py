import errno
import io
import logging

import pytest
from refusing_stream import RefusingStream

from warpzone.telemetry.advice import HINTS
from warpzone.telemetry.log_file import log_to
from warpzone.telemetry.terminal import (
    DisplayHandler,
    Mode,
    PlainDisplay,
    Progress,
    QuietDisplay,
    RichDisplay,
    duration,
    make_display,
    short,
)

HALF = Progress("1-1", 1_500_000, 3_000_000, 4210.0, 356.0, 0.34, 3161, 12.345, "learn", 56, 1234)


def test_auto_is_plain_where_there_is_no_terminal() -> None:
    assert type(make_display(stream=io.StringIO())) is PlainDisplay
    assert type(make_display("quiet", stream=io.StringIO())) is QuietDisplay


def test_plain_lines_come_once_an_interval_and_at_the_end() -> None:
    stream = io.StringIO()
    display = make_display("plain", interval=60, stream=stream)
    display.update(Progress("1-1", 0, 100))
    for steps in range(1, 100):
        display.update(Progress("1-1", steps, 100))
    display.close()
    display.close()
    lines = stream.getvalue().splitlines()
    assert len(lines) == 2
    assert "99/100 steps  99%" in lines[1]


def test_a_plain_line_has_everything() -> None:
    stream = io.StringIO()
    make_display("plain", stream=stream).update(HALF)
    line = stream.getvalue()
    for part in ("1-1", "1.5M/3M", "4,210 steps/s", "ETA 5:56", "clear 34%", "best 3,161 px"):
        assert part in line
    assert "return 12.35" in line or "return 12.34" in line
    assert "phase learn" in line
    assert "\x1b" not in line


def test_unknown_values_are_shown_as_a_dash() -> None:
    stream = io.StringIO()
    make_display("plain", stream=stream).update(Progress("1-1", 0, 100))
    assert "speed -  ETA -  clear -  best -" in stream.getvalue()


def test_quiet_shows_messages_only() -> None:
    stream = io.StringIO()
    display = make_display("quiet", stream=stream)
    display.update(HALF)
    display.message("saved")
    display.close()
    assert stream.getvalue() == "saved\n"


@pytest.mark.parametrize("columns", ["30", "60", "120"])
def test_the_panel_leaves_the_last_numbers(monkeypatch: pytest.MonkeyPatch, columns: str) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setenv("FORCE_COLOR", "1")
    stream = io.StringIO()
    display = RichDisplay("mario-1-1", stream)
    display.update(HALF)
    display.message("[env] brackets are no markup")
    display.close()
    text = stream.getvalue()
    assert "[env] brackets" in text
    assert "4,210" in text
    assert "34%" in text


@pytest.mark.parametrize("mode", ["rich", "plain", "quiet"])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EPIPE, errno.EIO])
def test_a_display_whose_output_fails_becomes_silent(mode: Mode, code: int) -> None:
    stream = RefusingStream(code)
    display = make_display(mode, stream=stream)
    display.update(HALF)
    display.message("nobody reads this")
    stream.code = None
    display.message("the disk has space again")
    display.close()
    assert "the disk has space again" in stream.getvalue()


def test_progress_never_shows_more_than_all_and_all_only_at_the_end() -> None:
    stream = io.StringIO()
    display = make_display("plain", interval=0.0, stream=stream)
    display.update(Progress("1-1", 1026, 1000))
    display.update(Progress("1-1", 999, 1000))
    over, under = stream.getvalue().splitlines()
    assert "1.03k/1k steps 100%" in over
    assert "999/1k steps  99%" in under


def test_log_records_appear_with_their_prefix() -> None:
    stream = io.StringIO()
    with log_to(DisplayHandler(make_display("plain", stream=stream))):
        logging.getLogger("warpzone.training.loop").info("for the file alone")
        logging.getLogger("warpzone.training.loop").warning("slow", exc_info=OSError("full"))
        logging.getLogger(HINTS).info("try more games")
    assert stream.getvalue() == "[train] warning: slow\n[hint] try more games\n"


def test_counts_and_durations_are_short() -> None:
    assert [short(n) for n in (0, 999, 1000, 12345, 999_900, 4_560_000)] == [
        "0",
        "999",
        "1k",
        "12.3k",
        "1000k",
        "4.56M",
    ]
    assert [duration(s) for s in (0, 42, 725, 12_000, 187_200)] == [
        "0:00",
        "0:42",
        "12:05",
        "3:20:00",
        "2d 04:00",
    ]
