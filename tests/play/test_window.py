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
    """Answers as pygame's list of keys does."""

    def __getitem__(self, key: int) -> bool:
        return key in self


class Puppet:
    """Stands in for a window: what a person does at each frame, and what is shown."""

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


def test_real_window_opens_runs_and_obeys_a_key(no_display: None) -> None:
    session = Session("1-1")
    with GameWindow(scale=2) as window:
        assert session.run(window, most_frames=5) == 5
        assert pygame.display.get_window_size() == (512, 480)
        pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=pygame.K_p))
        assert session.run(window, most_frames=3) == 0
        assert session.paused
        pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=pygame.K_ESCAPE))
        session.run(window, most_frames=3)
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


def test_held_button_moves_mario_and_restart_brings_him_back() -> None:
    session = Session("1-1")
    start = int(session.console.ram[0x86])
    session.run(Puppet({}, buttons=0x80), most_frames=60)
    assert session.console.ram[0x86] > start + 30
    session.obey("restart")
    assert session.console.ram[0x86] == start


def test_saved_state_comes_back_bit_by_bit() -> None:
    session = Session("1-1")
    puppet = Puppet({20: "save", 60: "load"}, buttons=0x80)
    frames: list[np.ndarray] = []
    session.run(puppet, frames.append, most_frames=70)
    np.testing.assert_array_equal(frames[20], frames[60])
    np.testing.assert_array_equal(frames[29], frames[69])
    assert puppet.messages[21] == "saved"
    assert puppet.messages[60] == "loaded"


def test_load_without_a_saved_state_says_so() -> None:
    puppet = Puppet({0: "load"})
    Session("1-1").run(puppet, most_frames=1)
    assert puppet.messages == ["nothing saved: F5 saves"]


def test_state_file_serves_another_session_and_a_damaged_one_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "here.state"
    first = Session("1-1", state_file=file)
    first.run(Puppet({25: "save"}, buttons=0x80), most_frames=26)
    second = Session("1-1", state_file=file)
    second.run(Puppet({0: "load"}, buttons=0x80), most_frames=1)
    np.testing.assert_array_equal(first.console.ram, second.console.ram)
    file.write_bytes(b"damaged")
    puppet = Puppet({0: "load"})
    second.run(puppet, most_frames=1)
    assert "state" in puppet.messages[0]
    assert puppet.messages[0] != "loaded"


def test_paused_frames_are_neither_played_nor_filmed() -> None:
    filmed: list[np.ndarray] = []
    puppet = Puppet({2: "pause"})
    assert Session("1-1").run(puppet, filmed.append, most_frames=10) == 2
    assert len(filmed) == 2
    assert puppet.messages[-1] == "paused: P goes on"


def test_command_records_what_is_played(
    no_display: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    run = Session.run
    monkeypatch.setattr(Session, "run", lambda self, window, record: run(self, window, record, 6))
    file = tmp_path / "run.gif"
    assert cli.main(["play", "--level", "2-1", "--scale", "1", "--record", str(file)]) == 0
    assert f"wrote {file}" in capsys.readouterr().out
    assert file.is_file()


def test_missing_display_is_one_clear_sentence(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
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
