"""Options whose values are names of a registry, and the plug-ins that registered them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from warpzone.registry import Registry, algorithms, encoders, rewards, wrappers

REGISTRIES: dict[str, Registry[Any]] = {
    "encoder": encoders,
    "algorithm": algorithms,
    "reward": rewards,
    "wrapper": wrappers,
}


def is_built_in(kind: str, word: str) -> bool:
    """Whether a name is ours and not that of a plug-in.

    Args:
        kind: 'encoder', 'algorithm', 'reward' or 'wrapper'.
        word: The name.
    """
    return word in REGISTRIES[kind].builtin


def check_name(kind: str, word: str, plugins: Sequence[str]) -> None:
    """Checks the value of an option against a registry.

    Args:
        kind: 'encoder', 'algorithm', 'reward' or 'wrapper'.
        word: The value.
        plugins: Modules that may register it, for the error.

    Raises:
        PluginError: Nothing is registered under this name.
    """
    REGISTRIES[kind].check(word, plugins)


def plugins_of(names: Iterable[tuple[str, str]]) -> list[str]:
    """The plug-ins that registered names, each once.

    Args:
        names: Pairs of a kind and a name; built-in names need no plug-in.
    """
    found = [REGISTRIES[kind].plugin(word) for kind, word in names if REGISTRIES[kind].is_own(word)]
    return list(dict.fromkeys(found))
