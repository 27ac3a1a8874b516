"""Writing configurations as TOML."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from warpzone.config.tree import TrainConfig
from warpzone.errors import ConfigError
from warpzone.system.text import is_utf8


def to_toml(config: TrainConfig) -> str:
    """Formats the whole configuration as TOML, for the record in the run's folder."""
    return tree_to_toml(asdict(config))


def tree_to_toml(tree: Mapping[str, Mapping[str, Any]]) -> str:
    """Formats tables of options as TOML; they may come from another version."""
    lines: list[str] = []
    for table, options in tree.items():
        lines.append(f"[{table}]")
        lines += [f"{name} = {_value(table, name, value)}" for name, value in options.items()]
        lines.append("")
    return "\n".join(lines)


def _value(table: str, name: str, value: Any) -> str:
    """Formats a value as TOML, whose numbers, strings, booleans and lists are almost JSON's.

    Raises:
        ConfigError: The value is not valid UTF-8, which TOML requires.
    """
    # TOML forbids the surrogate pairs that escapes would need, and a bare DEL.
    text = json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if not is_utf8(text):
        raise ConfigError(
            f"{table}.{name} is {value!r}, which is not valid UTF-8; use another name"
        )
    return text
