"""Validation of option values against their kind, choices and limits."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from warpzone.config.kinds import Boolean, Choice, InvalidValueError, ListOf, kind_of, may_be_none
from warpzone.config.option import Option
from warpzone.errors import ConfigError

_MAX_SHOWN = 60


def read_text(option: Option, text: str, name: str) -> Any:
    """Parses a value from the command line or an environment variable.

    Args:
        option: Option to parse a value for.
        text: Text of the value, such as '1e6', 'true' or 'tiles'.
        name: Name of the option in error messages.

    Raises:
        ConfigError: The text is not a valid value of this option.
    """
    try:
        value = kind_of(option.hint).from_text(text.strip())
    except InvalidValueError as error:
        raise _invalid(name, text, str(error)) from None
    return check_value(option, value, name)


def check_value(option: Option, value: Any, name: str) -> Any:
    """Validates a value and converts it to the option's type.

    Args:
        option: Option that the value belongs to.
        value: Value of any type.
        name: Name of the option in error messages.

    Returns:
        The value in the option's type: a float for 1, a tuple for a list.

    Raises:
        ConfigError: The value has the wrong type, is not one of the choices, or exceeds the limits.
    """
    if value is None and may_be_none(option.hint):
        return None
    choices = choices_of(option)
    more = suggestion(value, choices) if isinstance(value, str) else ""
    try:
        checked = kind_of(option.hint).from_data(value)
    except InvalidValueError as error:
        raise _invalid(name, value, str(error), more) from None
    if choices and str(checked) not in choices:
        raise _invalid(name, value, Choice(choices).expected, more)
    if not all(option.limits.allow(number) for number in _numbers(checked)):
        raise _invalid(name, checked, str(option.limits))
    return checked


def choices_of(option: Option) -> tuple[str, ...]:
    """Returns the choices of an option; empty if it is not limited to choices."""
    kind = kind_of(option.hint)
    return option.choices or (tuple(map(str, kind.choices)) if isinstance(kind, Choice) else ())


def is_boolean(option: Option) -> bool:
    """Whether an option is a boolean."""
    return isinstance(kind_of(option.hint), Boolean)


def is_list(option: Option) -> bool:
    """Whether an option takes any number of values."""
    return isinstance(kind_of(option.hint), ListOf)


def show(value: Any) -> str:
    """Formats a value as it is written on the command line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        # Lists have commas between their values, rows of numbers have colons.
        texts = any(isinstance(part, str | Path) for part in value)
        return ("," if texts else ":").join(show(part) for part in value)
    if isinstance(value, float):
        return f"{value:g}"
    return str(value)


def suggestion(word: str, known: Iterable[str]) -> str:
    """Returns '; did you mean X?' for the closest match, or an empty string if none is close."""
    close = difflib.get_close_matches(word, list(known), n=1)
    return f"; did you mean {close[0]}?" if close else ""


def _numbers(value: Any) -> tuple[float, ...]:
    """Returns the numbers that limits apply to: neither booleans nor an annealed weight's steps."""
    parts = value[:2] if isinstance(value, tuple) else (value,)
    return tuple(
        part for part in parts if isinstance(part, int | float) and not isinstance(part, bool)
    )


def _invalid(name: str, value: Any, expected: str, more: str = "") -> ConfigError:
    shown = repr(value) if isinstance(value, str) else show(value)
    if len(shown) > _MAX_SHOWN:
        shown = f"{shown[:_MAX_SHOWN]}..."
    return ConfigError(f"{name} is {shown}; it must be {expected}{more}")
