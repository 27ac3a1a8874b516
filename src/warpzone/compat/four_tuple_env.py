"""An environment with the signatures of Gym 0.21."""

from __future__ import annotations

from typing import Any

import gymnasium as gym

from warpzone.envs.single import MarioEnv


class FourTupleEnv(gym.Wrapper[Any, Any, Any, Any]):
    """`step` returns (obs, reward, done, info) and `reset` the observation, as before Gym 0.26."""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        """Begins an episode and returns its first observation."""
        obs, _ = self.env.reset(seed=seed, options=options)
        return obs

    def step(self, action: Any) -> Any:
        """Takes a step; a truncated episode has `info["TimeLimit.truncated"]`, as Gym had it."""
        obs, reward, terminated, truncated, info = self.env.step(action)
        if truncated:
            info["TimeLimit.truncated"] = True
        return obs, reward, terminated or truncated, info

    def render(self, mode: str = "human") -> Any:
        """Returns the frame for mode 'rgb_array'; there is no window for 'human'."""
        env = self.env.unwrapped
        assert isinstance(env, MarioEnv)
        return env.machine.screen if mode == "rgb_array" else None

    def seed(self, seed: int | None = None) -> list[int | None]:
        """Starts an episode with a seed, as `env.seed(0)` did for the next `reset`."""
        self.env.reset(seed=seed)
        return [seed]
