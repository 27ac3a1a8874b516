"""Moving tensors to a network's device."""

from __future__ import annotations

from typing import Any, TypeVar, cast

import torch
from torch import Tensor

Parts = TypeVar("Parts", bound=Tensor | tuple[Any, ...] | dict[str, Any])


def to_device(parts: Parts, device: torch.device) -> Parts:
    """Moves a tensor, or every tensor of nested tuples and dicts, to a device.

    Copies from pinned memory are asynchronous. Tensors already on the device are not copied.
    """
    if isinstance(parts, Tensor):
        return cast("Parts", parts.to(device, non_blocking=True))
    if isinstance(parts, dict):
        return cast("Parts", {name: to_device(part, device) for name, part in parts.items()})
    inner = [to_device(part, device) for part in parts]
    named = hasattr(parts, "_fields")
    return cast("Parts", type(parts)(*inner) if named else tuple(inner))
