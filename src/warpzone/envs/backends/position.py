"""Mario's x for third-party environments, which may not report it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import gymnasium as gym

#: Where the game keeps x: its page, and its place on the page.
X_ADDRESSES = (0x6D, 0x86)
_PAGE_WIDTH = 256
_NAMES = ("x_pos", "x", "xpos")


class XPosition(gym.Wrapper[Any, Any, Any, Any]):
    """Makes sure that `info["x_pos"]` is there, whatever the environment reports.

    What the environment reports comes first, under any usual name. Where it reports none, x is read
    from its RAM. Where that fails too, x stays what it was and the failure is counted in
    `info["x_failures"]`; after too many of them a hint is logged once and RAM is no longer read.
    `info["x_source"]` says which it was: 'backend', 'ram' or 'last'.
    """

    def __init__(
        self,
        env: gym.Env[Any, Any],
        *,
        addresses: tuple[int, int] = X_ADDRESSES,
        failures_allowed: int = 100,
        read_ram: Callable[[], Any] | None = None,
    ) -> None:
        """Wraps an environment.

        Args:
            env: Any environment of the game.
            addresses: Of the page and of the place on it.
            failures_allowed: How many reads of RAM may fail.
            read_ram: Returns the RAM; by default the environment's `ram` or `get_ram()`.
        """
        super().__init__(env)
        self._addresses = addresses
        self._allowed = failures_allowed
        self._read_ram = read_ram or self._ram_of_env
        self._x = 0
        self.failures = 0

    def reset(self, **options: Any) -> tuple[Any, dict[str, Any]]:
        """Resets, and adds x to the info."""
        obs, info = self.env.reset(**options)
        return obs, self._with_x(info)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Steps, and adds x to the info."""
        obs, reward, terminated, truncated, info = self.env.step(action)
        return obs, reward, terminated, truncated, self._with_x(info)

    def _with_x(self, info: dict[str, Any]) -> dict[str, Any]:
        reported = next((info[name] for name in _NAMES if info.get(name) is not None), None)
        source = "last"
        if reported is not None:
            self._x, source = int(reported), "backend"
        elif self.failures <= self._allowed and (x := self._from_ram()) is not None:
            self._x, source = x, "ram"
        return info | {"x_pos": self._x, "x_source": source, "x_failures": self.failures}

    def _from_ram(self) -> int | None:
        page, place = self._addresses
        try:
            ram = self._read_ram()
            return int(ram[page]) * _PAGE_WIDTH + int(ram[place])
        except (AttributeError, IndexError, KeyError, TypeError, ValueError, RuntimeError) as error:
            self.failures += 1
            if self.failures > self._allowed:
                warnings.warn(
                    f"[hint] x could not be read from RAM {self.failures} times (last: "
                    f"{type(error).__name__}: {error}) and stays {self._x} from now on; give other "
                    "addresses, or an environment that reports x_pos",
                    RuntimeWarning,
                    stacklevel=4,
                )
            return None

    def _ram_of_env(self) -> Any:
        inner: Any = self.env.unwrapped
        ram = inner.ram if hasattr(inner, "ram") else inner.get_ram
        return ram() if callable(ram) else ram
