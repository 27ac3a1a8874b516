"""PPO on EnvPool's Atari Breakout; runs inside the peer's environment.

EnvPool has no trainer of its own, so this is a plain PPO loop in PyTorch, with the hyperparameters
that CleanRL publishes for Atari: learning rate 2.5e-4, gamma 0.99, gae_lambda 0.95, clip_coef 0.1
for policy and value, ent_coef 0.01, vf_coef 0.5, max_grad_norm 0.5, Adam with epsilon 1e-5, rewards
clipped to their sign and one episode per life. The learning rate stays constant. Observations are
grayscale, 84 x 84, with frame skip 4.
"""

from __future__ import annotations

import argparse
import os
from typing import Any

import envpool
import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from .serve import serve

GAMMA, GAE_LAMBDA, CLIP_COEF = 0.99, 0.95, 0.1
ENT_COEF, VF_COEF, MAX_GRAD_NORM = 0.01, 0.5, 0.5
LEARNING_RATE, ADAM_EPSILON = 2.5e-4, 1e-5


def nature_layers(stack: int) -> list[nn.Module]:
    """Returns the encoder of the Nature paper on DQN; its output has 512 values."""
    return [
        nn.Conv2d(stack, 32, 8, stride=4),
        nn.ReLU(),
        nn.Conv2d(32, 64, 4, stride=2),
        nn.ReLU(),
        nn.Conv2d(64, 64, 3),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(64 * 7 * 7, 512),
        nn.ReLU(),
    ]


def space_to_depth_layers(stack: int) -> list[nn.Module]:
    """Returns the same layers as Warpzone's encoder for pixels; its output has 256 values."""
    return [
        nn.PixelUnshuffle(4),
        nn.Conv2d(stack * 16, 32, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.Conv2d(32, 32, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(32 * 6 * 6, 256),
        nn.ReLU(),
    ]


ENCODERS = {"nature": (nature_layers, 512), "space-to-depth": (space_to_depth_layers, 256)}


class ActorCritic(nn.Module):
    """An encoder with one linear head for the policy and one for the value."""

    def __init__(self, encoder: str, stack: int, actions: int) -> None:
        """Creates the layers with orthogonal weights."""
        super().__init__()
        layers, width = ENCODERS[encoder]
        self.encoder = nn.Sequential(*layers(stack))
        self.policy = nn.Linear(width, actions)
        self.value = nn.Linear(width, 1)
        for layer in self.modules():
            if isinstance(layer, (nn.Conv2d, nn.Linear)):
                nn.init.orthogonal_(layer.weight, 2**0.5)
                if layer.bias is not None:
                    nn.init.zeros_(layer.bias)
        nn.init.orthogonal_(self.policy.weight, 0.01)
        nn.init.orthogonal_(self.value.weight, 1.0)

    def forward(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """Returns log-probabilities of the actions, [B, A], and values, [B]."""
        encoded = self.encoder(images.float() / 255)
        return functional.log_softmax(self.policy(encoded), 1), self.value(encoded).squeeze(1)


class Training:
    """A training run that can be extended one update at a time."""

    def __init__(self, options: argparse.Namespace) -> None:
        """Starts the environments and creates the network."""
        self._options = options
        self._env = envpool.make(
            "Breakout-v5",
            env_type="gymnasium",
            num_envs=options.envs,
            num_threads=options.threads,
            stack_num=options.stack,
            episodic_life=True,
            reward_clip=True,
        )
        self._model = ActorCritic(options.encoder, options.stack, int(self._env.action_space.n))
        self._optimizer = torch.optim.Adam(
            self._model.parameters(), lr=LEARNING_RATE, eps=ADAM_EPSILON
        )
        shape = (options.steps, options.envs)
        self._images = torch.empty(*shape, options.stack, 84, 84, dtype=torch.uint8)
        self._actions = torch.empty(shape, dtype=torch.long)
        self._log_probs, self._values, self._rewards = (torch.empty(shape) for _ in range(3))
        self._ended = torch.empty(options.steps + 1, options.envs, dtype=torch.bool)
        self._image: Any = self._env.reset()[0]
        self._ended[-1] = False

    def run(self, _: int) -> None:
        """Collects one rollout and learns from it."""
        next_values = self._collect()
        self._learn(self._advantages(next_values))

    @torch.no_grad()
    def _collect(self) -> Tensor:
        """Fills the rollout; returns the values of the observations that follow it."""
        self._ended[0] = self._ended[-1]
        for step in range(self._options.steps):
            image = torch.from_numpy(self._image)
            log_probs, self._values[step] = self._model(image)
            actions = torch.multinomial(log_probs.exp(), 1)
            self._images[step] = image
            self._actions[step] = actions.squeeze(1)
            self._log_probs[step] = log_probs.gather(1, actions).squeeze(1)
            self._image, rewards, terminated, truncated, _ = self._env.step(
                actions.squeeze(1).numpy().astype(np.int32)
            )
            self._rewards[step] = torch.from_numpy(rewards)
            self._ended[step + 1] = torch.from_numpy(terminated | truncated)
        values: Tensor = self._model(torch.from_numpy(self._image))[1]
        return values

    def _advantages(self, next_values: Tensor) -> Tensor:
        """Returns generalized advantage estimates, [T, B]."""
        advantages = torch.empty_like(self._rewards)
        following = torch.zeros_like(next_values)
        for step in reversed(range(self._options.steps)):
            alive = (~self._ended[step + 1]).float()
            td_errors = self._rewards[step] + GAMMA * alive * next_values - self._values[step]
            following = td_errors + GAMMA * GAE_LAMBDA * alive * following
            advantages[step] = following
            next_values = self._values[step]
        return advantages

    def _learn(self, advantages: Tensor) -> None:
        advantages = advantages.flatten()
        returns = advantages + self._values.flatten()
        # In the step after the end of an episode, EnvPool ignores the action and resets.
        used = (~self._ended[:-1]).flatten().nonzero().squeeze(1)
        for _ in range(self._options.epochs):
            shuffled = used[torch.randperm(len(used))]
            for chosen in torch.split(shuffled, self._options.minibatch_size):
                loss = self._loss(chosen, advantages, returns)
                self._optimizer.zero_grad()
                torch.autograd.backward(loss)
                nn.utils.clip_grad_norm_(self._model.parameters(), MAX_GRAD_NORM)
                self._optimizer.step()

    def _loss(self, chosen: Tensor, advantages: Tensor, returns: Tensor) -> Tensor:
        """Returns the loss of a minibatch, given as indices of the flattened rollout."""
        actions = self._actions.flatten()[chosen].unsqueeze(1)
        old_log_probs = self._log_probs.flatten()[chosen]
        old_values = self._values.flatten()[chosen]
        advantages, returns = advantages[chosen], returns[chosen]
        log_probs, values = self._model(self._images.flatten(0, 1)[chosen])
        ratio = (log_probs.gather(1, actions).squeeze(1) - old_log_probs).exp()
        # The last minibatch may hold a single sample, whose corrected deviation is NaN.
        advantages = (advantages - advantages.mean()) / (advantages.std(correction=0) + 1e-8)
        clipped_ratio = ratio.clamp(1 - CLIP_COEF, 1 + CLIP_COEF)
        policy_loss = -torch.minimum(advantages * ratio, advantages * clipped_ratio).mean()
        clipped_values = old_values + (values - old_values).clamp(-CLIP_COEF, CLIP_COEF)
        value_loss = torch.maximum((values - returns) ** 2, (clipped_values - returns) ** 2).mean()
        entropy = -(log_probs.exp() * log_probs).sum(1).mean()
        loss: Tensor = policy_loss + VF_COEF * 0.5 * value_loss - ENT_COEF * entropy
        return loss


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--envs", type=int, default=8)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--stack", type=int, default=4)
    parser.add_argument("--steps", type=int, default=128, help="steps per env and rollout")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--minibatch-size", type=int, default=256)
    parser.add_argument("--encoder", choices=tuple(ENCODERS), default="nature")
    options = parser.parse_args()
    serve(Training(options).run, batch=options.envs * options.steps)


if __name__ == "__main__":
    main()
