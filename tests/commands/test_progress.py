import io

from rich.console import Console

from warpzone.commands.progress import CommandProgress


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_without_a_terminal_a_line_comes_every_thirty_seconds_with_the_remaining_time() -> None:
    stream, clock = io.StringIO(), Clock()
    with CommandProgress("episodes", Console(file=stream), clock) as progress:
        for second in range(65):
            clock.now = 100.0 + second
            progress.update("1-1", second, 4800)
    lines = stream.getvalue().splitlines()
    assert lines == [
        "1-1: 30 of 4,800 episodes, about 1:19:30 left",
        "1-1: 60 of 4,800 episodes, about 1:19:00 left",
    ]


def test_a_short_command_prints_nothing_without_a_terminal() -> None:
    stream = io.StringIO()
    with CommandProgress("episodes", Console(file=stream), Clock()) as progress:
        progress.update("1-1", 200, 200)
    assert stream.getvalue() == ""


def test_remaining_time_starts_anew_when_other_work_begins() -> None:
    stream, clock = io.StringIO(), Clock()
    with CommandProgress(console=Console(file=stream), clock=clock) as progress:
        progress.update("trying seed 1", 1, 10)
        clock.now += 100.0
        progress.update("recording", 0, 400)
        clock.now += 40.0
        progress.update("recording", 200, 400)
    assert stream.getvalue().splitlines()[-1] == "recording: 200 of 400, about 0:40 left"


def test_a_terminal_gets_a_bar_that_is_removed_at_the_end() -> None:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=100, color_system=None)
    with CommandProgress("episodes", console) as progress:
        progress.update("[1-1]", 120, 200)
    drawn = stream.getvalue()
    assert "[1-1]" in drawn
    assert "120/200 episodes" in drawn
    assert drawn.endswith("\x1b[2K"), "the last thing written erases the bar"
