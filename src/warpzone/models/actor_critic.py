"""The actor-critic: encoder, recurrent memory, a policy head and a value head."""

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
        logits: Of the actions.
        values: Of the states.
        state: The recurrent state after them.
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
        """Assembles the parts; without noise the initial policy is almost uniform.

        Args:
            encoder: From observations to vectors of the memory's input size.
            memory: The recurrent part, or one that passes its input on.
            actions: Number of actions.
            obs_name: The one part of an observation that the encoder takes as a tensor; by default
                the encoder takes the whole dict.
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
        """The recurrent state at the beginning of an episode."""
        device = self.policy.weight.device
        return torch.zeros(num_envs, self.memory.state_size, device=device)

    def prepare(self, obs: Tree) -> Tree:
        """Converts observations of many steps, [T, B, ...], as far as the encoder can in advance.

        The result can be used in place of the observations.
        """
        if not isinstance(self.encoder, Encoder):
            return obs
        steps, batch = next(iter(obs.values())).shape[:2]
        prepared = self.encoder.prepare(self._input(_flatten_time(obs)))
        return {_PREPARED: prepared.view(steps, batch, *prepared.shape[1:])}

    def draw_noise(self, generator: torch.Generator) -> None:
        """Draws new noise for noisy heads; does nothing without them."""
        for head in (self.policy, self.value):
            if isinstance(head, NoisyLinear):
                head.draw(generator)

    def step(self, obs: Tree, state: Tensor, first: Tensor) -> Decision:
        """One step of each environment; `first` marks those whose episode begins."""
        if state.shape[1]:
            state = state * (~first).to(state.dtype).unsqueeze(1)
        output, state = self.memory.step(self.encoder(self._input(obs)), state)
        return self._decide(output, state)

    def unroll(self, obs: Tree, state: Tensor, first: Tensor) -> Decision:
        """Many steps, [T, B, ...], from the recurrent state before the first of them."""
        steps, batch = first.shape
        encoded = self.encoder(self._input(_flatten_time(obs)))
        if self.memory.state_size == 0:
            flat = self._decide(encoded, state)
            logits = flat.logits.view(steps, batch, -1)
            return Decision(logits, flat.values.view(steps, batch), state)
        output, state = self.memory.unroll(encoded.view(steps, batch, -1), state, first)
        return self._decide(output, state)

    def forward(self, obs: Tree) -> Decision:
        """Independent observations, [B, ...]; only without recurrent memory."""
        return self._decide(self.encoder(self._input(obs)), self.initial_state(0))

    def _input(self, obs: Tree) -> Tree | Tensor:
        name = _PREPARED if _PREPARED in obs else self._obs_name
        return obs if name is None else obs[name]

    def _decide(self, output: Tensor, state: Tensor) -> Decision:
        # The heads stay in full precision: small differences of logits and values matter.
        with torch.autocast(output.device.type, enabled=False):
            output = output.float()
            return Decision(self.policy(output), self.value(output).squeeze(-1), state.float())


def _flatten_time(obs: Tree) -> Tree:
    """Joins the first two dimensions, time and environment."""
    return map_tree(lambda part: part.flatten(0, 1), obs)


def log_prob(logits: Tensor, actions: Tensor) -> Tensor:
    """Log-probability of the actions taken."""
    chosen = torch.log_softmax(logits, -1).gather(-1, actions.unsqueeze(-1))
    return chosen.squeeze(-1)


def entropy(logits: Tensor) -> Tensor:
    """Entropy of each distribution."""
    log_probs = torch.log_softmax(logits, -1)
    return -(log_probs.exp() * log_probs).sum(-1)
