"""Our side of the benchmark: one class per workload, each with `run(units)`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Protocol

import numpy as np
from peers.level_start import Level, start_level
from peers.play import SIMPLE_ACTIONS, action_sequence, held_actions

import warpzone

DYING_STATES = (0x06, 0x0B)
PLAYER_STATE, VERTICAL_PAGE = 0x0E, 0xB5
SKIP = 4
_SEQUENCE = 4096


class Workload(Protocol):
    """Something that can be run for a while."""

    def run(self, units: int) -> None:
        """Does this many units of work."""


class RawFrames:
    """The bare console on 1-1, drawn or not, with a restart at each death."""

    def __init__(self, rom: Path, render: bool) -> None:
        """Boots the game and keeps the first frame of 1-1."""
        self._console = warpzone.Console(str(rom))
        start_level(self, Level(1, 1))
        self._start = self._console.save()
        self._render = render
        self._actions = held_actions(seed=0)

    def step(self, buttons: int) -> None:
        """Runs a frame of the start procedure."""
        self._console.run_frame(buttons, render=False)

    def read(self, address: int) -> int:
        """Reads a byte of RAM for the start procedure."""
        return int(self._console.peek(address))

    def write(self, address: int, value: int) -> None:
        """Writes a byte of RAM for the start procedure."""
        self._console.poke(address, value)

    def run(self, units: int) -> None:
        """Runs frames."""
        console, render = self._console, self._render
        for _ in range(0, units, SKIP):
            buttons = SIMPLE_ACTIONS[next(self._actions)]
            for _ in range(SKIP):
                console.run_frame(buttons, render=render)
            if console.peek(PLAYER_STATE) in DYING_STATES or console.peek(VERTICAL_PAGE) > 1:
                console.load(self._start)


class AgentSteps:
    """The vector environment on 1-1 with the matched workload, its default settings."""

    def __init__(self, rom: Path, num_envs: int, num_threads: int) -> None:
        """Makes the environment and draws the actions."""
        self.env = warpzone.make_vec(
            "1-1", num_envs=num_envs, num_threads=num_threads, rom=str(rom)
        )
        self._num_envs = num_envs
        lanes = [action_sequence(seed, _SEQUENCE) for seed in range(num_envs)]
        self._actions = np.stack(lanes, axis=1)
        self._next = 0
        self.env.reset(seed=0)

    def run(self, units: int) -> None:
        """Runs agent steps, counted over all lanes."""
        step, actions = self.env.step, self._actions
        for _ in range(0, units, self._num_envs):
            step(actions[self._next])
            self._next = (self._next + 1) % _SEQUENCE

    def python_share(self, seconds: float) -> float:
        """Returns the share of the time of `step` that is spent outside the native call."""
        inside = -self.env.native_seconds
        outside = 0.0
        while outside < seconds:
            actions = self._actions[self._next]
            self._next = (self._next + 1) % _SEQUENCE
            before = time.perf_counter()
            self.env.step(actions)
            outside += time.perf_counter() - before
        inside += self.env.native_seconds
        return 1.0 - inside / outside

    def close(self) -> None:
        """Ends the environment's threads."""
        self.env.close()
