"""Where a network runs: moving what it takes there."""

from __future__ import annotations

from typing import Any, TypeVar, cast

import torch
from torch import Tensor

Parts = TypeVar("Parts", bound=Tensor | tuple[Any, ...])


def to_device(parts: Parts, device: torch.device) -> Parts:
    """Moves a tensor, or every tensor of a tuple of any depth, to a device.

    From pinned memory the copy goes on while the caller does; what is there already is not copied.
    """
    if isinstance(parts, Tensor):
        return cast("Parts", parts.to(device, non_blocking=True))
    inner = [to_device(part, device) for part in parts]
    named = hasattr(parts, "_fields")
    return cast("Parts", type(parts)(*inner) if named else tuple(inner))
