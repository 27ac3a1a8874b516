"""gym-super-mario-bros 7.4 on our console: its rules, transcribed line by line from `smb_env.py`.

The package reads and writes RAM and runs frames; nothing in it depends on the emulator below. So
its environment can be run on our machine, and both must agree on every frame.
"""

from __future__ import annotations

import importlib
import sys
import types
from pathlib import Path
from typing import Any

import warpzone

BUSY_STATES = (0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x07)
STAGE_OVER_ENEMIES = (0x2D, 0x31)


class Memory:
    """The RAM as whole numbers: the package's sums overflow on NumPy 2's bytes."""

    def __init__(self, console: warpzone.Console) -> None:
        self._ram = console.ram

    def __getitem__(self, at: Any) -> Any:
        return self._ram[at].tolist()

    def __setitem__(self, at: int, value: int) -> None:
        self._ram[at] = value


class NesOnWarpzone:
    """What the package uses of nes-py's `NESEnv`."""

    reward_range = (-float("inf"), float("inf"))
    image = b""  # Set before an environment is made.

    def __init__(self, rom: str | None = None) -> None:
        self.console = warpzone.Console(self.image)
        self.ram = Memory(self.console)
        self.done = True
        self._saved: bytes | None = None

    def _frame_advance(self, buttons: int) -> None:
        self.console.run_frame(buttons, render=False)

    def _backup(self) -> None:
        self._saved = self.console.save()

    def begin_at(self, state: bytes) -> None:
        """A reset to a state of our choice, in place of the package's own start."""
        self.console.load(state)
        self._backup()
        self.reset()

    def reset(self) -> None:
        self._will_reset()
        if self._saved is None:
            self.console.power_on()
        else:
            self.console.load(self._saved)
        self._did_reset()
        self.done = False

    def step(self, buttons: int) -> tuple[float, bool, dict[str, Any]]:
        assert not self.done
        self.console.run_frame(buttons, render=False)
        reward = float(self._get_reward())
        self.done = bool(self._get_done())
        info = self._get_info()
        self._did_step(self.done)
        low, high = self.reward_range
        return min(max(reward, low), high), self.done, info


class LiteralPackage(NesOnWarpzone):
    """`SuperMarioBrosEnv`, with its properties written out."""

    reward_range = (-15, 15)

    def __init__(self, single_stage: bool) -> None:
        super().__init__()
        self.single_stage = single_stage
        self._time_last = self._x_position_last = 0

    def _digits(self, address: int, length: int) -> int:
        return int("".join(map(str, self.ram[address : address + length])))

    def _time(self) -> int:
        return self._digits(0x07F8, 3)

    def _x_position(self) -> int:
        return int(self.ram[0x6D] * 0x100 + self.ram[0x86])

    def _is_dying(self) -> bool:
        return bool(self.ram[0x0E] == 0x0B or self.ram[0xB5] > 1)

    def _is_dead(self) -> bool:
        return bool(self.ram[0x0E] == 0x06)

    def _is_world_over(self) -> bool:
        return bool(self.ram[0x0770] == 2)

    def _flag_get(self) -> bool:
        if self._is_world_over():
            return True
        for address in range(0x16, 0x1B):
            if self.ram[address] in STAGE_OVER_ENEMIES:
                return bool(self.ram[0x1D] == 3)
        return False

    def _will_reset(self) -> None:
        self._time_last = self._x_position_last = 0

    def _did_reset(self) -> None:
        self._time_last, self._x_position_last = self._time(), self._x_position()

    def _get_reward(self) -> int:
        x_reward = self._x_position() - self._x_position_last
        self._x_position_last = self._x_position()
        if x_reward < -5 or x_reward > 5:
            x_reward = 0
        time_penalty = min(self._time() - self._time_last, 0)
        self._time_last = self._time()
        return x_reward + time_penalty + (-25 if self._is_dying() or self._is_dead() else 0)

    def _get_done(self) -> bool:
        if self.single_stage:
            return self._is_dying() or self._is_dead() or self._flag_get()
        return bool(self.ram[0x075A] == 0xFF)

    def _did_step(self, done: bool) -> None:
        if done:
            return
        if self._is_dying():
            self.ram[0x0E] = 0x06
            self._frame_advance(0)
        if not self.single_stage and self._is_world_over():
            time = self._time()
            while self._time() == time:
                self._frame_advance(0)
        if 1 < self.ram[0x06DE] < 255:
            self.ram[0x06DE] = 1
        while self.ram[0x0E] in BUSY_STATES or self._is_world_over():
            self.ram[0x07A0] = 0
            self._frame_advance(0)

    def _get_info(self) -> dict[str, Any]:
        above = self.ram[0xB5] < 1
        return {
            "coins": self._digits(0x07ED, 2),
            "flag_get": self._flag_get(),
            "life": self.ram[0x075A],
            "score": self._digits(0x07DE, 6),
            "stage": self.ram[0x075C] + 1,
            "status": {0: "small", 1: "tall"}.get(self.ram[0x0756], "fireball"),
            "time": self._time(),
            "world": self.ram[0x075F] + 1,
            "x_pos": self._x_position(),
            "y_pos": (255 if above else 0) + 255 - self.ram[0x03B8],
        }


def real_package(folder: Path) -> Any:
    """The package's own class from an unpacked wheel, on our console instead of nes-py's."""
    nes_py = types.ModuleType("nes_py")
    nes_py.NESEnv = NesOnWarpzone  # type: ignore[attr-defined]
    package = types.ModuleType("gym_super_mario_bros")
    package.__path__ = [str(folder / "gym_super_mario_bros")]
    names = ("nes_py", "gym_super_mario_bros")
    # Other tests import the real ones, which may be installed; they get them back.
    real = {name: sys.modules.pop(name) for name in list(sys.modules) if name.startswith(names)}
    sys.modules.update({"nes_py": nes_py, "gym_super_mario_bros": package})
    try:
        return importlib.import_module("gym_super_mario_bros.smb_env").SuperMarioBrosEnv
    finally:
        for name in list(sys.modules):
            if name.startswith(names):
                del sys.modules[name]
        sys.modules.update(real)
