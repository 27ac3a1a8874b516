"""Observations as named trees: a dict of arrays or tensors, whatever the observation space.

A `Dict` space names its parts itself. A plain `Box` becomes `{"image": ...}` once, at the edge, so
that storage, replay, collector and learner treat every observation alike and know no names.
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
"""Name of the only part of a `Box` observation."""

Tree = dict[str, Tensor]
"""Tensors by name."""
Arrays = dict[str, NDArray[Any]]
"""Arrays by name."""

From = TypeVar("From")
To = TypeVar("To")


def space_tree(space: spaces.Space[Any]) -> dict[str, spaces.Box]:
    """The named parts of an observation space.

    Raises:
        TypeError: The space is not a `Box`, nor a `Dict` of them.
    """
    parts = space.spaces if isinstance(space, spaces.Dict) else {IMAGE: space}
    boxes = {name: part for name, part in parts.items() if isinstance(part, spaces.Box)}
    if len(boxes) != len(parts):
        raise TypeError(f"the observation space must be a Box or a Dict of Boxes, not {space}")
    return boxes


def torch_dtype(box: spaces.Box) -> torch.dtype:
    """The dtype of tensors that hold observations of a space."""
    return torch.from_numpy(np.zeros(0, box.dtype)).dtype


def as_tree(obs: Any) -> dict[str, Any]:
    """An observation as an environment returns it, by name."""
    return dict(obs) if isinstance(obs, Mapping) else {IMAGE: obs}


def as_observation(tree: Mapping[str, Any], space: spaces.Space[Any]) -> Any:
    """The opposite of `as_tree`: the form that the environment of a space uses."""
    return dict(tree) if isinstance(space, spaces.Dict) else tree[IMAGE]


def map_tree(function: Callable[[From], To], tree: Mapping[str, From]) -> dict[str, To]:
    """Applies a function to every part."""
    return {name: function(part) for name, part in tree.items()}


def to_tensors(obs: Any) -> Tree:
    """An observation of NumPy arrays as tensors that share their memory."""
    return map_tree(torch.from_numpy, as_tree(obs))


def copy_into(target: Mapping[str, NDArray[Any]], source: Mapping[str, Any]) -> None:
    """Copies every part of a tree into the arrays of another."""
    for name, array in target.items():
        np.copyto(array, source[name])


def stack_trees(trees: list[dict[str, NDArray[Any]]]) -> Arrays:
    """Stacks equal trees along a new first axis."""
    return {name: np.stack([tree[name] for tree in trees]) for name in trees[0]}
