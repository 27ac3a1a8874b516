"""Weights of networks by name, whether a network was compiled or not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from torch import nn

from warpzone.errors import CheckpointError

COMPILED = "_orig_mod."
"""Prefix that torch.compile gives to the names of a wrapped network."""
_LISTED_KEYS = 20


def strip_compiled(state: Mapping[str, Any]) -> dict[str, Any]:
    """Takes the compiled model's prefix out of a state dict's keys."""
    return {key.replace(COMPILED, ""): value for key, value in state.items()}


def fit_compiled(state: Mapping[str, Any], expected: Iterable[str]) -> dict[str, Any]:
    """Gives a plain state dict the keys of a model that may be compiled, wholly or in parts.

    Args:
        state: With plain keys, as checkpoints have them.
        expected: The keys of the model's own state dict.

    Returns:
        The same values; keys that the model does not know stay as they are.
    """
    names = {key.replace(COMPILED, ""): key for key in expected}
    return {names.get(key, key): value for key, value in state.items()}


def keys_differ(
    expected: Iterable[str], found: Iterable[str], what: str = "the model"
) -> CheckpointError | None:
    """Compares keys, compiled or not.

    Args:
        expected: What is needed.
        found: What a checkpoint holds.
        what: Whose keys they are.

    Returns:
        An error that lists missing and unexpected keys, or None when they agree.
    """
    needed = {key.replace(COMPILED, "") for key in expected}
    given = {key.replace(COMPILED, "") for key in found}
    parts = [
        f"{kind}: {_listed(sorted(keys))}"
        for kind, keys in (("missing", needed - given), ("unexpected", given - needed))
        if keys
    ]
    return (
        CheckpointError(f"the checkpoint does not fit {what}; {'; '.join(parts)}")
        if parts
        else None
    )


def _listed(keys: list[str]) -> str:
    more = len(keys) - _LISTED_KEYS
    return ", ".join(keys[:_LISTED_KEYS]) + (f" and {more} more" if more > 0 else "")


def load_weights(model: nn.Module, weights: dict[str, Any]) -> None:
    """Gives a network the weights of a checkpoint, whether either was compiled or not.

    Raises:
        CheckpointError: With the list of parts that are missing or unexpected, or of another size.
    """
    model.load_state_dict(check_weights(model, weights))


def check_weights(model: nn.Module, weights: Mapping[str, Any]) -> dict[str, Any]:
    """Compares names and shapes, and returns the weights under the names of the network.

    Raises:
        CheckpointError: With the list of parts that are missing or unexpected, or of another size.
    """
    expected = model.state_dict()
    error = keys_differ(expected, weights)
    if error is not None:
        raise error
    fitted = fit_compiled(strip_compiled(weights), expected)
    for name, tensor in expected.items():
        if fitted[name].shape != tensor.shape:
            raise CheckpointError(
                f"the checkpoint does not fit the model: {name} is {tuple(fitted[name].shape)} "
                f"instead of {tuple(tensor.shape)}"
            )
    return fitted
