import builtins
from pathlib import Path

import numpy as np
import pytest

from warpzone import cli
from warpzone.play.window import GameWindow, Session

pygame = pytest.importorskip("pygame")


@pytest.fixture
def no_display(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")


class HeldKeys(set):
    """Behaves like the result of `pygame.key.get_pressed`."""

    def __getitem__(self, key: int) -> bool:
        return key in self


class FakeWindow:
    """Replays scripted input and records what would be shown."""

    def __init__(self, commands: dict[int, str], buttons: int = 0) -> None:
        self._commands = commands
        self._buttons = buttons
        self.shown: list[np.ndarray] = []
        self.messages: list[str] = []

    def commands(self):
        frame = len(self.shown)
        return [self._commands[frame]] if frame in self._commands else []

    def buttons(self) -> int:
        return self._buttons

    def show(self, screen: np.ndarray, message: str) -> None:
        self.shown.append(screen)
        self.messages.append(message)


def test_a_real_window_opens_runs_and_handles_keys(no_display: None) -> None:
    session = Session("1-1")
    with GameWindow(scale=2) as window:
        assert session.run(window, max_iterations=5) == 5
        assert pygame.display.get_window_size() == (512, 480)
        pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=pygame.K_p))
        assert session.run(window, max_iterations=3) == 0
        assert session.paused
        pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=pygame.K_ESCAPE))
        session.run(window, max_iterations=3)
        assert not session.running


def test_keys_become_buttons_and_opposites_cancel(
    no_display: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with GameWindow(scale=1) as window:
        held = HeldKeys({pygame.K_RIGHT, pygame.K_x, pygame.K_z})
        monkeypatch.setattr(pygame.key, "get_pressed", lambda: held)
        assert window.buttons() == 0x83
        held.add(pygame.K_LEFT)
        assert window.buttons() == 0x03


def test_held_button_moves_mario_and_restart_returns_him_to_the_start() -> None:
    session = Session("1-1")
    start = int(session.console.ram[0x86])
    session.run(FakeWindow({}, buttons=0x80), max_iterations=60)
    assert session.console.ram[0x86] > start + 30
    session.handle("restart")
    assert session.console.ram[0x86] == start


def test_loading_restores_the_saved_state_exactly() -> None:
    session = Session("1-1")
    window = FakeWindow({20: "save", 60: "load"}, buttons=0x80)
    frames: list[np.ndarray] = []
    session.run(window, frames.append, max_iterations=70)
    np.testing.assert_array_equal(frames[20], frames[60])
    np.testing.assert_array_equal(frames[29], frames[69])
    assert window.messages[21] == "saved"
    assert window.messages[60] == "loaded"


def test_load_without_a_saved_state_says_so() -> None:
    window = FakeWindow({0: "load"})
    Session("1-1").run(window, max_iterations=1)
    assert window.messages == ["no saved state; press F5 to save"]


def test_another_session_can_load_a_state_file_and_a_damaged_one_is_rejected(
    tmp_path: Path,
) -> None:
    file = tmp_path / "here.state"
    first = Session("1-1", state_file=file)
    first.run(FakeWindow({25: "save"}, buttons=0x80), max_iterations=26)
    second = Session("1-1", state_file=file)
    second.run(FakeWindow({0: "load"}, buttons=0x80), max_iterations=1)
    np.testing.assert_array_equal(first.console.ram, second.console.ram)
    file.write_bytes(b"damaged")
    window = FakeWindow({0: "load"})
    second.run(window, max_iterations=1)
    assert "state" in window.messages[0]
    assert window.messages[0] != "loaded"


def test_paused_frames_are_neither_played_nor_recorded() -> None:
    recorded: list[np.ndarray] = []
    window = FakeWindow({2: "pause"})
    assert Session("1-1").run(window, recorded.append, max_iterations=10) == 2
    assert len(recorded) == 2
    assert window.messages[-1] == "paused; press P to resume"


def test_command_records_a_video(
    no_display: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    run = Session.run
    monkeypatch.setattr(Session, "run", lambda self, window, record: run(self, window, record, 6))
    file = tmp_path / "run.gif"
    assert cli.main(["play", "--level", "2-1", "--scale", "1", "--record", str(file)]) == 0
    assert f"wrote {file}" in capsys.readouterr().out
    assert file.is_file()


def test_missing_display_gives_a_one_line_error(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    assert cli.main(["play"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: there is no display")
    assert error.count("\n") == 1


def test_missing_pygame_names_the_extra(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    importing = builtins.__import__

    def without_pygame(name: str, *arguments, **options):
        if name == "pygame":
            raise ImportError(name)
        return importing(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without_pygame)
    assert cli.main(["play"]) == 2
    assert "pip install 'warpzone[play]'" in capsys.readouterr().err
