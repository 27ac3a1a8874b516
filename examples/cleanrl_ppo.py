"""PPO in a single file, in the style of CleanRL: nothing of our trainer, only the environment.

python examples/cleanrl_ppo.py --steps 300000
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from typing import Any

import warpzone
import numpy as np
import torch
from torch import Tensor, nn
from torch.distributions import Categorical


@dataclass(frozen=True)
class Args:
    """Hyperparameters, named as in CleanRL."""

    level: str = "1-1"
    seed: int = 1
    num_envs: int = 32
    num_steps: int = 64
    learning_rate: float = 7e-4
    gamma: float = 0.98
    gae_lambda: float = 0.94
    update_epochs: int = 4
    minibatch_size: int = 512
    clip_coef: float = 0.2
    ent_coef: float = 0.01
    vf_coef: float = 0.5
    max_grad_norm: float = 0.5


class Agent(nn.Module):
    """Policy and value on top of the tile grid."""

    def __init__(self, inputs: int, actions: int) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(inputs, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU())
        self.actor = nn.Linear(128, actions)
        self.critic = nn.Linear(128, 1)
        nn.init.orthogonal_(self.actor.weight, 0.01)

    def forward(self, obs: Tensor) -> tuple[Categorical, Tensor]:
        """Distribution of actions, and values."""
        hidden = self.body(obs)
        return Categorical(logits=self.actor(hidden)), self.critic(hidden).squeeze(-1)


def flat(obs: dict[str, Any]) -> Tensor:
    """Tiles and features as one vector per environment."""
    parts = [obs[name].reshape(len(obs[name]), -1) for name in ("tiles", "features")]
    return torch.from_numpy(np.concatenate(parts, 1)).float() / 255


def main() -> None:
    """Trains."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=300_000)
    total_steps, args = parser.parse_args().steps, Args()
    torch.manual_seed(args.seed)
    envs = warpzone.make_vec(
        args.level,
        num_envs=args.num_envs,
        obs="tiles",
        actions="right-only",
        autoreset="same-step",
        stagnation_limit=150,
    )
    first, _ = envs.reset(seed=args.seed)
    next_obs = flat(first)
    agent = Agent(next_obs.shape[1], int(envs.single_action_space.n))
    optimizer = torch.optim.Adam(agent.parameters(), args.learning_rate, eps=1e-5)

    shape = (args.num_steps, args.num_envs)
    obs = torch.zeros(*shape, next_obs.shape[1])
    actions, log_probs, rewards, dones, values = (torch.zeros(shape) for _ in range(5))
    batch = args.num_steps * args.num_envs
    clears: list[bool] = []
    began, steps = time.time(), 0

    while steps < total_steps:
        for step in range(args.num_steps):
            obs[step] = next_obs
            with torch.no_grad():
                policy, values[step] = agent(next_obs)
            action = policy.sample()
            actions[step], log_probs[step] = action, policy.log_prob(action)
            raw, reward, terminated, truncated, info = envs.step(action.numpy())
            done = terminated | truncated
            rewards[step], dones[step] = torch.from_numpy(reward), torch.from_numpy(done)
            if done.any():  # The info of ended episodes; the new ones have begun.
                clears += (info["final_info"]["clears"][done] > 0).tolist()
            next_obs = flat(raw)
        steps += batch

        with torch.no_grad():  # Generalized advantage estimation.
            next_value = agent(next_obs)[1]
            advantages, running = torch.zeros(shape), torch.zeros(args.num_envs)
            for t in reversed(range(args.num_steps)):
                alive = 1.0 - dones[t]
                following = next_value if t == args.num_steps - 1 else values[t + 1]
                delta = rewards[t] + args.gamma * following * alive - values[t]
                running = delta + args.gamma * args.gae_lambda * alive * running
                advantages[t] = running
            returns = advantages + values

        flat_obs = obs.reshape(batch, -1)
        taken, old, gains, targets = (
            tensor.reshape(batch) for tensor in (actions, log_probs, advantages, returns)
        )
        for _ in range(args.update_epochs):
            for index in torch.randperm(batch).split(args.minibatch_size):
                policy, value = agent(flat_obs[index])
                ratio = (policy.log_prob(taken[index]) - old[index]).exp()
                gain = gains[index]
                gain = (gain - gain.mean()) / (gain.std() + 1e-8)
                clipped = ratio.clamp(1 - args.clip_coef, 1 + args.clip_coef)
                policy_loss = -torch.min(ratio * gain, clipped * gain).mean()
                value_loss = 0.5 * (value - targets[index]).square().mean()
                loss = policy_loss + args.vf_coef * value_loss
                loss = loss - args.ent_coef * policy.entropy().mean()
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
                optimizer.step()

        rate = np.mean(clears[-100:]) if clears else 0.0
        speed = steps / (time.time() - began)
        print(f"{steps:>9,} steps, clear rate {rate:.0%}, {speed:,.0f} steps/s", flush=True)
    envs.close()


if __name__ == "__main__":
    main()
