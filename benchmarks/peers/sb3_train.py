"""Training with Stable-Baselines3 PPO on gym-super-mario-bros, inside the peer's environment.

Eight games in processes of their own, skip 4, grey 84 x 84, stack of 4, as people set it up; the
network has the layers and sizes of ours for pixels, so that only the machinery differs.
"""

from __future__ import annotations

import sys
import warnings

warnings.simplefilter("ignore")  # gym warns about itself on import

import cv2  # noqa: E402
import gymnasium  # noqa: E402
import numpy as np  # noqa: E402
import torch  # noqa: E402

if not hasattr(np, "bool8"):
    np.bool8 = np.bool_  # gym 0.26 still asks for the old name

from gym_super_mario_bros.smb_env import SuperMarioBrosEnv  # noqa: E402
from stable_baselines3 import PPO  # noqa: E402
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor  # noqa: E402
from stable_baselines3.common.vec_env import SubprocVecEnv, VecFrameStack  # noqa: E402

from peers.play import SIMPLE_ACTIONS  # noqa: E402
from peers.serve import serve  # noqa: E402

ENVS, STEPS, SKIP, SIDE = 8, 128, 4, 84
ACTIONS = SIMPLE_ACTIONS[:5]  # Standing, and to the right: as many as ours.


class Game(gymnasium.Env):
    """The package's game behind the present interface."""

    observation_space = gymnasium.spaces.Box(0, 255, (SIDE, SIDE, 1), np.uint8)
    action_space = gymnasium.spaces.Discrete(len(ACTIONS))

    def __init__(self) -> None:
        """Boots the game."""
        self._game = SuperMarioBrosEnv(rom_mode="vanilla", target=(1, 1))

    def reset(self, *, seed=None, options=None):
        """Begins the level."""
        return self._seen(self._game.reset()), {}

    def step(self, action):
        """Holds the buttons for four frames."""
        total, done = 0.0, False
        for _ in range(SKIP):
            screen, reward, done, _ = self._game.step(ACTIONS[action])
            total += reward
            if done:
                break
        return self._seen(screen), total, done, False, {}

    def _seen(self, screen):
        grey = cv2.cvtColor(np.ascontiguousarray(screen), cv2.COLOR_RGB2GRAY)
        return cv2.resize(grey, (SIDE, SIDE), interpolation=cv2.INTER_AREA)[:, :, None]


class Folded(BaseFeaturesExtractor):
    """The same layers as our network for pixels."""

    def __init__(self, space: gymnasium.spaces.Box, features_dim: int = 256) -> None:
        """Makes the layers."""
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

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        """Encodes pictures."""
        return self.layers(pictures)


class Training:
    """A run that goes on for as long as it is asked to."""

    def __init__(self, epochs: int) -> None:
        """Starts the processes and makes the model."""
        games = VecFrameStack(SubprocVecEnv([Game] * ENVS), 4)
        self._model = PPO(
            "CnnPolicy",
            games,
            n_steps=STEPS,
            n_epochs=epochs,
            batch_size=256,
            device="cpu",
            policy_kwargs={"features_extractor_class": Folded, "net_arch": []},
        )

    def run(self, steps: int) -> None:
        """Collects and learns."""
        self._model.learn(steps, reset_num_timesteps=False)


if __name__ == "__main__":
    serve(Training(int(sys.argv[1])).run, batch=ENVS * STEPS)
