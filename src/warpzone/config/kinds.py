"""The kinds of values that options take: how each is read from text and accepted as data."""

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
"""A number, or (start, end, steps) for one that moves in a straight line while a run trains."""

_TRUTHS = {"true": True, "yes": True, "on": True, "1": True}
_TRUTHS |= {"false": False, "no": False, "off": False, "0": False}
_SCALES = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}
_NUMERAL = re.compile(r"([+-]?[\d_]*\.?[\d_]+(?:e[+-]?\d+)?)([kmg]?)", re.IGNORECASE)
_MOST_DIGITS = 18


class UnfitError(ValueError):
    """A value is not of a kind; the text says what would be."""


class Kind(Protocol):
    """One kind of value."""

    @property
    def expected(self) -> str:
        """What a value must be, for messages."""

    def from_text(self, text: str) -> Any:
        """Reads a value as it is written on the command line and in variables."""

    def from_data(self, value: Any) -> Any:
        """Takes a value of a file or of Python; the result has the exact type."""


@dataclass(frozen=True)
class Switch:
    """On or off."""

    expected: str = "true or false"

    def from_text(self, text: str) -> bool:
        """Reads 'true', 'no', '1' and the like."""
        if text.lower() not in _TRUTHS:
            raise UnfitError(self.expected)
        return _TRUTHS[text.lower()]

    def from_data(self, value: Any) -> bool:
        """Takes a bool and nothing else."""
        if not isinstance(value, bool):
            raise UnfitError(self.expected)
        return value


@dataclass(frozen=True)
class Whole:
    """A whole number."""

    expected: str = "a whole number"

    def from_text(self, text: str) -> int:
        """Reads '500_000', '1e6', '2M' and '64k' as well as '64'."""
        found = _NUMERAL.fullmatch(text)
        try:
            number = Decimal(found[1].replace("_", "")) if found else Decimal("nan")
        except InvalidOperation:
            number = Decimal("nan")
        if found is None or not number.is_finite():
            raise UnfitError(f"{self.expected}, such as 64, 500_000, 1e6 or 2M")
        if number.adjusted() > _MOST_DIGITS:
            raise UnfitError(f"{self.expected} of at most {_MOST_DIGITS} digits")
        number *= _SCALES[found[2].lower()]
        if number != number.to_integral_value():
            raise UnfitError(self.expected)
        return int(number)

    def from_data(self, value: Any) -> int:
        """Takes an int, or NumPy's; a bool is none, though Python counts it as one."""
        if isinstance(value, bool) or not isinstance(value, Integral):
            raise UnfitError(self.expected)
        return int(value)


@dataclass(frozen=True)
class Number:
    """A finite number."""

    expected: str = "a finite number"

    def from_text(self, text: str) -> float:
        """Reads a number."""
        try:
            return self.from_data(float(text))
        except ValueError:
            raise UnfitError(self.expected) from None

    def from_data(self, value: Any) -> float:
        """Takes any real number but NaN and infinities."""
        if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
            raise UnfitError(self.expected)
        return float(value)


@dataclass(frozen=True)
class Text:
    """Words that can be saved: names that the system could not decode cannot."""

    expected: str = "valid Unicode text"

    def from_text(self, text: str) -> str:
        """Takes it as it is."""
        return self.from_data(text)

    def from_data(self, value: Any) -> str:
        """Takes text that UTF-8 can express."""
        try:
            value.encode()
        except (AttributeError, UnicodeEncodeError):
            raise UnfitError(self.expected) from None
        return str(value)


@dataclass(frozen=True)
class File:
    """A path."""

    expected: str = "a path"

    def from_text(self, text: str) -> Path:
        """Takes any path."""
        return Path(text)

    def from_data(self, value: Any) -> Path:
        """Takes a path, or text."""
        if not isinstance(value, str | Path):
            raise UnfitError(self.expected)
        return Path(value)


@dataclass(frozen=True)
class Choice:
    """One of a few words or numbers."""

    choices: tuple[Any, ...]

    @property
    def expected(self) -> str:
        """The list of them."""
        *others, last = map(str, self.choices)
        return f"{', '.join(others)} or {last}" if others else last

    def from_text(self, text: str) -> Any:
        """Finds the choice that is written like this; `from_data` refuses anything else."""
        return next((choice for choice in self.choices if str(choice) == text), text)

    def from_data(self, value: Any) -> Any:
        """Takes one of the choices."""
        if isinstance(value, bool) or value not in self.choices:
            raise UnfitError(self.expected)
        return value


@dataclass(frozen=True)
class Row:
    """A few values of fixed kinds, written with colons between them (a size also with an x)."""

    kinds: tuple[Kind, ...]

    @property
    def expected(self) -> str:
        """How many, of what."""
        whole = "whole " if isinstance(self.kinds[0], Whole) else ""
        return f"{len(self.kinds)} {whole}numbers with a colon between them"

    def from_text(self, text: str) -> tuple[Any, ...]:
        """Reads '84:112' or '84x112'; '84' is short for '84:84'."""
        parts = re.split("[:x]", text)
        parts = parts * len(self.kinds) if len(parts) == 1 else parts
        if len(parts) != len(self.kinds):
            raise UnfitError(self.expected)
        pairs = zip(self.kinds, parts, strict=True)
        return tuple(kind.from_text(part.strip()) for kind, part in pairs)

    def from_data(self, value: Any) -> tuple[Any, ...]:
        """Takes a list or a tuple."""
        if not isinstance(value, list | tuple) or len(value) != len(self.kinds):
            raise UnfitError(self.expected)
        return tuple(kind.from_data(part) for kind, part in zip(self.kinds, value, strict=True))


@dataclass(frozen=True)
class Annealed:
    """A reward weight: a number, or one that moves."""

    expected: str = "a finite number, or START:END:STEPS with STEPS above 0"

    def from_text(self, text: str) -> Weight:
        """Reads '0.01' or '0.02:0.01:500_000'."""
        try:
            if ":" not in text:
                return Number().from_text(text)
            start, end, steps = text.split(":")
            moving = Number().from_text(start), Number().from_text(end), Whole().from_text(steps)
            return self.from_data(moving)
        except ValueError:
            raise UnfitError(self.expected) from None

    def from_data(self, value: Any) -> Weight:
        """Takes a number, or three of them."""
        try:
            if not isinstance(value, list | tuple):
                return Number().from_data(value)
            start, end, steps = value
            moving = Number().from_data(start), Number().from_data(end), Whole().from_data(steps)
        except ValueError:
            raise UnfitError(self.expected) from None
        if moving[2] < 1:
            raise UnfitError(self.expected)
        return moving


@dataclass(frozen=True)
class Several:
    """Any number of values of one kind, written with commas between them."""

    kind: Kind
    expected: str = "a list"

    def from_text(self, text: str) -> tuple[Any, ...]:
        """Reads 'a,b'."""
        return tuple(self.kind.from_text(part.strip()) for part in text.split(",") if part.strip())

    def from_data(self, value: Any) -> tuple[Any, ...]:
        """Takes a list or a tuple."""
        if not isinstance(value, list | tuple):
            raise UnfitError(self.expected)
        return tuple(self.kind.from_data(part) for part in value)


_SIMPLE: dict[Any, Kind] = {
    bool: Switch(),
    int: Whole(),
    float: Number(),
    str: Text(),
    Path: File(),
    Weight: Annealed(),
}


@cache
def kind_of(hint: Any) -> Kind:
    """The kind of value that a type hint describes; `X | None` is of the kind of X."""
    if hint in _SIMPLE:
        return _SIMPLE[hint]
    if get_origin(hint) in (Union, UnionType):
        (member,) = (part for part in get_args(hint) if part is not NoneType)
        return kind_of(member)
    if get_origin(hint) is Literal:
        return Choice(get_args(hint))
    parts: Sequence[Any] = get_args(hint)
    if parts[-1] is Ellipsis:
        return Several(kind_of(parts[0]))
    return Row(tuple(kind_of(part) for part in parts))


def may_be_none(hint: Any) -> bool:
    """Whether a type hint is `X | None`."""
    return NoneType in get_args(hint)
