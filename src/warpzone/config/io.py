"""Configurations as text: TOML files and environment variables."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from typing import Any, get_type_hints

from warpzone.config.options import TrainConfig
from warpzone.errors import ConfigError
from warpzone.system.text import is_utf8

_PREFIX = "WARPZONE_TRAIN_"


def to_toml(config: TrainConfig) -> str:
    """The configuration as TOML; all of it, so that a run says what it was."""
    return tree_to_toml(asdict(config))


def tree_to_toml(tree: Mapping[str, Mapping[str, Any]]) -> str:
    """Tables of options as TOML, whichever version they are from."""
    lines: list[str] = []
    for table, options in tree.items():
        lines.append(f"[{table}]")
        lines += [f"{name} = {_toml_value(table, name, value)}" for name, value in options.items()]
        lines.append("")
    return "\n".join(lines)


def _toml_value(table: str, name: str, value: Any) -> str:
    """A value as TOML, whose numbers, strings and booleans are almost those of JSON.

    Raises:
        ConfigError: The text of an option is not UTF-8, which TOML cannot hold.
    """
    # TOML has no surrogate pairs, so characters stay as they are; of these it forbids DEL.
    text = json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if not is_utf8(text):
        raise ConfigError(f"{table}.{name} is {value!r}, which is not UTF-8; use another name")
    return text


def from_toml(text: str, base: TrainConfig, source: str) -> TrainConfig:
    """Lays a TOML text over a configuration.

    Args:
        text: What the file says.
        base: What it leaves out.
        source: How errors name the file.

    Raises:
        ConfigError: For text that is no TOML, an unknown option or a value of a wrong type.
    """
    try:
        tree = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{source} is no TOML: {error}") from error
    return from_tree(tree, base, source)


def from_tree(tree: Mapping[str, Any], base: TrainConfig, source: str) -> TrainConfig:
    """Lays tables of options over a configuration."""
    changed: dict[str, Any] = {}
    tables = {item.name: getattr(base, item.name) for item in fields(base)}
    for table, options in tree.items():
        if table not in tables or not isinstance(options, Mapping):
            raise ConfigError(f"{source}: there is no table [{table}]; {_list(tables)}")
        changed[table] = _overlay(tables[table], table, options, source)
    return replace(base, **changed)


def from_environment(base: TrainConfig, environment: Mapping[str, str] = os.environ) -> TrainConfig:
    """Lays variables such as `WARPZONE_TRAIN_ENV_NUM_ENVS=32` over a configuration.

    Raises:
        ConfigError: For a variable that names no option, or a value of a wrong type.
    """
    tree: dict[str, dict[str, Any]] = {}
    tables = {item.name: getattr(base, item.name) for item in fields(base)}
    for variable, text in environment.items():
        if not variable.startswith(_PREFIX):
            continue
        table, _, option = variable.removeprefix(_PREFIX).lower().partition("_")
        if table not in tables:
            raise ConfigError(f"{variable} names no option; after {_PREFIX} comes {_list(tables)}")
        hints = get_type_hints(type(tables[table]))
        plain = hints.get(option) in (int, float, bool)
        try:
            value = json.loads(text.lower()) if plain else text
        except json.JSONDecodeError as error:
            raise ConfigError(f"{variable} is {text!r}, which is no number or truth") from error
        tree.setdefault(table, {})[option] = value
    return from_tree(tree, base, "the environment")


def _overlay(options: Any, table: str, values: Mapping[str, Any], source: str) -> Any:
    known = {item.name: getattr(options, item.name) for item in fields(options)}
    changed: dict[str, Any] = {}
    for name, given in values.items():
        if name not in known:
            raise ConfigError(f"{source}: there is no option {table}.{name}; {_list(known)}")
        expected = type(known[name])
        # A whole number is a number as well; a truth is not, though Python counts it as one.
        value = float(given) if expected is float and type(given) is int else given
        if type(value) is not expected:
            raise ConfigError(
                f"{source}: {table}.{name} is {value!r}; it must be {_kind(expected)}"
            )
        changed[name] = value
    return replace(options, **changed)


def _kind(expected: type) -> str:
    names = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}
    return names[expected]


def _list(names: Mapping[str, Any]) -> str:
    return f"there are {', '.join(names)}"
