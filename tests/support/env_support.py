"""What the tests of the environments share: actions to play, and the single env as a reference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

import warpzone

#: Some of Gymnasium's own wrappers were mended in later versions than the oldest that we support.
GYMNASIUM_VERSION = tuple(int(part) for part in gymnasium.__version__.split(".")[:2])
STATUS_NAMES = ("small", "tall", "fireball")
#: Indices into the default (simple) action set.
NOOP, RIGHT, RIGHT_JUMP, RIGHT_RUN, RIGHT_RUN_JUMP, JUMP, LEFT = range(7)


def held_actions(seed: int, lanes: int, steps: int, count: int = 7) -> NDArray[np.int64]:
    """Random actions (steps, lanes), each held for a few steps, mostly to the right."""
    rng = np.random.default_rng(seed)
    actions = np.zeros((steps, lanes), np.int64)
    for lane in range(lanes):
        step = 0
        while step < steps:
            length = int(rng.integers(1, 9))
            forward = rng.random() < 0.8 and count > 1
            choice = rng.integers(1, min(5, count)) if forward else rng.integers(count)
            actions[step : step + length, lane] = choice
            step += length
    return actions


def levels_of(level: Any) -> list[str]:
    return level.split(",") if isinstance(level, str) else list(level)


class ReferenceLanes:
    """Single environments under the vector environment's rules for starts and autoreset."""

    def __init__(self, lanes: int, level: Any = "1-1", **options: Any) -> None:
        self.autoreset = options.get("autoreset", "next-step")
        levels = levels_of(level)
        self.envs = [
            warpzone.MarioEnv(
                levels if options.get("level_order") == "random" else levels[lane % len(levels)],
                **options,
            )
            for lane in range(lanes)
        ]
        self.waiting = [True] * lanes

    def reset(self, seed: int) -> list[tuple[Any, dict[str, Any]]]:
        self.waiting = [False] * len(self.envs)
        return [env.reset(seed=seed + lane) for lane, env in enumerate(self.envs)]

    def reset_lane(self, lane: int) -> tuple[Any, dict[str, Any]]:
        self.waiting[lane] = False
        return self.envs[lane].reset()

    def step(self, lane: int, action: int) -> LaneStep:
        env = self.envs[lane]
        if self.waiting[lane]:
            assert self.autoreset == "next-step"
            obs, info = self.reset_lane(lane)
            return LaneStep(obs, 0.0, False, False, info)
        obs, reward, terminated, truncated, info = env.step(action)
        result = LaneStep(obs, float(reward), terminated, truncated, info)
        if result.ended and self.autoreset == "same-step":
            result.final_obs, result.final_info = obs, info
            result.obs, result.info = env.reset()
        elif result.ended:
            self.waiting[lane] = True
        return result


class LaneStep:
    """One lane's step; the final ones only where an episode ended and a new one began."""

    def __init__(
        self, obs: Any, reward: float, terminated: bool, truncated: bool, info: dict[str, Any]
    ) -> None:
        self.obs, self.reward, self.info = obs, reward, info
        self.terminated, self.truncated = terminated, truncated
        self.final_obs: Any = None
        self.final_info: dict[str, Any] = {}

    @property
    def ended(self) -> bool:
        return self.terminated or self.truncated


def lane_obs(obs: Any, lane: int) -> Any:
    if isinstance(obs, dict):
        return {name: array[lane] for name, array in obs.items()}
    return obs[lane]


def assert_same_obs(got: Any, expected: Any, where: str) -> None:
    if isinstance(expected, dict):
        assert set(got) == set(expected)
        for name, array in expected.items():
            np.testing.assert_array_equal(got[name], array, err_msg=f"{name} {where}")
    else:
        np.testing.assert_array_equal(got, expected, err_msg=where)


def assert_same_info(info: dict[str, Any], lane: int, expected: dict[str, Any], where: str) -> None:
    """Every field of the single env's info, and no field more."""
    names = {name for name in info if name.lstrip("_") not in ("final_obs", "final_info")}
    assert names == set(expected)
    for name, value in expected.items():
        wanted = STATUS_NAMES.index(value) if isinstance(value, str) else value
        np.testing.assert_array_equal(info[name][lane], wanted, err_msg=f"{name} {where}")


def frames_of(stream: Sequence[Any]) -> Iterator[NDArray[np.uint8]]:
    """The arrays of a list of observations, whatever their kind."""
    for obs in stream:
        yield from obs.values() if isinstance(obs, dict) else (obs,)
