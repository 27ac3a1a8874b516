import builtins
from pathlib import Path

import numpy as np
import pytest

from warpzone import cli
from warpzone.play.session import Session
from warpzone.play.speaker import MixerSpeaker
from warpzone.play.window import GameWindow, pad_buttons

pygame = pytest.importorskip("pygame")


@pytest.fixture
def no_display(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setenv("SDL_AUDIODRIVER", "dummy")


class HeldKeys(set):
    """Behaves like the result of `pygame.key.get_pressed`."""

    def __getitem__(self, key: int) -> bool:
        return key in self


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


class FakePad:
    """A gamepad with two axes and one hat."""

    def __init__(self, pressed: set[int], hat: tuple[int, int], axes: tuple[float, float]) -> None:
        self._pressed, self._hat, self._axes = pressed, hat, axes

    def get_numbuttons(self) -> int:
        return 8

    def get_button(self, number: int) -> bool:
        return number in self._pressed

    def get_numhats(self) -> int:
        return 1

    def get_hat(self, number: int) -> tuple[int, int]:
        return self._hat

    def get_numaxes(self) -> int:
        return 2

    def get_axis(self, number: int) -> float:
        return self._axes[number]


@pytest.mark.parametrize(
    ("pad", "expected"),
    [
        (FakePad({0}, (0, 0), (0.1, -0.2)), 0x01),
        (FakePad({1, 7}, (1, 0), (0.0, 0.0)), 0x8A),
        (FakePad(set(), (0, -1), (0.0, 0.0)), 0x20),
        (FakePad(set(), (0, 0), (-0.9, -0.9)), 0x50),
    ],
)
def test_a_gamepad_becomes_buttons(pad: FakePad, expected: int) -> None:
    assert pad_buttons(pad) == expected


def test_a_speaker_plays_samples_and_holds_back_little(no_display: None) -> None:
    with MixerSpeaker(50) as speaker:
        for _ in range(60):
            speaker.write(np.full(735, 0.5, np.float32))
        assert len(speaker._waiting) <= 3 * 2205
        assert abs(int(speaker._waiting[-1]) - 8191) <= 1


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
            raise ModuleNotFoundError(name=name)
        return importing(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without_pygame)
    assert cli.main(["play"]) == 2
    assert 'pip install "warpzone[play]"' in capsys.readouterr().err
