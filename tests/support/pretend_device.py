"""Pretended device: its tensors compute on the CPU, but cannot be combined with CPU tensors.

It reveals code that assumes that storage and network share a device, without a GPU. The device is
called `meta`, which every build of torch supports.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any
from unittest import mock

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map

DEVICE = torch.device("meta")
_CROSSING = {
    torch.ops.aten._to_copy.default,
    torch.ops.aten.copy_.default,
}


class There(torch.Tensor):
    """Tensor on the pretended device."""

    inner: torch.Tensor

    @staticmethod
    def __new__(cls, inner: torch.Tensor) -> There:
        made = torch.Tensor._make_wrapper_subclass(
            cls,
            inner.size(),
            strides=inner.stride(),
            storage_offset=inner.storage_offset(),
            dtype=inner.dtype,
            device=DEVICE,
            requires_grad=inner.requires_grad,
        )
        made.inner = inner
        return made

    __torch_function__ = torch._C._disabled_torch_function_impl

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _run(func, args, kwargs or {})


def _run(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    tensors = [item for item in tree_flatten((args, kwargs))[0] if isinstance(item, torch.Tensor)]
    there = [tensor for tensor in tensors if isinstance(tensor, There)]
    device = kwargs.get("device")
    if func not in _CROSSING and there:
        for tensor in tensors:
            # As on a GPU, scalars may come from the host.
            if not isinstance(tensor, There) and tensor.dim() > 0:
                raise RuntimeError(f"{func} got tensors on both devices")
    result_there = bool(there) if device is None else torch.device(device) == DEVICE
    if func is torch.ops.aten.copy_.default:
        result_there = isinstance(args[0], There)
    inner_kwargs = {**kwargs, "device": torch.device("cpu")} if device is not None else kwargs
    plain = tree_map(lambda item: item.inner if isinstance(item, There) else item, args)
    inner_kwargs = tree_map(
        lambda item: item.inner if isinstance(item, There) else item, inner_kwargs
    )
    result = func(*plain, **inner_kwargs)
    if func._schema.name.endswith("_") and not func._schema.name.endswith("__"):
        return args[0]
    if not result_there:
        return result
    return tree_map(lambda item: There(item) if isinstance(item, torch.Tensor) else item, result)


class _Pretending(TorchDispatchMode):
    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _run(func, args, kwargs or {})


@contextmanager
def pretend_device() -> Iterator[torch.device]:
    """Makes `torch.device("meta")` compute inside the block; autocast does nothing there."""
    with _Pretending(), mock.patch.object(torch, "autocast", return_value=nullcontext()):
        yield DEVICE
