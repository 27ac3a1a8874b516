"""Actor-critic: encoder, recurrent core, policy head and value head."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from warpzone.models.encoder import Encoder, orthogonal
from warpzone.models.memory import Memory
from warpzone.models.noisy import NoisyLinear
from warpzone.models.tree import Tree, map_tree

_PREPARED = "__prepared__"


class Decision(NamedTuple):
    """The network's output for a batch of observations.

    Attributes:
        logits: Logits of the actions.
        values: Values of the states.
        state: Recurrent state after the observations.
    """

    logits: Tensor
    values: Tensor
    state: Tensor


class ActorCritic(nn.Module):
    """Chooses actions and estimates values."""

    def __init__(
        self,
        encoder: nn.Module,
        memory: Memory,
        actions: int,
        *,
        obs_name: str | None = None,
        noisy_heads: bool = False,
    ):
        """Creates the network; without noise, the initial policy is almost uniform.

        Args:
            encoder: Maps observations to vectors of the core's input size.
            memory: Recurrent core, or the identity.
            actions: Number of actions.
            obs_name: Part of the observation that is passed to the encoder as a tensor; by default,
                the encoder receives the whole dict.
            noisy_heads: Whether the heads are noisy linear layers.
        """
        super().__init__()
        head = NoisyLinear if noisy_heads else nn.Linear
        self.encoder = encoder
        self.memory = memory
        self.policy = orthogonal(head(memory.size, actions), 0.01)
        self.value = orthogonal(head(memory.size, 1), 1.0)
        self._obs_name = obs_name

    def initial_state(self, num_envs: int) -> Tensor:
        """Returns the recurrent state at the start of an episode."""
        device = self.policy.weight.device
        return torch.zeros(num_envs, self.memory.state_size, device=device)

    def prepare(self, obs: Tree) -> Tree:
        """Precomputes the encoder's conversion of observations, [T, B, ...], for several epochs.

        The result can be used in place of the observations.
        """
        if not isinstance(self.encoder, Encoder) or self.encoder.converts_quickly:
            return obs
        steps, batch = next(iter(obs.values())).shape[:2]
        prepared = self.encoder.prepare(self._input(_flatten_time(obs)))
        return {_PREPARED: prepared.view(steps, batch, *prepared.shape[1:])}

    def draw_noise(self, generator: torch.Generator) -> None:
        """Resamples the noise of noisy heads; does nothing without them."""
        for head in (self.policy, self.value):
            if isinstance(head, NoisyLinear):
                head.draw(generator)

    def step(self, obs: Tree, state: Tensor, first: Tensor) -> Decision:
        """Evaluates one step of each environment; `first` marks the start of episodes."""
        if state.shape[1]:
            state = state * (~first).to(state.dtype).unsqueeze(1)
        output, state = self.memory.step(self.encoder(self._input(obs)), state)
        return self._decide(output, state)

    def unroll(self, obs: Tree, state: Tensor, first: Tensor) -> Decision:
        """Evaluates many steps, [T, B, ...], from the recurrent state before the first step."""
        steps, batch = first.shape
        encoded = self.encoder(self._input(_flatten_time(obs)))
        if self.memory.state_size == 0:
            flat = self._decide(encoded, state)
            logits = flat.logits.view(steps, batch, -1)
            return Decision(logits, flat.values.view(steps, batch), state)
        output, state = self.memory.unroll(encoded.view(steps, batch, -1), state, first)
        return self._decide(output, state)

    def forward(self, obs: Tree) -> Decision:
        """Evaluates independent observations, [B, ...]; only without a recurrent core."""
        return self._decide(self.encoder(self._input(obs)), self.initial_state(0))

    def _input(self, obs: Tree) -> Tree | Tensor:
        name = _PREPARED if _PREPARED in obs else self._obs_name
        return obs if name is None else obs[name]

    def _decide(self, output: Tensor, state: Tensor) -> Decision:
        # The heads run in full precision: small differences in logits and values matter.
        with torch.autocast(output.device.type, enabled=False):
            output = output.float()
            return Decision(self.policy(output), self.value(output).squeeze(-1), state.float())


def _flatten_time(obs: Tree) -> Tree:
    """Merges the first two dimensions, time and environment."""
    return map_tree(lambda part: part.flatten(0, 1), obs)


def gumbel_noise(like: Tensor, generator: torch.Generator) -> Tensor:
    """Draws noise of a tensor's shape; the highest logit plus noise is a sample of the logits."""
    return torch.empty_like(like).exponential_(generator=generator).log_().neg_()


def log_prob(logits: Tensor, actions: Tensor) -> Tensor:
    """Returns the log-probabilities of actions."""
    chosen = torch.log_softmax(logits, -1).gather(-1, actions.unsqueeze(-1))
    return chosen.squeeze(-1)


def entropy(logits: Tensor) -> Tensor:
    """Returns the entropy of each distribution."""
    log_probs = torch.log_softmax(logits, -1)
    return -(log_probs.exp() * log_probs).sum(-1)
