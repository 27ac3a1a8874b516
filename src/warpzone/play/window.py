"""Playing by hand: one console, one window, 60 frames per second."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpzone import _native
from warpzone.envs.actions import BUTTONS
from warpzone.envs.console import Console
from warpzone.errors import StateError, WindowError
from warpzone.rom.locate import load_game
from warpzone.video.writer import Frame

_HEIGHT, _WIDTH = 240, 256
_FRAMES_PER_SECOND = 60
_MESSAGE_FRAMES = 90

#: Names of pygame key constants, and the controller button each one presses.
KEYS = {
    "K_RIGHT": "RIGHT",
    "K_LEFT": "LEFT",
    "K_UP": "UP",
    "K_DOWN": "DOWN",
    "K_x": "A",
    "K_z": "B",
    "K_RETURN": "START",
    "K_LSHIFT": "SELECT",
    "K_RSHIFT": "SELECT",
}
COMMANDS = {
    "K_ESCAPE": "quit",
    "K_p": "pause",
    "K_r": "restart",
    "K_F5": "save",
    "K_F9": "load",
}
_OPPOSITES = (BUTTONS["LEFT"] | BUTTONS["RIGHT"], BUTTONS["UP"] | BUTTONS["DOWN"])


class GameWindow:
    """A pygame window that shows screens and reads the keyboard."""

    def __init__(self, scale: int) -> None:
        """Checks that a window can be opened.

        Raises:
            WindowError: If pygame is not installed or there is no display.
        """
        self._pygame = _import_pygame()
        self._scale = scale
        # Without a display, SDL would silently fall back to an invisible window.
        displays = ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER")
        if sys.platform.startswith("linux") and not any(os.environ.get(name) for name in displays):
            raise WindowError(
                "there is no display to open a window on; play on a desktop, or record a policy "
                "with `warpzone render`"
            )

    def __enter__(self) -> GameWindow:
        """Opens the window."""
        pygame = self._pygame
        try:
            pygame.display.init()
            size = (_WIDTH * self._scale, _HEIGHT * self._scale)
            self._surface = pygame.display.set_mode(size)
        except pygame.error as error:
            raise WindowError(f"could not open a window: {error}") from error
        pygame.font.init()
        self._font = pygame.font.Font(None, 8 * self._scale + 8)
        self._clock = pygame.time.Clock()
        self._keys = {getattr(pygame, key): BUTTONS[button] for key, button in KEYS.items()}
        self._commands = {getattr(pygame, key): command for key, command in COMMANDS.items()}
        pygame.display.set_caption("warpzone")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Closes the window."""
        self._pygame.quit()

    def commands(self) -> Iterator[str]:
        """Yields the commands entered since the last call."""
        for event in self._pygame.event.get():
            if event.type == self._pygame.QUIT:
                yield "quit"
            elif event.type == self._pygame.KEYDOWN and event.key in self._commands:
                yield self._commands[event.key]

    def buttons(self) -> int:
        """Returns the controller byte of the keys that are held down."""
        held = self._pygame.key.get_pressed()
        byte = 0
        for key, button in self._keys.items():
            if held[key]:
                byte |= button
        for pair in _OPPOSITES:  # A real controller cannot press opposite directions.
            if byte & pair == pair:
                byte &= ~pair
        return byte

    def show(self, screen: NDArray[np.uint8], message: str) -> None:
        """Shows a screen with a line of text and waits until the next frame is due."""
        pygame = self._pygame
        image = pygame.surfarray.make_surface(screen.swapaxes(0, 1))
        pygame.transform.scale(image, self._surface.get_size(), self._surface)
        if message:
            text = self._font.render(f" {message} ", True, (255, 255, 255), (0, 0, 0))
            self._surface.blit(text, (4 * self._scale, 4 * self._scale))
        pygame.display.flip()
        self._clock.tick(_FRAMES_PER_SECOND)


def _import_pygame() -> Any:
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    try:
        import pygame
    except ImportError as error:
        raise WindowError(
            "`warpzone play` requires pygame; install it with `pip install 'warpzone[play]'`"
        ) from error
    return pygame


class Session:
    """A running game and the commands that control it."""

    def __init__(
        self,
        level: str,
        game: str = "smb",
        rom: str | os.PathLike[str] | None = None,
        power: int = 0,
        state_file: Path | None = None,
    ) -> None:
        """Starts a level, or the whole game if `level` is 'game'."""
        self.console = Console(load_game(game, rom))
        _native.start(self.console, game, level, power)
        self._start = self.console.save()
        self._state_file = state_file
        self._saved: bytes | None = None
        self._message = ""
        self._message_frames_left = 0
        self.paused = False
        self.running = True

    def run(
        self,
        window: GameWindow,
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
            if not self.paused and self.running:
                self.console.run_frame(window.buttons(), render=True)
                played += 1
                if record is not None:
                    record(self.console.screen)
            window.show(self.console.screen, self._current_message())
        return played

    def handle(self, command: str) -> None:
        """Executes a command."""
        if command == "quit":
            self.running = False
        elif command == "pause":
            self.paused = not self.paused
        elif command == "restart":
            self.console.load(self._start)
            self._set_message("restarted")
        elif command == "save":
            self._save()
        elif command == "load":
            self._load()

    def _save(self) -> None:
        self._saved = self.console.save()
        if self._state_file is None:
            self._set_message("saved")
            return
        try:
            self._state_file.write_bytes(self._saved)
        except OSError as error:
            self._set_message(f"not saved: {error.strerror}")
        else:
            self._set_message(f"saved to {self._state_file.name}")

    def _load(self) -> None:
        if self._state_file is not None and self._state_file.is_file():
            self._saved = self._state_file.read_bytes()
        if self._saved is None:
            self._set_message("no saved state; press F5 to save")
            return
        try:
            self.console.load(self._saved)
        except StateError as error:
            self._set_message(str(error))
        else:
            self._set_message("loaded")

    def _set_message(self, message: str) -> None:
        self._message, self._message_frames_left = message, _MESSAGE_FRAMES

    def _current_message(self) -> str:
        if self.paused:
            return "paused; press P to resume"
        self._message_frames_left = max(self._message_frames_left - 1, 0)
        return self._message if self._message_frames_left else ""
