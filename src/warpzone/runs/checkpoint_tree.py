"""What a checkpoint may hold: trees of plain data and tensors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from warpzone.errors import CheckpointError
from warpzone.models.weights import COMPILED

_BYTES = "__bytes__"
_ARRAY = "__array__"
_MOST_DEPTH = 50


def encode(value: Any, where: str = "state") -> Any:
    """Turns a tree into one that loads without running code.

    Dicts, lists, tuples, tensors, NumPy arrays, numbers, strings, bytes, bools and None are
    allowed. Keys lose the prefix of a compiled model. Tensors are detached, moved to the CPU, and
    copied out of larger storages, which torch would save whole, and of smaller ones that they
    repeat.

    Args:
        value: The tree.
        where: Its name in errors.

    Raises:
        CheckpointError: Something else is in it; the text says where.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool):
        return value
    for plain in (int, float, str):
        if isinstance(value, plain):
            return plain(value)
    if isinstance(value, torch.Tensor | np.ndarray | bytes | bytearray):
        return _encode_block(value, where)
    if isinstance(value, Mapping):
        return _encode_mapping(value, where)
    if isinstance(value, list | tuple):
        items = [encode(item, f"{where}[{index}]") for index, item in enumerate(value)]
        return items if isinstance(value, list) else tuple(items)
    raise CheckpointError(f"{where} is a {type(value).__name__}, which a checkpoint cannot hold")


def _encode_block(
    value: torch.Tensor | np.ndarray[Any, Any] | bytes | bytearray, where: str
) -> torch.Tensor | dict[str, torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return _encode_tensor(value)
    if isinstance(value, bytes | bytearray):
        return {_BYTES: torch.from_numpy(np.frombuffer(value, np.uint8).copy())}
    try:
        return {_ARRAY: torch.from_numpy(np.array(value, order="C"))}
    except TypeError as error:
        raise CheckpointError(f"{where} is an array of {value.dtype}: {error}") from error


def _encode_tensor(tensor: torch.Tensor) -> torch.Tensor:
    plain = tensor.detach().cpu()
    if plain.untyped_storage().nbytes() != plain.numel() * plain.element_size():
        plain = plain.clone()
    return plain


def _encode_mapping(mapping: Mapping[Any, Any], where: str) -> dict[str | int, Any]:
    tree: dict[str | int, Any] = {}
    for key, item in mapping.items():
        if isinstance(key, bool) or not isinstance(key, str | int):
            raise CheckpointError(f"{where} has the key {key!r}; keys are strings or whole numbers")
        if key in (_BYTES, _ARRAY):
            raise CheckpointError(f"{where} uses the key '{key}', which has a meaning of its own")
        name = key.replace(COMPILED, "") if isinstance(key, str) else int(key)
        if name in tree:
            raise CheckpointError(f"{where} has the key '{name}' with and without '{COMPILED}'")
        tree[name] = encode(item, f"{where}.{key}")
    return tree


def decode(value: Any, depth: int = 0) -> Any:
    """Turns a loaded tree back into what was given to `encode`.

    Raises:
        ValueError: It is something that `encode` never returns.
    """
    if depth > _MOST_DEPTH:
        raise ValueError("it is nested too deeply")
    if isinstance(value, dict):
        if value.keys() == {_BYTES}:
            return _block(value[_BYTES]).numpy().tobytes()
        if value.keys() == {_ARRAY}:
            return _block(value[_ARRAY]).numpy()
        return {key: decode(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(decode(item, depth + 1) for item in value)
    if value is None or isinstance(value, bool | int | float | str | torch.Tensor):
        return value
    raise ValueError(f"it holds a {type(value).__name__}")


def _block(value: Any) -> torch.Tensor:
    if not isinstance(value, torch.Tensor):
        raise ValueError(f"it has a {type(value).__name__} where a block of numbers belongs")
    return value
