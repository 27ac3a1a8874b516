import io

from rich.console import Console
from rich.panel import Panel

from warpzone.telemetry.resizing import ROOM_FOR_ECHO, ResizeGuard
from warpzone.telemetry.terminal import Progress, RichDisplay

UP = "\x1b[1A"


def terminal(width: int) -> tuple[Console, io.StringIO]:
    stream = io.StringIO()
    return Console(file=stream, force_terminal=True, width=width, height=30), stream


def test_lines_that_a_narrower_terminal_has_wrapped_are_erased() -> None:
    console, stream = terminal(100)
    guard = ResizeGuard(console)
    guard.before_drawing(Panel("text", width=97))  # Three lines of 97 characters.
    console.width = 40
    guard.before_drawing(Panel("text", width=37))
    assert stream.getvalue().count(UP) == 3 * 2, "each line has become three"


def test_nothing_is_erased_if_the_drawing_still_fits() -> None:
    console, stream = terminal(100)
    guard = ResizeGuard(console)
    guard.before_drawing(Panel("text", width=60))
    for width in (60, 90, 90):
        console.width = width
        guard.before_drawing(Panel("text", width=60))
    assert stream.getvalue() == ""


def test_nothing_is_erased_in_a_file() -> None:
    stream = io.StringIO()
    console = Console(file=stream, width=100)
    guard = ResizeGuard(console)
    guard.before_drawing(Panel("text", width=97))
    console.width = 20
    guard.before_drawing(Panel("text", width=17))
    assert stream.getvalue() == ""


def test_the_panel_leaves_room_for_the_echo_of_ctrl_c() -> None:
    stream = io.StringIO()
    display = RichDisplay("mario-1-1", stream)
    display.update(Progress("1-1", 5, 10))
    width = display._console.width
    display.close()
    last = stream.getvalue().splitlines()[-1].rstrip()
    assert len(last) == min(96, width - ROOM_FOR_ECHO)
