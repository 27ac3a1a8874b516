"""The window of `warpzone play`: shows screens, reads keyboard and gamepads."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpzone.envs.actions import BUTTONS
from warpzone.errors import WindowError
from warpzone.system.extras import naming_extras

_HEIGHT, _WIDTH = 240, 256
_FRAMES_PER_SECOND = 60

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
    "K_h": "hints",
    "K_t": "agent",
    "K_m": "mute",
    "K_MINUS": "quieter",
    "K_EQUALS": "louder",
    "K_PLUS": "louder",
    **{f"K_{slot}": f"slot {slot}" for slot in range(1, 10)},
}
_REWIND = "K_BACKSPACE"
#: Buttons of a gamepad by number, as SDL and most drivers count them.
PAD_BUTTONS = {0: "A", 1: "B", 2: "B", 3: "A", 6: "SELECT", 7: "START"}
_PAD_THRESHOLD = 0.5
_OPPOSITES = (BUTTONS["LEFT"] | BUTTONS["RIGHT"], BUTTONS["UP"] | BUTTONS["DOWN"])


class GameWindow:
    """A pygame window that shows screens and reads the keyboard."""

    def __init__(self, scale: int) -> None:
        """Checks that a window can be opened.

        Raises:
            MissingExtraError: If pygame is not installed.
            WindowError: If there is no display.
        """
        self._pygame = import_pygame()
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
        pygame.joystick.init()
        self._pads = [
            pygame.joystick.Joystick(index) for index in range(pygame.joystick.get_count())
        ]
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
            elif event.type == self._pygame.JOYDEVICEADDED:
                self._pads.append(self._pygame.joystick.Joystick(event.device_index))
            elif event.type == self._pygame.KEYDOWN and event.key in self._commands:
                yield self._commands[event.key]

    def buttons(self) -> int:
        """Returns the controller byte of the keys and gamepad buttons that are held down."""
        held = self._pygame.key.get_pressed()
        byte = 0
        for key, button in self._keys.items():
            if held[key]:
                byte |= button
        for pad in self._pads:
            byte |= pad_buttons(pad)
        for pair in _OPPOSITES:  # A real controller cannot press opposite directions.
            if byte & pair == pair:
                byte &= ~pair
        return byte

    def rewinding(self) -> bool:
        """Whether the key that rewinds is held down."""
        return bool(self._pygame.key.get_pressed()[getattr(self._pygame, _REWIND)])

    def show(self, screen: NDArray[np.uint8], lines: Sequence[str]) -> None:
        """Shows a screen with lines of text and waits until the next frame is due."""
        pygame = self._pygame
        image = pygame.surfarray.make_surface(screen.swapaxes(0, 1))
        pygame.transform.scale(image, self._surface.get_size(), self._surface)
        top = 4 * self._scale
        for line in lines:
            text = self._font.render(f" {line} ", True, (255, 255, 255), (0, 0, 0))
            self._surface.blit(text, (4 * self._scale, top))
            top += text.get_height()
        pygame.display.flip()
        self._clock.tick(_FRAMES_PER_SECOND)


def pad_buttons(pad: Any) -> int:
    """Returns the controller byte of a gamepad: its buttons, first hat and first stick."""
    byte = 0
    for number, name in PAD_BUTTONS.items():
        if number < pad.get_numbuttons() and pad.get_button(number):
            byte |= BUTTONS[name]
    right, up = pad.get_hat(0) if pad.get_numhats() else (0, 0)
    if pad.get_numaxes() >= 2:
        right = right or _direction(pad.get_axis(0))
        up = up or -_direction(pad.get_axis(1))
    byte |= BUTTONS["RIGHT"] if right > 0 else BUTTONS["LEFT"] if right < 0 else 0
    byte |= BUTTONS["UP"] if up > 0 else BUTTONS["DOWN"] if up < 0 else 0
    return byte


def _direction(axis: float) -> int:
    return (axis > _PAD_THRESHOLD) - (axis < -_PAD_THRESHOLD)


def import_pygame() -> Any:
    """Returns pygame, or says how to install it."""
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    with naming_extras():
        import pygame
    return pygame
