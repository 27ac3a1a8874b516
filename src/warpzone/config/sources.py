"""Sources of options: TOML files, environment variables, keywords. Each yields a partial tree.

A partial tree holds only options that were set explicitly: `{"env": {"obs": "tiles"}}`. Its values
are already validated.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from warpzone.config.option import Option
from warpzone.config.tree import TrainConfig, train_options
from warpzone.config.values import check_value, read_text, suggestion
from warpzone.errors import ConfigError
from warpzone.registry import load_plugins

Partial = Mapping[str, Mapping[str, Any]]
"""Tables of options that were set explicitly."""

TRAIN_PREFIX = "WARPZONE_TRAIN_"
_MAX_FILE_BYTES = 1 << 20


def merged(*trees: Partial) -> dict[str, dict[str, Any]]:
    """Merges partial trees; later ones take precedence."""
    result: dict[str, dict[str, Any]] = {}
    for tree in trees:
        for table, options in tree.items():
            result.setdefault(table, {}).update(options)
    return result


def overlaid(base: TrainConfig, tree: Partial) -> TrainConfig:
    """Overrides values of a whole configuration by those of a partial tree."""
    tables = {name: replace(getattr(base, name), **options) for name, options in tree.items()}
    return replace(base, **tables)


def checked_tree(tree: Mapping[str, Any], source: str) -> dict[str, dict[str, Any]]:
    """Validates tables of options, such as a parsed TOML file or the header of a policy.

    Args:
        tree: Tables as plain data.
        source: Name of the source in error messages.

    Raises:
        ConfigError: A table or option is unknown, or a value is invalid.
    """
    known = {option.path: option for option in train_options()}
    tables = [item.name for item in fields(TrainConfig)]
    result: dict[str, dict[str, Any]] = {}
    for table, options in tree.items():
        if table not in tables or not isinstance(options, Mapping):
            raise ConfigError(
                f"{source}: there is no table [{table}]; the tables are {', '.join(tables)}"
                f"{suggestion(table, tables)}"
            )
        for name, value in options.items():
            path = f"{table}.{name}"
            if path not in known:
                raise ConfigError(
                    f"{source}: there is no option {path}{_similar(path, known.values())}"
                )
            checked = check_value(known[path], value, f"{source}: {path}")
            result.setdefault(table, {})[name] = checked
    return result


def from_toml(text: str, source: str) -> dict[str, dict[str, Any]]:
    """Reads options from TOML.

    Args:
        text: Content of the file.
        source: Name of the file in error messages.

    Raises:
        ConfigError: The text is not TOML, an option is unknown, or a value is invalid.
    """
    try:
        tree = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(f"{source} is not valid TOML: {error}") from error
    return checked_tree(tree, source)


def from_file(path: Path) -> dict[str, dict[str, Any]]:
    """Reads options from a TOML file.

    Raises:
        ConfigError: The file cannot be read, is too large, or has invalid content.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_FILE_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read ({error.strerror})") from error
    if len(data) > _MAX_FILE_BYTES:
        raise ConfigError(f"{path} is larger than 1 MiB, so it cannot be a configuration file")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8 text: {error.reason}") from error
    return from_toml(text, str(path))


def from_keywords(keywords: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Reads options from keywords: flags with underscores, such as `reward_distance=0.02`.

    Raises:
        ConfigError: An option is unknown, or a value is invalid.
    """
    known = {option.keyword: option for option in train_options()}
    result: dict[str, dict[str, Any]] = {}
    for name, value in keywords.items():
        if name not in known:
            raise ConfigError(f"there is no option {name}{suggestion(name, known)}")
        option = known[name]
        result.setdefault(option.table, {})[option.name] = check_value(option, value, name)
    return result


def explicit_options(
    file: Path | None, given: Partial, other_variables: Iterable[str] = ()
) -> dict[str, dict[str, Any]]:
    """Merges the training options from a file, environment variables and the caller.

    Plug-ins named by variables or the caller are imported. Plug-ins named only by the file are not:
    reading a file never executes code.

    Args:
        file: TOML file, or None.
        given: Options from the command line or Python; they take precedence.
        other_variables: Variables with the training prefix to ignore, since other code reads them.

    Raises:
        ConfigError: The file or a variable is invalid, or a plug-in cannot be imported.
    """
    named = merged(from_environment(others=other_variables), given)
    load_plugins(named.get("run", {}).get("plugins", ()))
    return merged({} if file is None else from_file(file), named)


def from_environment(
    environment: Mapping[str, str] | None = None, others: Iterable[str] = ()
) -> dict[str, dict[str, Any]]:
    """Reads environment variables such as `WARPZONE_TRAIN_ENV_NUM_ENVS=32`.

    Args:
        environment: Variables to read; defaults to those of this process.
        others: Variables with this prefix to ignore, since other code reads them.

    Raises:
        ConfigError: A variable does not name an option, or a value is invalid.
    """
    values = read_variables(TRAIN_PREFIX, train_options(), environment, others)
    result: dict[str, dict[str, Any]] = {}
    for option, value in values.items():
        result.setdefault(option.table, {})[option.name] = value
    return result


def read_variables(
    prefix: str,
    options: Iterable[Option],
    environment: Mapping[str, str] | None = None,
    others: Iterable[str] = (),
) -> dict[Option, Any]:
    """Reads the options that environment variables with a prefix set.

    Raises:
        ConfigError: A variable does not name an option, or a value is invalid.
    """
    known = {variable_name(prefix, option): option for option in options}
    values: dict[Option, Any] = {}
    for name, text in (os.environ if environment is None else environment).items():
        if not name.startswith(prefix) or name in others:
            continue
        if name not in known:
            raise ConfigError(
                f"the variable {name} does not name an option{_meant(name, known, prefix)}"
            )
        values[known[name]] = read_text(known[name], text, name)
    return values


def variable_name(prefix: str, option: Option) -> str:
    """Returns the environment variable that sets an option."""
    return prefix + option.path.replace(".", "_").upper()


def _meant(name: str, known: Iterable[str], prefix: str) -> str:
    """Suggests the closest variable, compared without the common prefix, or else an example."""
    rest = {other.removeprefix(prefix): other for other in known}
    close = difflib.get_close_matches(name.removeprefix(prefix), rest, n=1)
    if close:
        return f"; did you mean {rest[close[0]]}?"
    return f"; an example is {next(iter(known))}" if rest else ""


def _similar(path: str, options: Iterable[Option]) -> str:
    """Suggests the closest option, in this table or in another."""
    paths = {option.path: option.path for option in options}
    named = {option.path.partition(".")[2]: option.path for option in options}
    _, _, name = path.partition(".")
    if name in named:
        return f"; did you mean {named[name]}?"
    return suggestion(path, paths)
