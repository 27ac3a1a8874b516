"""Playing by hand: one console and the commands that control it."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from warpzone import _native
from warpzone.envs.console import Console
from warpzone.errors import StateError
from warpzone.rom.locate import load_game
from warpzone.video.writer import Frame

_MESSAGE_FRAMES = 90
_REWIND_FRAMES = 20 * 60
_VOLUME_STEP = 10
HINTS = (
    "arrows move   X jump   Z run, fire",
    "Enter start   Shift select",
    "P pause   R restart   Esc quit",
    "Backspace rewind   1-9 slot",
    "F5 save   F9 load",
    "M mute   - + volume   H keys",
)


AGENT_HINT = "T agent plays, you play"


class Agent(Protocol):
    """Plays in turns with the person; see `play.agent`."""

    console: Console

    def begin(self) -> None:
        """Forgets everything before this moment."""

    def buttons(self) -> int:
        """Controller byte of the next frame."""

    def follow(self, buttons: int) -> None:
        """Sees the frame that was just played with some buttons."""


class Speaker(Protocol):
    """Plays sound; see `play.speaker`."""

    rate: int
    volume: int

    def write(self, samples: NDArray[np.float32]) -> None:
        """Plays samples after those before."""


class Window(Protocol):
    """Shows the game and reads the player's input; see `play.window`."""

    def commands(self) -> Iterable[str]:
        """Commands since the last call."""

    def buttons(self) -> int:
        """Controller byte."""

    def rewinding(self) -> bool:
        """Whether to go back in time."""

    def show(self, screen: NDArray[np.uint8], lines: Sequence[str]) -> None:
        """Shows a screen and lines of text."""


class Session:
    """A running game and the commands that control it."""

    def __init__(
        self,
        level: str,
        game: str = "smb",
        rom: str | os.PathLike[str] | None = None,
        power: int = 0,
        state_file: Path | None = None,
        *,
        speaker: Speaker | None = None,
        agent: Agent | None = None,
    ) -> None:
        """Starts a level, or the whole game if `level` is 'game'.

        Args:
            level: Level, or 'game'.
            game: 'smb' or 'lost-levels'.
            rom: ROM file; by default the installed one.
            power: 0 small, 1 big, 2 fire.
            state_file: Keeps saved states in this file, and in numbered ones beside it.
            speaker: Plays the sound; None plays without.
            agent: Plays first, and in turns with the person; the game runs on its console.
        """
        self.console = Console(load_game(game, rom)) if agent is None else agent.console
        _native.start(self.console, game, level, power)
        self._start = self.console.save()
        self._state_file = state_file
        self._slot = 1
        self._saved: dict[int, bytes] = {}
        self._past: deque[bytes] = deque(maxlen=_REWIND_FRAMES)
        self._speaker = speaker
        self._agent = agent
        self.agent_plays = agent is not None
        self._volume_before_mute = 0
        self._hints = False
        self._set_message("press H for the keys")
        if agent is not None:
            agent.begin()
            self._set_message("the agent plays; press T to take over")
        self.console.set_sound(0 if speaker is None else speaker.rate)
        self.paused = False
        self.running = True

    def run(
        self,
        window: Window,
        record: Callable[[Frame], None] | None = None,
        max_iterations: int | None = None,
    ) -> int:
        """Plays until the window is closed.

        Args:
            window: Window that shows the game and reads the keyboard.
            record: Called with every frame played.
            max_iterations: Maximum number of loop iterations, including paused ones; for tests.

        Returns:
            The number of frames played.
        """
        played = iterations = 0
        while self.running and (max_iterations is None or iterations < max_iterations):
            iterations += 1
            for command in window.commands():
                self.handle(command)
            if window.rewinding():
                self._rewind()
            elif not self.paused and self.running:
                self._play_frame(window.buttons(), record)
                played += 1
            window.show(self.console.screen, self._lines())
        return played

    def _play_frame(self, buttons: int, record: Callable[[Frame], None] | None) -> None:
        self._past.append(self.console.save())
        if self._agent is not None and self.agent_plays:
            buttons = self._agent.buttons()
        self.console.run_frame(buttons, render=True)
        if self._agent is not None:
            self._agent.follow(buttons)
        if self._speaker is not None:
            self._speaker.write(self.console.sound)
        if record is not None:
            record(self.console.screen)

    def _rewind(self) -> None:
        """Goes back by one frame and draws it; the screen is not part of a state."""
        if not self._past:
            self._set_message("there is nothing further back")
            return
        state = self._past.pop()
        self.console.load(state)
        self.console.run_frame(0, render=True)
        self._restore(state)
        self._set_message("rewinding")

    def _restore(self, state: bytes) -> None:
        """Goes to another moment, which the agent meets without a past."""
        self.console.load(state)
        if self._agent is not None:
            self._agent.begin()

    def handle(self, command: str) -> None:
        """Executes a command."""
        if command == "quit":
            self.running = False
        elif command == "pause":
            self.paused = not self.paused
        elif command == "restart":
            self._restore(self._start)
            self._set_message("restarted")
        elif command == "save":
            self._save()
        elif command == "load":
            self._load()
        elif command == "agent":
            self._take_turns()
        elif command == "hints":
            self._hints = not self._hints
        elif command.startswith("slot "):
            self._slot = int(command.removeprefix("slot "))
            self._set_message(f"slot {self._slot}: F5 saves, F9 loads")
        else:
            self._change_volume(command)

    def _take_turns(self) -> None:
        """Hands the controls to the agent, or takes them over."""
        if self._agent is None:
            self._set_message("there is no agent; start with --policy")
            return
        self.agent_plays = not self.agent_plays
        playing = "the agent plays; press T to take over"
        self._set_message(playing if self.agent_plays else "you play; press T to hand back")

    def _change_volume(self, command: str) -> None:
        speaker = self._speaker
        if speaker is None:
            self._set_message("there is no sound")
            return
        if command == "mute":
            speaker.volume, self._volume_before_mute = self._volume_before_mute, speaker.volume
        else:
            change = _VOLUME_STEP if command == "louder" else -_VOLUME_STEP
            speaker.volume = min(100, max(0, speaker.volume + change))
        self._set_message(f"volume {speaker.volume} %" if speaker.volume else "muted")

    def _file(self) -> Path | None:
        """The file of the current slot; the first slot's is the one that was given."""
        file = self._state_file
        if file is None or self._slot == 1:
            return file
        return file.with_name(f"{file.stem}-{self._slot}{file.suffix}")

    def _save(self) -> None:
        state = self._saved[self._slot] = self.console.save()
        file = self._file()
        if file is None:
            self._set_message(f"saved in slot {self._slot}")
            return
        try:
            file.write_bytes(state)
        except OSError as error:
            self._set_message(f"not saved: {error.strerror}")
        else:
            self._set_message(f"saved to {file.name}")

    def _load(self) -> None:
        file = self._file()
        if file is not None and file.is_file():
            self._saved[self._slot] = file.read_bytes()
        state = self._saved.get(self._slot)
        if state is None:
            self._set_message(f"nothing is saved in slot {self._slot}; press F5 to save")
            return
        try:
            self._restore(state)
        except StateError as error:
            self._set_message(str(error))
        else:
            self._set_message(f"loaded slot {self._slot}")

    def _set_message(self, message: str) -> None:
        self._message, self._message_frames_left = message, _MESSAGE_FRAMES

    def _lines(self) -> list[str]:
        self._message_frames_left = max(self._message_frames_left - 1, 0)
        message = self._message if self._message_frames_left else ""
        if self.paused:
            message = "paused; press P to resume"
        hints = HINTS if self._agent is None else (*HINTS, AGENT_HINT)
        return [*([message] if message else []), *(hints if self._hints else ())]
