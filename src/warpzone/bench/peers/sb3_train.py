"""Stable-Baselines3 PPO on gym-super-mario-bros; runs inside the peer's environment.

Eight environments in subprocesses, frame skip 4, greyscale 84 x 84, frame stack of 4, as is common.
The network has the same layers and sizes as ours for pixels, so that only the implementation
differs.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

warnings.simplefilter("ignore")  # gym prints a deprecation warning on import

import cv2  # noqa: E402
import gymnasium  # noqa: E402
import numpy as np  # noqa: E402
import torch  # noqa: E402

if not hasattr(np, "bool8"):
    np.bool8 = np.bool_  # type: ignore[attr-defined] # gym 0.26 still uses the old name

from gym_super_mario_bros.smb_env import SuperMarioBrosEnv  # noqa: E402
from stable_baselines3 import PPO  # noqa: E402
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor  # noqa: E402
from stable_baselines3.common.vec_env import SubprocVecEnv, VecFrameStack  # noqa: E402

from .play import SIMPLE_ACTIONS  # noqa: E402
from .serve import serve  # noqa: E402

ENVS, STEPS, SKIP, SIDE = 8, 128, 4, 84
ACTIONS = SIMPLE_ACTIONS[:5]  # No-op and to the right: the same number of actions as ours.


class MarioEnv(gymnasium.Env[Any, Any]):
    """gym-super-mario-bros with the Gymnasium interface."""

    observation_space = gymnasium.spaces.Box(0, 255, (SIDE, SIDE, 1), np.uint8)
    action_space = gymnasium.spaces.Discrete(len(ACTIONS))

    def __init__(self) -> None:
        """Boots the game."""
        self._env = SuperMarioBrosEnv(rom_mode="vanilla", target=(1, 1))

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Starts the level."""
        return self._observation(self._env.reset()), {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Holds the buttons for four frames."""
        total, done = 0.0, False
        for _ in range(SKIP):
            screen, reward, done, _ = self._env.step(ACTIONS[action])
            total += reward
            if done:
                break
        return self._observation(screen), total, done, False, {}

    def _observation(self, screen: Any) -> Any:
        grey = cv2.cvtColor(np.ascontiguousarray(screen), cv2.COLOR_RGB2GRAY)
        return cv2.resize(grey, (SIDE, SIDE), interpolation=cv2.INTER_AREA)[:, :, None]


class SpaceToDepthExtractor(BaseFeaturesExtractor):
    """The same layers as our space-to-depth encoder for pixels."""

    def __init__(self, space: gymnasium.spaces.Box, features_dim: int = 256) -> None:
        """Creates the layers."""
        super().__init__(space, features_dim)
        self.layers = torch.nn.Sequential(
            torch.nn.PixelUnshuffle(4),
            torch.nn.Conv2d(space.shape[0] * 16, 32, 3, stride=2, padding=1),
            torch.nn.ReLU(),
            torch.nn.Conv2d(32, 32, 3, stride=2, padding=1),
            torch.nn.ReLU(),
            torch.nn.Flatten(),
            torch.nn.Linear(32 * 6 * 6, features_dim),
            torch.nn.ReLU(),
        )

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Encodes a batch of images."""
        encoded: torch.Tensor = self.layers(images)
        return encoded


class Training:
    """A training run that can be extended step by step."""

    def __init__(self, epochs: int) -> None:
        """Starts the subprocesses and creates the model."""
        env = VecFrameStack(SubprocVecEnv([MarioEnv] * ENVS), 4)
        self._model = PPO(
            "CnnPolicy",
            env,
            n_steps=STEPS,
            n_epochs=epochs,
            batch_size=256,
            device="cpu",
            policy_kwargs={"features_extractor_class": SpaceToDepthExtractor, "net_arch": []},
        )

    def run(self, steps: int) -> None:
        """Trains for about `steps` environment steps."""
        self._model.learn(steps, reset_num_timesteps=False)


if __name__ == "__main__":
    serve(Training(int(sys.argv[1])).run, batch=ENVS * STEPS)
