from collections.abc import Sequence
from pathlib import Path

import numpy as np

from warpzone.play.session import HINTS, Session


class FakeWindow:
    """Replays scripted input and records what would be shown."""

    def __init__(
        self, commands: dict[int, str], buttons: int = 0, rewinding: range = range(0)
    ) -> None:
        self._rewinding = rewinding
        self._commands = commands
        self._buttons = buttons
        self.shown: list[np.ndarray] = []
        self.messages: list[str] = []

    def commands(self):
        frame = len(self.shown)
        return [self._commands[frame]] if frame in self._commands else []

    def buttons(self) -> int:
        return self._buttons

    def rewinding(self) -> bool:
        return len(self.shown) in self._rewinding

    def show(self, screen: np.ndarray, lines: Sequence[str]) -> None:
        self.shown.append(screen)
        self.messages.append("; ".join(lines))


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
    assert window.messages[21] == "saved in slot 1"
    assert window.messages[60] == "loaded slot 1"


def test_load_without_a_saved_state_says_so() -> None:
    window = FakeWindow({0: "load"})
    Session("1-1").run(window, max_iterations=1)
    assert window.messages == ["nothing is saved in slot 1; press F5 to save"]


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
    assert window.messages[0] != "loaded slot 1"


def test_paused_frames_are_neither_played_nor_recorded() -> None:
    recorded: list[np.ndarray] = []
    window = FakeWindow({2: "pause"})
    assert Session("1-1").run(window, recorded.append, max_iterations=10) == 2
    assert len(recorded) == 2
    assert window.messages[-1] == "paused; press P to resume"


def test_rewinding_returns_frame_by_frame_to_the_past() -> None:
    session = Session("1-1")
    states: list[bytes] = []

    def keep(_: np.ndarray) -> None:
        states.append(session.console.save())

    window = FakeWindow({}, buttons=0x80, rewinding=range(60, 90))
    session.run(window, keep, max_iterations=90)
    assert len(states) == 60
    assert session.console.save() == states[29]
    assert window.messages[-1] == "rewinding"


def test_rewinding_ends_at_the_start() -> None:
    session = Session("1-1")
    start = session.console.save()
    window = FakeWindow({}, rewinding=range(5, 20))
    session.run(window, max_iterations=20)
    assert session.console.save() == start
    assert window.messages[-1] == "there is nothing further back"


def test_slots_keep_separate_states(tmp_path: Path) -> None:
    session = Session("1-1", state_file=tmp_path / "here.state")
    commands = {5: "save", 6: "slot 2", 20: "save", 40: "load", 41: "slot 1", 42: "load"}
    session.run(FakeWindow(commands, buttons=0x80), max_iterations=43)
    first, second = (tmp_path / name for name in ("here.state", "here-2.state"))
    assert first.read_bytes() != second.read_bytes()


def test_h_shows_and_hides_the_keys() -> None:
    window = FakeWindow({2: "hints", 5: "hints"})
    Session("1-1").run(window, max_iterations=8)
    assert [HINTS[0] in message for message in window.messages] == [False] * 2 + [True] * 3 + [
        False
    ] * 3


class FakeSpeaker:
    rate = 44_100

    def __init__(self) -> None:
        self.volume = 50
        self.samples: list[np.ndarray] = []

    def write(self, samples: np.ndarray) -> None:
        self.samples.append(samples)


def test_the_speaker_gets_the_sound_of_every_frame() -> None:
    speaker = FakeSpeaker()
    Session("1-1", speaker=speaker).run(FakeWindow({}), max_iterations=120)
    assert len(speaker.samples) == 120
    assert np.abs(np.concatenate(speaker.samples)).max() > 0.05


def test_mute_and_volume_keys() -> None:
    speaker = FakeSpeaker()
    session = Session("1-1", speaker=speaker)
    volumes = []
    for command in ("louder", "mute", "mute", "quieter", "quieter"):
        session.handle(command)
        volumes.append(speaker.volume)
    assert volumes == [60, 0, 60, 50, 40]


def test_without_sound_the_volume_keys_say_so() -> None:
    window = FakeWindow({0: "mute"})
    Session("1-1").run(window, max_iterations=1)
    assert window.messages == ["there is no sound"]
