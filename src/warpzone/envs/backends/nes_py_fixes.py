"""nes-py and gym-super-mario-bros, with their defects fixed.

What is fixed, all in memory and in this file:

- Sizes in a ROM's header are computed in bytes, which NumPy 2 refuses (`OverflowError: Python
  integer 1024 out of bounds for uint8`): they become whole numbers.
- Positions are computed in bytes as well (`ram[0x6d] * 0x100`): reading RAM gives whole numbers.
  Writing still reaches the emulator; a widened copy would not, and then the game never starts
  (docs/decisions/async-start.md).
- Some loops wait for the game and would wait for ever: every frame is counted against a limit.
- `gym`, which both import, prints a page about itself when it meets NumPy 2: it is kept quiet.

Only versions that were tested are supported; others are refused by name.
"""

from __future__ import annotations

import contextlib
import functools
import io
from importlib import metadata
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpzone.errors import BackendError

#: What this file was tested with, exactly.
TESTED: dict[str, tuple[str, ...]] = {
    "nes-py": ("8.2.1",),
    "gym-super-mario-bros": ("7.4.0",),
    "gym": ("0.26.2",),
}
_REMEDY = 'run `pip install "warpzone[nes-py]"`'
# The longest that the package waits for, a flagpole with a full clock, takes about 700 frames.
_LONGEST_WAIT = 2000


class WholeNumbers:
    """RAM whose bytes read as Python's whole numbers; writes go to the emulator itself."""

    def __init__(self, view: NDArray[np.uint8]) -> None:
        """Takes the emulator's memory, not a copy of it."""
        self.view = view

    def __getitem__(self, at: Any) -> Any:
        """A number, or a list of them for a slice."""
        return self.view[at].tolist()

    def __setitem__(self, at: int, value: int) -> None:
        """Writes into the emulator."""
        self.view[at] = value


def check_versions() -> dict[str, str]:
    """Returns the installed versions.

    Raises:
        BackendError: When a package is missing or is none of the tested versions.
    """
    found: dict[str, str] = {}
    for package, tested in TESTED.items():
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            raise BackendError(f"backend 'nes-py' needs the package {package}; {_REMEDY}") from None
        if found[package] not in tested:
            raise BackendError(
                f"backend 'nes-py' was tested with {package} {' and '.join(tested)}, not with "
                f"{found[package]}, and mends no version that it does not know; {_REMEDY}"
            )
    return found


@functools.cache
def game_class() -> type[Any]:
    """gym-super-mario-bros' environment on nes-py's emulator, with its defects fixed.

    It takes the path of any image, starts nothing by itself, and raises BackendError from
    `_frame_advance` once `frames_allowed` have passed since `allow_frames` was called.
    """
    check_versions()
    with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
        import nes_py._rom as nes_rom
        from gym_super_mario_bros.smb_env import SuperMarioBrosEnv
        from nes_py import NESEnv

    for name in ("prg_rom_size", "chr_rom_size", "prg_ram_size"):
        # The class itself, since the emulator's constructor makes these objects.
        setattr(nes_rom.ROM, name, _whole(getattr(nes_rom.ROM, name)))

    class MendedGame(SuperMarioBrosEnv):  # type: ignore[misc]
        """The package's environment without its constructor, which starts a level on its own."""

        def __init__(self, rom: str, single_stage: bool) -> None:
            self._frames_left = _LONGEST_WAIT
            NESEnv.__init__(self, rom)
            # All that the package asks of these is whether a single level is played.
            self._target_world = self._target_stage = self._target_area = (
                0 if single_stage else None
            )
            self._time_last = self._x_position_last = 0

        def _ram_buffer(self) -> WholeNumbers:
            return WholeNumbers(super()._ram_buffer())

        def allow_frames(self) -> None:
            """Whatever loop comes next may run for as long as anything of the game takes."""
            self._frames_left = _LONGEST_WAIT

        def _frame_advance(self, action: int) -> None:
            if self._frames_left == 0:
                raise BackendError(
                    f"nes-py: the game did not continue within {_LONGEST_WAIT} frames"
                )
            self._frames_left -= 1
            super()._frame_advance(action)

    return MendedGame


def _whole(broken: property) -> property:
    """The same property of a ROM, computed from whole numbers instead of bytes."""

    def fixed(rom: Any) -> int:
        return int(broken.fget(_WholeHeader(rom)))  # type: ignore[misc]

    return property(fixed)


class _WholeHeader:
    """A ROM of which only the header is asked."""

    def __init__(self, rom: Any) -> None:
        self.header = [int(byte) for byte in rom.header]
