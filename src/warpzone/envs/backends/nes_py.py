"""nes-py's emulator as an environment's machine."""

from __future__ import annotations

import hashlib
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpzone import _native
from warpzone.envs.backends.nes_py_fixes import game_class
from warpzone.envs.backends.start import Start
from warpzone.envs.setup import WHOLE_GAME, EnvSetup
from warpzone.errors import BackendError, ClosedError, ConfigError, LevelWarning
from warpzone.rom.locate import data_folder
from warpzone.system.atomic_file import replacing
from warpzone.system.file_lock import file_lock

_HUD_ROWS = 32
_START_BUTTON = 0x08
# Where the game keeps what a start needs; native/mario/ram.hpp explains each.
_PLAYER_TASK, _IN_CONTROL = 0x0E, 8
_SIZE, _POWER, _HALFWAY_PAGE = 0x754, 0x756, 0x75B
_WORLD, _STAGE, _AREA = 0x75F, 0x75C, 0x760
_MODE, _TITLE, _PLAYING = 0x770, 0, 1
_MODE_TASK, _TASK_RUNNING = 0x772, 3
_PRE_LEVEL_TIMER, _CLOCK = 0x7A0, 0x7F8
# As in native/mario/levels.cpp: boot and title take about 35 frames, loading about 150.
_TITLE_FRAMES, _LOAD_FRAMES = 240, 900
# Another process writes the image in milliseconds; a lock held longer is a process that hangs.
_LOCK_SECONDS = 60.0


class NesPyMachine:
    """nes-py with the game in it: one emulator per level, since each remembers one start."""

    def __init__(self, setup: EnvSetup, *, strict_stage: bool) -> None:
        """Finds the package; the first emulator is made by `begin`.

        Raises:
            ConfigError: For parameters that only our own console can do.
            BackendError: When the package is missing or of an untested version.
        """
        if setup.config.start_state:
            raise ConfigError("start_state is given, but backend 'nes-py' has no save states")
        if setup.config.exact:
            raise ConfigError("exact needs the native backend; leave it out with 'nes-py'")
        if setup.config.game_start_prob > 0.0:
            raise ConfigError(
                "game_start_prob needs the native backend; leave it out with 'nes-py'"
            )
        self._make_game = game_class()
        self._setup = setup
        self._strict = strict_stage
        self._rom = plain_image(setup.image)
        self._games: dict[tuple[str, Start], Any] = {}
        self._game: Any = None
        self._frames = 0

    @property
    def frame_count(self) -> int:
        """Frames since the machine was made, without those of starts."""
        return self._frames

    @property
    def ram(self) -> NDArray[np.uint8]:
        """The emulator's own memory."""
        return self._present().ram.view  # type: ignore[no-any-return]

    @property
    def screen(self) -> NDArray[np.uint8]:
        """A copy of the screen; nes-py draws every frame."""
        return np.ascontiguousarray(self._present().screen)

    def begin(self, level: str, start: Start) -> None:
        """Goes to the start of a level, which is played from power-on only once."""
        assert not start.announced, "refused when the machine was made"
        if (level, start) not in self._games:
            game = self._make_game(str(self._rom), level != WHOLE_GAME)
            self._games[level, start] = game
            self._start(game, level, start)
            game._backup()
        self._game = self._games[level, start]
        self._game._restore()

    def resume(self, state: bytes) -> None:
        """Always fails: nes-py cannot take its memory in or give it out as a whole."""
        raise ConfigError("backend 'nes-py' has no save states; reset without one")

    def run_frame(self, buttons: int, *, render: bool, buttons2: int = 0) -> None:
        """Runs a frame; it is drawn in any case."""
        if buttons2:
            raise ConfigError("backend 'nes-py' has one controller; use the native backend")
        game = self._present()
        game.allow_frames()
        game._frame_advance(buttons)
        self._frames += 1

    def poke(self, address: int, value: int) -> None:
        """Writes a byte of RAM."""
        self._present().ram[address] = value

    def skip_scripted(self) -> None:
        """Runs on as the package itself does after each of its steps."""
        game = self._present()
        game.allow_frames()
        game._skip_change_area()
        game._skip_occupied_states()

    def draw_ahead(self) -> None:
        """Nothing to do: the screen belongs to nes-py's state and is always current."""

    def grey(self) -> NDArray[np.uint8]:
        """Brightness of the screen, with the same weights as ours."""
        red, green, blue = np.moveaxis(self._shown(), 2, 0).astype(np.uint32)
        grey: NDArray[np.uint32] = (299 * red + 587 * green + 114 * blue + 500) // 1000
        return grey.astype(np.uint8)

    def rgb(self) -> NDArray[np.uint8]:
        """The screen in color, 3 x 240 x 256."""
        return np.ascontiguousarray(np.moveaxis(self._shown(), 2, 0))

    def close(self) -> None:
        """Frees every emulator; their memory must not be read afterwards."""
        games, self._games, self._game = self._games, {}, None
        for game in games.values():
            game.close()

    def _present(self) -> Any:
        if self._game is None:
            raise ClosedError("this machine runs nothing: reset first, or make a new one")
        return self._game

    def _shown(self) -> NDArray[np.uint8]:
        screen = self.screen
        if self._setup.config.hud == "mask":
            screen[:_HUD_ROWS] = 0
        return screen

    # The start of a level, as native/mario/levels.cpp does it.

    def _start(self, game: Any, level: str, start: Start) -> None:
        name = "1-1" if level == WHOLE_GAME else level
        numbers = _native.level_numbers(self._setup.game, name)
        game.reset()
        game.allow_frames()
        if not _pass_title(game, numbers):
            raise BackendError(f"nes-py: level {name} did not start: the title took no START")
        if level != WHOLE_GAME:
            game.ram[_SIZE] = 1 if start.power == 0 else 0
            game.ram[_POWER] = start.power
            if start.halfway:
                game.ram[_HALFWAY_PAGE] = numbers["halfway_page"]
        if not _wait_for_control(game):
            raise BackendError(f"nes-py: level {name} did not start: Mario was never in control")
        self._check_level(game, name, numbers)

    def _check_level(self, game: Any, name: str, numbers: dict[str, int]) -> None:
        begun = f"{game.ram[_WORLD] + 1}-{game.ram[_STAGE] + 1}"
        if begun == name and game.ram[_AREA] == numbers["area"]:
            return
        text = f"nes-py began level {begun} instead of {name}"
        if self._strict:
            raise BackendError(f"{text}; leave out --strict-stage to play it all the same")
        warnings.warn(f"{text}; --strict-stage makes this an error", LevelWarning, stacklevel=4)


def _pass_title(game: Any, numbers: dict[str, int]) -> bool:
    for frame in range(_TITLE_FRAMES):
        if game.ram[_MODE] == _PLAYING:
            return True
        menu = game.ram[_MODE] == _TITLE and game.ram[_MODE_TASK] == _TASK_RUNNING
        press = menu and frame % 2 == 0  # Only a fresh press counts.
        if press:
            game.ram[_WORLD] = numbers["world"]
            game.ram[_STAGE] = numbers["stage"]
            game.ram[_AREA] = numbers["area"]
        game._frame_advance(_START_BUTTON if press else 0)
    return False


def _wait_for_control(game: Any) -> bool:
    for _ in range(_LOAD_FRAMES):
        running = game.ram[_MODE] == _PLAYING and game.ram[_MODE_TASK] == _TASK_RUNNING
        if running and game.ram[_PLAYER_TASK] == _IN_CONTROL and any(game.ram[_CLOCK : _CLOCK + 3]):
            return True
        game.ram[_PRE_LEVEL_TIMER] = 0
        game._frame_advance(0)
    return False


def plain_image(image: bytes) -> Path:
    """The file of an image that nes-py reads: ours, with the plain header that it insists on.

    Many workers start at once, so only one at a time looks and writes.
    """
    folder = data_folder().parent / "nes-py"
    path = folder / f"{hashlib.sha256(image).hexdigest()[:16]}.nes"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with file_lock(folder / "set-up.lock", _LOCK_SECONDS):
            if not path.is_file() or path.read_bytes() != image:
                with replacing(path) as part:
                    part.write_bytes(image)
    except OSError as error:
        raise BackendError(
            f"{path} cannot be written ({error.strerror}); check the folder"
        ) from error
    return path
