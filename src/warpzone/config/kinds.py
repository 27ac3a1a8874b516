"""Kinds of option values: how each is parsed from text and validated as data."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cache
from numbers import Integral, Real
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Protocol, Union, get_args, get_origin

Weight = float | tuple[float, float, int]
"""A number, or (start, end, steps) for a weight that is annealed linearly during a run."""

_BOOLEANS = {"true": True, "yes": True, "on": True, "1": True}
_BOOLEANS |= {"false": False, "no": False, "off": False, "0": False}
_SCALES = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}
_NUMERAL = re.compile(r"([+-]?[\d_]*\.?[\d_]+(?:e[+-]?\d+)?)([kmg]?)", re.IGNORECASE)
_MAX_DIGITS = 18


class InvalidValueError(ValueError):
    """A value does not have the expected kind; the message says what is expected."""


class Kind(Protocol):
    """One kind of value."""

    @property
    def expected(self) -> str:
        """Description of valid values, for messages."""

    def from_text(self, text: str) -> Any:
        """Parses a value from the command line or an environment variable."""

    def from_data(self, value: Any) -> Any:
        """Validates a value from a file or from Python and converts it to the exact type."""


@dataclass(frozen=True)
class Boolean:
    """True or false."""

    expected: str = "true or false"

    def from_text(self, text: str) -> bool:
        """Parses 'true', 'no', '1' and the like."""
        if text.lower() not in _BOOLEANS:
            raise InvalidValueError(self.expected)
        return _BOOLEANS[text.lower()]

    def from_data(self, value: Any) -> bool:
        """Accepts only a bool."""
        if not isinstance(value, bool):
            raise InvalidValueError(self.expected)
        return value


@dataclass(frozen=True)
class Integer:
    """A whole number."""

    expected: str = "a whole number"

    def from_text(self, text: str) -> int:
        """Parses '64', '500_000', '1e6', '2M' and '64k'."""
        found = _NUMERAL.fullmatch(text)
        try:
            number = Decimal(found[1].replace("_", "")) if found else Decimal("nan")
        except InvalidOperation:
            number = Decimal("nan")
        if found is None or not number.is_finite():
            raise InvalidValueError(f"{self.expected}, such as 64, 500_000, 1e6 or 2M")
        if number.adjusted() > _MAX_DIGITS:
            raise InvalidValueError(f"{self.expected} of at most {_MAX_DIGITS} digits")
        number *= _SCALES[found[2].lower()]
        if number != number.to_integral_value():
            raise InvalidValueError(self.expected)
        return int(number)

    def from_data(self, value: Any) -> int:
        """Accepts a Python or NumPy integer, but not a bool."""
        if isinstance(value, bool) or not isinstance(value, Integral):
            raise InvalidValueError(self.expected)
        return int(value)


@dataclass(frozen=True)
class Number:
    """A finite number."""

    expected: str = "a finite number"

    def from_text(self, text: str) -> float:
        """Parses a number."""
        try:
            return self.from_data(float(text))
        except ValueError:
            raise InvalidValueError(self.expected) from None

    def from_data(self, value: Any) -> float:
        """Accepts any real number except NaN and infinities."""
        if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
            raise InvalidValueError(self.expected)
        return float(value)


@dataclass(frozen=True)
class Text:
    """Text that can be saved as UTF-8; file names that Python could not decode cannot."""

    expected: str = "valid Unicode text"

    def from_text(self, text: str) -> str:
        """Accepts the text unchanged."""
        return self.from_data(text)

    def from_data(self, value: Any) -> str:
        """Accepts text that UTF-8 can encode."""
        try:
            value.encode()
        except (AttributeError, UnicodeEncodeError):
            raise InvalidValueError(self.expected) from None
        return str(value)


@dataclass(frozen=True)
class File:
    """A path."""

    expected: str = "a path"

    def from_text(self, text: str) -> Path:
        """Accepts any path."""
        return Path(text)

    def from_data(self, value: Any) -> Path:
        """Accepts a path or a string."""
        if not isinstance(value, str | Path):
            raise InvalidValueError(self.expected)
        return Path(value)


@dataclass(frozen=True)
class Choice:
    """One of a few words or numbers."""

    choices: tuple[Any, ...]

    @property
    def expected(self) -> str:
        """The choices as a list in words."""
        *others, last = map(str, self.choices)
        return f"{', '.join(others)} or {last}" if others else last

    def from_text(self, text: str) -> Any:
        """Returns the matching choice, or the text itself, which `from_data` then rejects."""
        return next((choice for choice in self.choices if str(choice) == text), text)

    def from_data(self, value: Any) -> Any:
        """Accepts one of the choices."""
        if isinstance(value, bool) or value not in self.choices:
            raise InvalidValueError(self.expected)
        return value


@dataclass(frozen=True)
class TupleOf:
    """A fixed number of values, separated by colons; a size may use an x instead."""

    kinds: tuple[Kind, ...]

    @property
    def expected(self) -> str:
        """Number and kind of the values."""
        whole = "whole " if isinstance(self.kinds[0], Integer) else ""
        return f"{len(self.kinds)} {whole}numbers separated by colons"

    def from_text(self, text: str) -> tuple[Any, ...]:
        """Parses '84:112' or '84x112'; '84' is short for '84:84'."""
        parts = re.split("[:x]", text)
        parts = parts * len(self.kinds) if len(parts) == 1 else parts
        if len(parts) != len(self.kinds):
            raise InvalidValueError(self.expected)
        pairs = zip(self.kinds, parts, strict=True)
        return tuple(kind.from_text(part.strip()) for kind, part in pairs)

    def from_data(self, value: Any) -> tuple[Any, ...]:
        """Accepts a list or a tuple."""
        if not isinstance(value, list | tuple) or len(value) != len(self.kinds):
            raise InvalidValueError(self.expected)
        return tuple(kind.from_data(part) for kind, part in zip(self.kinds, value, strict=True))


@dataclass(frozen=True)
class Annealed:
    """A reward weight: a constant, or a weight that is annealed."""

    expected: str = "a finite number, or START:END:STEPS with STEPS above 0"

    def from_text(self, text: str) -> Weight:
        """Parses '0.01' or '0.02:0.01:500_000'."""
        try:
            if ":" not in text:
                return Number().from_text(text)
            start, end, steps = text.split(":")
            annealed = (
                Number().from_text(start),
                Number().from_text(end),
                Integer().from_text(steps),
            )
            return self.from_data(annealed)
        except ValueError:
            raise InvalidValueError(self.expected) from None

    def from_data(self, value: Any) -> Weight:
        """Accepts a number or a sequence of three numbers."""
        try:
            if not isinstance(value, list | tuple):
                return Number().from_data(value)
            start, end, steps = value
            annealed = (
                Number().from_data(start),
                Number().from_data(end),
                Integer().from_data(steps),
            )
        except ValueError:
            raise InvalidValueError(self.expected) from None
        if annealed[2] < 1:
            raise InvalidValueError(self.expected)
        return annealed


@dataclass(frozen=True)
class ListOf:
    """Any number of values of one kind, separated by commas."""

    kind: Kind
    expected: str = "a list"

    def from_text(self, text: str) -> tuple[Any, ...]:
        """Parses 'a,b'."""
        return tuple(self.kind.from_text(part.strip()) for part in text.split(",") if part.strip())

    def from_data(self, value: Any) -> tuple[Any, ...]:
        """Accepts a list or a tuple."""
        if not isinstance(value, list | tuple):
            raise InvalidValueError(self.expected)
        return tuple(self.kind.from_data(part) for part in value)


_SIMPLE: dict[Any, Kind] = {
    bool: Boolean(),
    int: Integer(),
    float: Number(),
    str: Text(),
    Path: File(),
    Weight: Annealed(),
}


@cache
def kind_of(hint: Any) -> Kind:
    """Returns the kind of value that a type hint describes; `X | None` has the kind of X."""
    if hint in _SIMPLE:
        return _SIMPLE[hint]
    if get_origin(hint) in (Union, UnionType):
        (member,) = (part for part in get_args(hint) if part is not NoneType)
        return kind_of(member)
    if get_origin(hint) is Literal:
        return Choice(get_args(hint))
    parts: Sequence[Any] = get_args(hint)
    if parts[-1] is Ellipsis:
        return ListOf(kind_of(parts[0]))
    return TupleOf(tuple(kind_of(part) for part in parts))


def may_be_none(hint: Any) -> bool:
    """Whether a type hint is `X | None`."""
    return NoneType in get_args(hint)
