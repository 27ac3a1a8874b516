"""Observations as named trees: dicts of arrays or tensors for any observation space.

A `Dict` space already has names. A plain `Box` becomes `{"image": ...}` at the boundary, so that
storage, replay, collector and learner treat all observations alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from torch import Tensor

IMAGE = "image"
"""Name given to a `Box` observation."""

Tree = dict[str, Tensor]
"""Mapping from names to tensors."""
Arrays = dict[str, NDArray[Any]]
"""Mapping from names to arrays."""

From = TypeVar("From")
To = TypeVar("To")


def space_tree(space: spaces.Space[Any]) -> dict[str, spaces.Box]:
    """Returns the named parts of an observation space.

    Raises:
        TypeError: The space is neither a `Box` nor a `Dict` of boxes.
    """
    parts = space.spaces if isinstance(space, spaces.Dict) else {IMAGE: space}
    boxes = {name: part for name, part in parts.items() if isinstance(part, spaces.Box)}
    if len(boxes) != len(parts):
        raise TypeError(f"the observation space must be a Box or a Dict of Boxes, not {space}")
    return boxes


def torch_dtype(box: spaces.Box) -> torch.dtype:
    """Returns the dtype of tensors that hold observations of a space."""
    return torch.from_numpy(np.zeros(0, box.dtype)).dtype


def as_tree(obs: Any) -> dict[str, Any]:
    """Converts an environment's observation to a tree."""
    return dict(obs) if isinstance(obs, Mapping) else {IMAGE: obs}


def as_observation(tree: Mapping[str, Any], space: spaces.Space[Any]) -> Any:
    """Converts a tree to an observation of the space; the inverse of `as_tree`."""
    return dict(tree) if isinstance(space, spaces.Dict) else tree[IMAGE]


def map_tree(function: Callable[[From], To], tree: Mapping[str, From]) -> dict[str, To]:
    """Applies a function to every part of a tree."""
    return {name: function(part) for name, part in tree.items()}


def to_tensors(obs: Any) -> Tree:
    """Converts an observation of NumPy arrays to tensors that share memory with them."""
    return map_tree(torch.from_numpy, as_tree(obs))


def copy_into(target: Mapping[str, NDArray[Any]], source: Mapping[str, Any]) -> None:
    """Copies every part of a tree into the arrays of another tree."""
    for name, array in target.items():
        np.copyto(array, source[name])


def stack_trees(trees: list[dict[str, NDArray[Any]]]) -> Arrays:
    """Stacks trees of the same structure along a new first axis."""
    return {name: np.stack([tree[name] for tree in trees]) for name in trees[0]}
