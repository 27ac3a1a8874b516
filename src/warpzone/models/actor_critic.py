"""The actor-critic: encoder, memory core, a policy head and a value head."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from warpzone.models.encoders import Encoder, orthogonal
from warpzone.models.memory import Memory
from warpzone.models.noisy import NoisyLinear

#: A batch of pictures, or of tile grids with features.
Obs = Tensor | tuple[Tensor, Tensor]


class Decision(NamedTuple):
    """What the network says about a batch of moments."""

    logits: Tensor
    values: Tensor
    state: Tensor


def flatten_time(obs: Obs) -> Obs:
    """Joins the first two dimensions, time and lane."""
    if isinstance(obs, tuple):
        return obs[0].flatten(0, 1), obs[1].flatten(0, 1)
    return obs.flatten(0, 1)


class ActorCritic(nn.Module):
    """Chooses actions and judges states."""

    def __init__(
        self, encoder: Encoder, memory: Memory, actions: int, *, noisy_heads: bool = False
    ):
        """Puts the parts together; without noise the policy starts out almost uniform."""
        super().__init__()
        head = NoisyLinear if noisy_heads else nn.Linear
        self.encoder = encoder
        self.memory = memory
        self.policy = orthogonal(head(memory.size, actions), 0.01)
        self.value = orthogonal(head(memory.size, 1), 1.0)

    def initial_state(self, lanes: int) -> Tensor:
        """The memory at the beginning of an episode."""
        device = self.policy.weight.device
        return torch.zeros(lanes, self.memory.state_size, device=device)

    def prepare(self, obs: Obs) -> Tensor:
        """Observations of many moments, [T, B, ...], as the numbers that the first layer sees."""
        steps, lanes = (obs[0] if isinstance(obs, tuple) else obs).shape[:2]
        prepared = self.encoder.prepare(flatten_time(obs))
        return prepared.view(steps, lanes, *prepared.shape[1:])

    def draw_noise(self, generator: torch.Generator) -> None:
        """Draws the noise of noisy heads anew; without them nothing is drawn."""
        for head in (self.policy, self.value):
            if isinstance(head, NoisyLinear):
                head.draw(generator)

    def step(self, obs: Obs, state: Tensor, first: Tensor) -> Decision:
        """One moment of each lane; `first` marks lanes whose episode begins."""
        if state.shape[1]:
            state = state * (~first).to(state.dtype).unsqueeze(1)
        output, state = self.memory.step(self.encoder(obs), state)
        return self._decide(output, state)

    def unroll(self, obs: Obs, state: Tensor, first: Tensor) -> Decision:
        """Many moments, [T, B, ...], from the state before the first of them."""
        steps, lanes = first.shape
        encoded = self.encoder(flatten_time(obs))
        if self.memory.state_size == 0:
            flat = self._decide(encoded, state)
            logits = flat.logits.view(steps, lanes, -1)
            return Decision(logits, flat.values.view(steps, lanes), state)
        output, state = self.memory.unroll(encoded.view(steps, lanes, -1), state, first)
        return self._decide(output, state)

    def forward(self, obs: Obs) -> Decision:
        """Moments that do not depend on each other; only without memory."""
        return self._decide(self.encoder(obs), obs[0].new_zeros(0))

    def _decide(self, output: Tensor, state: Tensor) -> Decision:
        # The heads stay in full precision: small differences of logits and values matter.
        with torch.autocast(output.device.type, enabled=False):
            output = output.float()
            return Decision(self.policy(output), self.value(output).squeeze(-1), state.float())


def log_prob(logits: Tensor, actions: Tensor) -> Tensor:
    """Log-probability of the actions taken."""
    chosen = torch.log_softmax(logits, -1).gather(-1, actions.unsqueeze(-1))
    return chosen.squeeze(-1)


def entropy(logits: Tensor) -> Tensor:
    """Entropy of each distribution."""
    log_probs = torch.log_softmax(logits, -1)
    return -(log_probs.exp() * log_probs).sum(-1)
