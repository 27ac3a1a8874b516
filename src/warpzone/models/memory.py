"""Recurrent cores: GRU, LSTM and a windowed transformer.

A core's state is one tensor, [B, state_size], so that storage and checkpoints do not depend on the
kind of core. The state is reset where `first` marks the start of an episode.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from warpzone.models.encoder import orthogonal


class Memory(nn.Module):
    """Identity core without a state: the default, and the base class of the others."""

    def __init__(self, size: int):
        """Creates a core that returns its input."""
        super().__init__()
        self.size = size
        self.state_size = 0

    def step(self, x: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """Processes one step, [B, D], from a state; returns the output and the next state."""
        return x, state

    def unroll(self, x: Tensor, state: Tensor, first: Tensor) -> tuple[Tensor, Tensor]:
        """Processes many steps, [T, B, D]; `first`, [T, B], marks the start of episodes."""
        outputs = []
        for moment, begins in zip(x, first, strict=True):
            state = state * (~begins).to(state.dtype).unsqueeze(1)
            output, state = self.step(moment, state)
            outputs.append(output)
        return torch.stack(outputs), state


class GruMemory(Memory):
    """Gated recurrent unit."""

    def __init__(self, inputs: int, size: int):
        """Creates the core."""
        super().__init__(size)
        self.cell = nn.GRUCell(inputs, size)
        self.state_size = size
        _orthogonal_cell(self.cell)

    def step(self, x: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """Processes one step."""
        after: Tensor = self.cell(x, state)
        return after, after


class LstmMemory(Memory):
    """Long short-term memory; its state is the concatenation of output and cell state."""

    def __init__(self, inputs: int, size: int):
        """Creates the core."""
        super().__init__(size)
        self.cell = nn.LSTMCell(inputs, size)
        self.state_size = 2 * size
        _orthogonal_cell(self.cell)

    def step(self, x: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """Processes one step."""
        hidden, cell = state.chunk(2, dim=1)
        hidden, cell = self.cell(x, (hidden.contiguous(), cell.contiguous()))
        return hidden, torch.cat([hidden, cell], 1)


class TransformerMemory(Memory):
    """Attention over the last `window` steps of the episode, including the current one.

    The state holds the inputs of these steps, each with a flag that marks occupied slots.
    """

    HEADS = 4

    def __init__(self, inputs: int, size: int, window: int):
        """Creates the core."""
        super().__init__(size)
        self.window = window
        self.entry = inputs + 1
        self.state_size = window * self.entry
        self.embed = orthogonal(nn.Linear(inputs, size), 1.0)
        self.position = nn.Parameter(torch.zeros(window, size))
        nn.init.normal_(self.position, std=0.02)
        self.layer = nn.TransformerEncoderLayer(
            size, self.HEADS, 2 * size, dropout=0.0, batch_first=True, norm_first=True
        )

    def step(self, x: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """Processes one step."""
        flag = torch.ones(x.shape[0], 1, dtype=x.dtype, device=x.device)
        newest = torch.cat([x, flag], 1)
        state = torch.cat([state[:, self.entry :], newest], 1)
        moments = state.view(x.shape[0], self.window, self.entry)
        tokens = self.embed(moments[..., :-1]) + self.position
        empty = moments[..., -1] == 0
        output = self.layer(tokens, src_key_padding_mask=empty)
        return output[:, -1], state


def make_memory(kind: str, inputs: int, size: int, window: int) -> Memory:
    """Creates a core by name: 'none', 'gru', 'lstm' or 'transformer'."""
    if kind == "none":
        return Memory(inputs)
    if kind == "gru":
        return GruMemory(inputs, size)
    if kind == "lstm":
        return LstmMemory(inputs, size)
    if kind == "transformer":
        return TransformerMemory(inputs, size, window)
    raise ValueError(f"memory is {kind!r}; it must be 'none', 'gru', 'lstm' or 'transformer'")


def _orthogonal_cell(cell: nn.Module) -> None:
    for name, parameter in cell.named_parameters():
        if "weight" in name:
            nn.init.orthogonal_(parameter)
        else:
            nn.init.zeros_(parameter)
