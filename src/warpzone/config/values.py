"""Values of options, checked against their kind, choices and limits."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from warpzone.config.kinds import Choice, Several, Switch, UnfitError, kind_of, may_be_none
from warpzone.config.option import Option
from warpzone.errors import ConfigError

_LONGEST = 60


def read_text(option: Option, text: str, name: str) -> Any:
    """Reads a value from the command line or from a variable.

    Args:
        option: What the text is for.
        text: Such as '1e6', 'true' or 'tiles'.
        name: How an error calls the option.

    Raises:
        ConfigError: The text is not a value of this option.
    """
    try:
        value = kind_of(option.hint).from_text(text.strip())
    except UnfitError as unfit:
        raise _refusal(name, text, str(unfit)) from None
    return check_value(option, value, name)


def check_value(option: Option, value: Any, name: str) -> Any:
    """Checks a value, whichever way it came.

    Args:
        option: What the value is for.
        value: Of any type.
        name: How an error calls the option.

    Returns:
        The value in the option's own type: a float for 1, a tuple for a list.

    Raises:
        ConfigError: It is of another kind, not one of the choices, or outside the limits.
    """
    if value is None and may_be_none(option.hint):
        return None
    choices = choices_of(option)
    more = suggestion(value, choices) if isinstance(value, str) else ""
    try:
        checked = kind_of(option.hint).from_data(value)
    except UnfitError as unfit:
        raise _refusal(name, value, str(unfit), more) from None
    if choices and str(checked) not in choices:
        raise _refusal(name, value, Choice(choices).expected, more)
    if not all(option.limits.allow(number) for number in _numbers(checked)):
        raise _refusal(name, checked, str(option.limits))
    return checked


def choices_of(option: Option) -> tuple[str, ...]:
    """The words that an option takes; none for one that takes other values."""
    kind = kind_of(option.hint)
    return option.choices or (tuple(map(str, kind.choices)) if isinstance(kind, Choice) else ())


def is_switch(option: Option) -> bool:
    """Whether an option is either on or off."""
    return isinstance(kind_of(option.hint), Switch)


def is_list(option: Option) -> bool:
    """Whether an option takes any number of values."""
    return isinstance(kind_of(option.hint), Several)


def show(value: Any) -> str:
    """A value as it is written on the command line."""
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
    """What was probably meant, as the end of a sentence; empty where nothing is close."""
    close = difflib.get_close_matches(word, list(known), n=1)
    return f"; did you mean {close[0]}?" if close else ""


def _numbers(value: Any) -> tuple[float, ...]:
    """The numbers that limits are about: not a truth, and not the steps of a moving weight."""
    parts = value[:2] if isinstance(value, tuple) else (value,)
    return tuple(
        part for part in parts if isinstance(part, int | float) and not isinstance(part, bool)
    )


def _refusal(name: str, value: Any, expected: str, more: str = "") -> ConfigError:
    shown = repr(value) if isinstance(value, str) else show(value)
    if len(shown) > _LONGEST:
        shown = f"{shown[:_LONGEST]}..."
    return ConfigError(f"{name} is {shown}; it must be {expected}{more}")
