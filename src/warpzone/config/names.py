"""Options whose values are registered names, and the plug-ins that registered them."""

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
    """Whether a name is built in rather than registered by a plug-in.

    Args:
        kind: 'encoder', 'algorithm', 'reward' or 'wrapper'.
        word: Name to check.
    """
    return word in REGISTRIES[kind].builtin


def check_name(kind: str, word: str, plugins: Sequence[str]) -> None:
    """Checks that the value of an option is a registered name.

    Args:
        kind: 'encoder', 'algorithm', 'reward' or 'wrapper'.
        word: Value of the option.
        plugins: Modules that may register it; named in the error.

    Raises:
        PluginError: The name is not registered.
    """
    REGISTRIES[kind].check(word, plugins)


def plugins_of(names: Iterable[tuple[str, str]]) -> list[str]:
    """Returns the plug-ins that registered names, each once.

    Args:
        names: Pairs of a kind and a name; built-in names do not need a plug-in.
    """
    found = [REGISTRIES[kind].plugin(word) for kind, word in names if REGISTRIES[kind].is_own(word)]
    return list(dict.fromkeys(found))
