"""Encoders of uint8 images, [B, C, H, W]: convolutions, then a linear layer."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from warpzone.models.encoder import Encoder, orthogonal
from warpzone.models.image_blocks import (
    BLOCK_SIZE,
    BlockKernel,
    BlockReader,
    centred,
    image_blocks,
)
from warpzone.models.native_convolutions import ConvolutionKernel, NativeConvolutions


class ImageEncoder(Encoder):
    """Base class of image encoders: convolutions and a linear layer."""

    def __init__(self, layers: nn.Module, shape: tuple[int, int, int], size: int):
        """Creates the encoder.

        Args:
            layers: Layers that map the result of `prepare` to a flat vector.
            shape: Shape of an image, [C, H, W].
            size: Width of the output.
        """
        super().__init__()
        self.size = size
        self.layers = layers
        with torch.no_grad():
            flat = layers(self.prepare(torch.zeros(1, *shape, dtype=torch.uint8))).shape[1]
        self.linear = orthogonal(nn.Linear(flat, size))

    def prepare(self, obs: Tensor) -> Tensor:
        """Converts images to centered values in the precision of the network."""
        return centred(obs, obs)

    def forward(self, obs: Tensor) -> Tensor:
        """Encodes images, prepared or not."""
        prepared = obs if obs.is_floating_point() else self.prepare(obs)
        # In place here and between layers: no layer needs its own output to compute gradients.
        return functional.relu(self.linear(self.layers(prepared)), inplace=True)


class NatureEncoder(ImageEncoder):
    """Three convolutions and a linear layer, as in DQN (Mnih et al., 2015)."""

    def __init__(self, shape: tuple[int, int, int], channels: tuple[int, int, int], size: int):
        """Creates the encoder for [C, H, W] images."""
        first, second, third = channels
        layers = nn.Sequential(
            orthogonal(nn.Conv2d(shape[0], first, 8, stride=4)),
            nn.ReLU(inplace=True),
            orthogonal(nn.Conv2d(first, second, 4, stride=2)),
            nn.ReLU(inplace=True),
            orthogonal(nn.Conv2d(second, third, 3, stride=1)),
            nn.ReLU(inplace=True),
            nn.Flatten(),
        )
        super().__init__(layers, shape, size)


class ChannelsFirst(nn.Module):
    """Permutes channels to the second dimension without copying."""

    def forward(self, x: Tensor) -> Tensor:
        """Permutes [B, H, W, C] to [B, C, H, W]."""
        return x.permute(0, 3, 1, 2)


class SpaceToDepthEncoder(ImageEncoder):
    """Space-to-depth with 4 x 4 blocks, then two 3 x 3 convolutions; fast on a CPU."""

    def __init__(self, shape: tuple[int, int, int], channels: tuple[int, int], size: int):
        """Creates the encoder for [C, H, W] images whose sides are multiples of four."""
        first, second = channels
        layers = nn.Sequential(
            ChannelsFirst(),
            orthogonal(nn.Conv2d(shape[0] * BLOCK_SIZE**2, first, 3, stride=2, padding=1)),
            nn.ReLU(inplace=True),
            orthogonal(nn.Conv2d(first, second, 3, stride=2, padding=1)),
            nn.ReLU(inplace=True),
            nn.Flatten(),
        )
        # The layout that `space_to_depth` produces.
        layers.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self._blocks: BlockReader | None = None
        self._convolutions: NativeConvolutions | None = None
        super().__init__(layers, shape, size)

    def convert_with(self, kernel: BlockKernel) -> None:
        """Converts images on the CPU with native code, which is several times faster.

        Args:
            kernel: Kernel for images of this encoder's shape.
        """
        self._blocks = BlockReader(kernel)

    def convolve_with(self, kernel: ConvolutionKernel) -> None:
        """Computes both convolutions with native code on the CPU in full precision.

        Args:
            kernel: Kernel for images of this encoder's shape; both convolutions must have
                `NATIVE_CHANNELS` channels.
        """
        self._convolutions = NativeConvolutions(kernel)

    @property
    def channels(self) -> tuple[int, int]:
        """Channels of the two convolutions."""
        first, second = self._layers_with_weights()
        return first.out_channels, second.out_channels

    @property
    def converts_quickly(self) -> bool:
        """Whether native code reads images."""
        return self._blocks is not None or self._convolutions is not None

    def forward(self, obs: Tensor) -> Tensor:
        """Encodes images, prepared or not."""
        native = self._convolutions
        if native is None or obs.is_floating_point() or not native.can_read(obs):
            return super().forward(obs)
        convolved = native(*self._layers_with_weights(), obs)
        return functional.relu(self.linear(convolved), inplace=True)

    def _layers_with_weights(self) -> tuple[nn.Conv2d, nn.Conv2d]:
        first, second = (one for one in self.layers.children() if isinstance(one, nn.Conv2d))
        return first, second

    def prepare(self, obs: Tensor) -> Tensor:
        """Converts images to centered 4 x 4 blocks."""
        if self._blocks is not None and self._blocks.can_read(obs):
            return self._blocks.read(obs)
        return image_blocks(obs)


class ResidualBlock(nn.Module):
    """Two convolutions with a skip connection."""

    def __init__(self, channels: int):
        """Creates the block."""
        super().__init__()
        self.first = orthogonal(nn.Conv2d(channels, channels, 3, padding=1))
        self.second = orthogonal(nn.Conv2d(channels, channels, 3, padding=1))

    def forward(self, x: Tensor) -> Tensor:
        """Adds the output of the convolutions to the input."""
        residual: Tensor = self.second(functional.relu(self.first(functional.relu(x))))
        return x + residual


class ImpalaEncoder(ImageEncoder):
    """The residual network of IMPALA (Espeholt et al., 2018); meant for GPUs."""

    def __init__(self, shape: tuple[int, int, int], channels: tuple[int, ...], size: int):
        """Creates the encoder for [C, H, W] images."""
        layers: list[nn.Module] = []
        before = shape[0]
        for width in channels:
            layers += [
                orthogonal(nn.Conv2d(before, width, 3, padding=1)),
                nn.MaxPool2d(3, stride=2, padding=1),
                ResidualBlock(width),
                ResidualBlock(width),
            ]
            before = width
        super().__init__(nn.Sequential(*layers, nn.ReLU(), nn.Flatten()), shape, size)
