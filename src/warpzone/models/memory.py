"""Memory cores: what a network carries from step to step.

A core's state is one tensor [B, state_size], so that storage and checkpoints need not know which
core it is. A state is reset where `first` says that an episode begins.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from warpzone.models.encoder import orthogonal


class Memory(nn.Module):
    """No memory: the base of the others, and the default."""

    def __init__(self, size: int):
        """Makes a core that returns what it is given."""
        super().__init__()
        self.size = size
        self.state_size = 0

    def step(self, x: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """One moment: [B, D] and the state before it; returns the output and the state after."""
        return x, state

    def unroll(self, x: Tensor, state: Tensor, first: Tensor) -> tuple[Tensor, Tensor]:
        """Many moments, [T, B, D], with `first` [T, B] marking where episodes begin."""
        outputs = []
        for moment, begins in zip(x, first, strict=True):
            state = state * (~begins).to(state.dtype).unsqueeze(1)
            output, state = self.step(moment, state)
            outputs.append(output)
        return torch.stack(outputs), state


class GruMemory(Memory):
    """A gated recurrent unit."""

    def __init__(self, inputs: int, size: int):
        """Makes the core."""
        super().__init__(size)
        self.cell = nn.GRUCell(inputs, size)
        self.state_size = size
        _orthogonal_cell(self.cell)

    def step(self, x: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """One moment."""
        after: Tensor = self.cell(x, state)
        return after, after


class LstmMemory(Memory):
    """A long short-term memory; its state is the output and the cell beside each other."""

    def __init__(self, inputs: int, size: int):
        """Makes the core."""
        super().__init__(size)
        self.cell = nn.LSTMCell(inputs, size)
        self.state_size = 2 * size
        _orthogonal_cell(self.cell)

    def step(self, x: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """One moment."""
        hidden, cell = state.chunk(2, dim=1)
        hidden, cell = self.cell(x, (hidden.contiguous(), cell.contiguous()))
        return hidden, torch.cat([hidden, cell], 1)


class TransformerMemory(Memory):
    """Attention over the last `window` moments of the episode, this one included.

    The state holds the moments themselves, each with a flag that tells it from an empty place.
    """

    HEADS = 4

    def __init__(self, inputs: int, size: int, window: int):
        """Makes the core."""
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
        """One moment."""
        flag = torch.ones(x.shape[0], 1, dtype=x.dtype, device=x.device)
        newest = torch.cat([x, flag], 1)
        state = torch.cat([state[:, self.entry :], newest], 1)
        moments = state.view(x.shape[0], self.window, self.entry)
        tokens = self.embed(moments[..., :-1]) + self.position
        empty = moments[..., -1] == 0
        output = self.layer(tokens, src_key_padding_mask=empty)
        return output[:, -1], state


def make_memory(kind: str, inputs: int, size: int, window: int) -> Memory:
    """Makes a core by name: 'none', 'gru', 'lstm' or 'transformer'."""
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
