"""Loading of named weights into networks that may or may not be compiled."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from torch import nn

from warpzone.errors import CheckpointError

COMPILED = "_orig_mod."
"""Prefix that torch.compile adds to the parameter names of a wrapped network."""
_LISTED_KEYS = 20


def strip_compiled(state: Mapping[str, Any]) -> dict[str, Any]:
    """Removes the prefix of compiled modules from the keys of a state dict."""
    return {key.replace(COMPILED, ""): value for key, value in state.items()}


def fit_compiled(state: Mapping[str, Any], expected: Iterable[str]) -> dict[str, Any]:
    """Renames the keys of a plain state dict to those of a model that may be partly compiled.

    Args:
        state: State dict with plain keys, as in checkpoints.
        expected: Keys of the model's own state dict.

    Returns:
        The same values under the model's keys; unknown keys are unchanged.
    """
    names = {key.replace(COMPILED, ""): key for key in expected}
    return {names.get(key, key): value for key, value in state.items()}


def keys_differ(
    expected: Iterable[str], found: Iterable[str], what: str = "the model"
) -> CheckpointError | None:
    """Compares keys, ignoring the prefix of compiled modules.

    Args:
        expected: Keys that are needed.
        found: Keys of a checkpoint.
        what: Owner of the keys, for the message.

    Returns:
        An error that lists missing and unexpected keys, or None if the keys match.
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
    """Loads the weights of a checkpoint into a network; either may have been compiled.

    Raises:
        CheckpointError: Weights are missing or unexpected, or have a different shape.
    """
    model.load_state_dict(check_weights(model, weights))


def check_weights(model: nn.Module, weights: Mapping[str, Any]) -> dict[str, Any]:
    """Checks names and shapes, and returns the weights under the network's names.

    Raises:
        CheckpointError: Weights are missing or unexpected, or have a different shape.
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
