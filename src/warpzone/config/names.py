"""Names that options may take from a registry of plug-ins."""

from __future__ import annotations

from warpzone.config.values import suggestion
from warpzone.errors import ConfigError

_BUILT_IN = {
    "encoder": ("auto", "space-to-depth", "nature", "impala", "tiles"),
    "algorithm": ("ppo", "vtrace"),
    "reward": ("shaped", "classic"),
}


def known_names(kind: str) -> tuple[str, ...]:
    """The names of a kind: 'encoder', 'algorithm' or 'reward'."""
    return _BUILT_IN[kind]


def is_built_in(kind: str, word: str) -> bool:
    """Whether a name is ours and not that of a plug-in."""
    return word in _BUILT_IN[kind]


def check_name(kind: str, word: str, name: str) -> None:
    """Checks a word against a registry.

    Args:
        kind: 'encoder', 'algorithm' or 'reward'.
        word: What was given.
        name: How an error calls the option.

    Raises:
        ConfigError: Nothing is registered under this name.
    """
    known = known_names(kind)
    if word not in known:
        raise ConfigError(
            f"{name} is {word!r}; there is no such {kind}; known are {', '.join(known)}"
            f"{suggestion(word, known)}"
        )
