"""Measuring the speed of the environment and of the bare console."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import warpzone
from warpzone import _native
from warpzone.envs.actions import ACTION_SETS, resolve_actions
from warpzone.envs.console import Console
from warpzone.envs.vector import MarioVectorEnv
from warpzone.rom.locate import load_game

#: Actions of the measured workload, and how often each is sampled: mostly to the right, with jumps.
ACTIONS = ACTION_SETS["simple"]
_PROBABILITIES = (0.05, 0.15, 0.15, 0.25, 0.30, 0.05, 0.05)
_SEQUENCE = 4096
_SKIP = 4

# RAM addresses and values that show that Mario is dying or has fallen below the screen.
_PLAYER_TASK, _Y_PAGE = 0x0E, 0xB5
_LIFE_LOST, _DYING = 0x06, 0x0B

Actions = NDArray[np.int64]
Clock = Callable[[], float]


def held_actions(seed: int, length: int = _SEQUENCE) -> Actions:
    """Returns random action indices, each held for 1 to 7 agent steps."""
    rng = np.random.default_rng(seed)
    actions = rng.choice(len(ACTIONS), size=length, p=_PROBABILITIES)
    return np.repeat(actions, rng.integers(1, 8, size=length))[:length].astype(np.int64)


def measure(
    run: Callable[[int], None], seconds: float, batch: int, clock: Clock = time.perf_counter
) -> float:
    """Calls `run(batch)` repeatedly for `seconds` and returns units per second."""
    units = 0
    start = clock()
    while (elapsed := clock() - start) < seconds:
        run(batch)
        units += batch
    return units / elapsed


class RawFrames:
    """Runs the bare console in one level, with or without rendering; restarts at each death."""

    def __init__(self, console: Console, render: bool, actions: Actions) -> None:
        """Creates the workload for a console that is at the start of a level."""
        self._console = console
        self._start = console.save()
        self._render = render
        buttons = resolve_actions("simple")
        self._buttons = [buttons[action] for action in actions.tolist()]
        self._next = 0

    def run(self, units: int) -> None:
        """Runs about `units` frames."""
        console, render = self._console, self._render
        for _ in range(0, units, _SKIP):
            held = self._buttons[self._next]
            self._next = (self._next + 1) % len(self._buttons)
            console.run_frames(_SKIP, held, render)
            dying = console.peek(_PLAYER_TASK) in (_LIFE_LOST, _DYING)
            if dying or console.peek(_Y_PAGE) > 1:
                console.load(self._start)


class AgentSteps:
    """Steps a vector environment, and can separate native time from Python overhead."""

    def __init__(self, env: MarioVectorEnv, actions: Actions) -> None:
        """Creates the workload.

        Args:
            env: Environment with the simple action set.
            actions: Array of shape (steps, num_envs).
        """
        self.env = env
        self._actions = actions
        self._next = 0
        env.reset(seed=0)

    def run(self, units: int) -> None:
        """Runs about `units` agent steps, counted over all environments."""
        step, actions = self.env.step, self._actions
        for _ in range(0, units, self.env.num_envs):
            step(actions[self._next])
            self._next = (self._next + 1) % len(actions)

    def python_share(self, seconds: float) -> float:
        """Returns the fraction of the time in `step` that is spent outside the native call."""
        inside = -self.env.native_seconds
        outside = 0.0
        while outside < seconds:
            actions = self._actions[self._next]
            self._next = (self._next + 1) % len(self._actions)
            before = time.perf_counter()
            self.env.step(actions)
            outside += time.perf_counter() - before
        inside += self.env.native_seconds
        return 1.0 - inside / outside

    def close(self) -> None:
        """Closes the environment."""
        self.env.close()


class SentSteps:
    """Steps the environments of a vector environment one by one, with `send` and `recv`."""

    def __init__(self, env: MarioVectorEnv, actions: Actions, batch_size: int) -> None:
        """Creates the workload.

        Args:
            env: Environment with the simple action set.
            actions: Array of shape (steps, num_envs).
            batch_size: How many environments each `recv` returns.
        """
        self.env = env
        self._actions = actions
        self._batch_size = batch_size
        self._taken = np.full(env.num_envs, -1)
        env.async_reset(seed=0)

    def run(self, units: int) -> None:
        """Runs about `units` agent steps, counted over all environments."""
        recv, send, actions, taken = self.env.recv, self.env.send, self._actions, self._taken
        for _ in range(0, units, self._batch_size):
            env_ids = recv(self._batch_size)[4]["env_id"]
            taken[env_ids] += 1
            send(actions[taken[env_ids] % len(actions), env_ids], env_ids)

    def close(self) -> None:
        """Closes the environment."""
        self.env.close()


@dataclass(frozen=True)
class StepRow:
    """Measurements of one vector environment."""

    level: str
    obs: str
    num_envs: int
    num_threads: int
    steps_per_second: float
    frames_per_second: float
    python_share: float


@dataclass(frozen=True)
class RawRow:
    """Measurements of the bare console."""

    level: str
    rendered: bool
    frames_per_second: float


def measure_steps(
    level: str,
    obs: str,
    num_envs: int,
    num_threads: int,
    seconds: float,
    *,
    frame_skip: int = 4,
    **options: Any,
) -> StepRow:
    """Measures the speed of one vector environment, then its Python overhead."""
    actions = np.stack([held_actions(seed) for seed in range(num_envs)], axis=1)
    options = {"obs": obs, "frame_skip": frame_skip, **options}
    env = warpzone.make_vec(level, num_envs, num_threads, **options)
    try:
        workload = AgentSteps(env, actions)
        rate = measure(workload.run, seconds, 16 * num_envs)
        share = workload.python_share(seconds / 4)
    finally:
        env.close()
    return StepRow(level, obs, num_envs, num_threads, rate, rate * frame_skip, share)


def measure_raw(
    level: str, rendered: bool, seconds: float, rom: Any = None, game: str = "smb"
) -> RawRow:
    """Measures the speed of the bare console."""
    console = Console(load_game(game, rom))
    _native.start(console, game, level)
    workload = RawFrames(console, rendered, held_actions(seed=0))
    return RawRow(level, rendered, measure(workload.run, seconds, 400))
