import io

from rich.console import Console

from warpzone.search.display import SearchDisplay
from warpzone.search.jobs import Job
from warpzone.search.solve import SearchProgress


def progress_after(seconds: float) -> SearchProgress:
    return SearchProgress(
        seconds=seconds,
        rounds=1,
        frames=1000,
        cells=1234,
        forgotten=0,
        refuted=0,
        memory=1 << 20,
        memory_limit=256 << 20,
        solution_frames=None,
    )


def test_without_a_terminal_a_line_comes_every_thirty_seconds() -> None:
    stream, now = io.StringIO(), 0.0
    with SearchDisplay(2, Console(file=stream), lambda: now) as display:
        for second in range(70):
            now = float(second)
            display.update(Job("8-4", 3), progress_after(now))
    lines = stream.getvalue().splitlines()
    assert lines == [
        "0 of 2 searches done; searching 8-4 seed 3 30 s, 1,234 cells",
        "0 of 2 searches done; searching 8-4 seed 3 60 s, 1,234 cells",
    ]


def test_a_terminal_gets_a_bar_and_a_table() -> None:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=120, color_system=None)
    with SearchDisplay(2, console) as display:
        display.update(Job("8-4", 3), progress_after(1.0))
        display.finish(Job("1-1", 0))
        assert display._live is not None
        display._live.refresh()
    drawn = stream.getvalue()
    assert "1 of 2 searches done" in drawn
    assert "━" in drawn
    assert "1,234" in drawn
