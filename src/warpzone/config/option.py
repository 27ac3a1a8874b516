"""Declaration of options: type, default, help and limits, each written once.

The command line, TOML files, environment variables, Python keywords, `--help` and the documentation
are all generated from these declarations.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Any, get_type_hints

_KEY = "option"
_PREFIX_KEY = "prefix"
_LARGEST_WEIGHT = 1e9


@dataclass(frozen=True)
class Limits:
    """Range of a number: `above` is exclusive, `at_least` and `at_most` are inclusive."""

    above: float | None = None
    at_least: float | None = None
    at_most: float | None = None

    def allow(self, number: float) -> bool:
        """Whether a number lies within the limits."""
        return (
            (self.above is None or number > self.above)
            and (self.at_least is None or number >= self.at_least)
            and (self.at_most is None or number <= self.at_most)
        )

    def __str__(self) -> str:
        """Describes the range, to complete 'it must be ...' in messages."""
        if self.at_least is not None and self.at_most is not None:
            return f"from {_number(self.at_least)} to {_number(self.at_most)}"
        parts = []
        if self.above is not None:
            parts.append(f"above {_number(self.above)}")
        if self.at_least is not None:
            parts.append(f"at least {_number(self.at_least)}")
        if self.at_most is not None:
            parts.append(f"at most {_number(self.at_most)}")
        return " and ".join(parts)


@dataclass(frozen=True)
class _Declared:
    """Metadata that `option` attaches to a dataclass field."""

    help: str
    flag: str | None
    off: str
    metavar: str
    short: str
    limits: Limits
    choices: tuple[str, ...]
    registry: str
    everyday: bool
    positional: bool
    repeated: bool


def option(
    default: Any,
    help: str,
    *,
    above: float | None = None,
    at_least: float | None = None,
    at_most: float | None = None,
    choices: tuple[str, ...] = (),
    registry: str = "",
    off: str = "",
    flag: str | None = None,
    metavar: str = "",
    short: str = "",
    everyday: bool = False,
    repeated: bool = False,
) -> Any:
    """Declares an option as a dataclass field.

    Args:
        default: Default value; `dataclasses.MISSING` makes the option required.
        help: Help text: what the option does, its unit, and when to change it.
        above: Exclusive lower bound of a number.
        at_least: Inclusive lower bound of a number.
        at_most: Inclusive upper bound of a number.
        choices: Allowed words, where a `Literal` type cannot list them.
        registry: Kind of plug-in that the option names; see `config.names`.
        off: Help text of `--no-NAME`, for a boolean that is on by default.
        flag: Name on the command line; defaults to the field's name.
        metavar: Placeholder of the value in `--help`.
        short: One-letter alias, such as '-o'.
        everyday: Whether `--help` shows the option; `--help-all` shows every option.
        repeated: Whether each value of a list needs its own flag, so that a positional argument may
            follow.
    """
    declared = _Declared(
        help=help,
        flag=flag,
        off=off,
        metavar=metavar,
        short=short,
        limits=Limits(above, at_least, at_most),
        choices=choices,
        registry=registry,
        everyday=everyday,
        positional=False,
        repeated=repeated,
    )
    return field(default=default, metadata={_KEY: declared})


def weight(default: float, help: str) -> Any:
    """Declares the weight of a reward term."""
    return option(default, help, at_least=-_LARGEST_WEIGHT, at_most=_LARGEST_WEIGHT, metavar="W")


def positional(default: Any, help: str, *, metavar: str) -> Any:
    """Declares an argument without a flag; `dataclasses.MISSING` makes it required."""
    declared = _Declared(
        help, None, "", metavar, "", Limits(), (), "", True, positional=True, repeated=False
    )
    return field(default=default, metadata={_KEY: declared})


def table(options: type[Any], *, prefix: str = "") -> Any:
    """Declares a table of options as a field of a configuration.

    Args:
        options: Dataclass of the table.
        prefix: Prefix of the table's flags, such as 'reward-'.
    """
    return field(default_factory=options, metadata={_PREFIX_KEY: prefix})


@dataclass(frozen=True)
class Option:
    """A declared option, bound to its field."""

    table: str
    name: str
    hint: Any
    default: Any
    flag: str
    help: str
    off: str
    metavar: str
    short: str
    limits: Limits
    choices: tuple[str, ...]
    registry: str
    everyday: bool
    positional: bool
    repeated: bool

    @property
    def path(self) -> str:
        """Dotted name, such as 'learn.gamma'."""
        return f"{self.table}.{self.name}" if self.table else self.name

    @property
    def keyword(self) -> str:
        """Name as a Python keyword: the flag with underscores."""
        return self.flag.replace("-", "_")

    @property
    def required(self) -> bool:
        """Whether the option has no default."""
        return self.default is MISSING


def options_of(cls: type[Any], table: str = "", prefix: str = "") -> tuple[Option, ...]:
    """Returns the options that a dataclass declares, in order."""
    hints = get_type_hints(cls)
    return tuple(
        _bound(item, hints[item.name], table, prefix)
        for item in fields(cls)
        if _KEY in item.metadata
    )


def tables_of(cls: type[Any]) -> Iterator[tuple[str, type[Any], str]]:
    """Yields the name, class and flag prefix of each table of a configuration."""
    hints = get_type_hints(cls)
    for item in fields(cls):
        if _PREFIX_KEY in item.metadata:
            yield item.name, hints[item.name], item.metadata[_PREFIX_KEY]


def _bound(item: Field[Any], hint: Any, table: str, prefix: str) -> Option:
    declared: _Declared = item.metadata[_KEY]
    flag = declared.flag if declared.flag is not None else prefix + item.name.replace("_", "-")
    return Option(
        table=table,
        name=item.name,
        hint=hint,
        default=item.default,
        flag=flag,
        help=declared.help,
        off=declared.off,
        metavar=declared.metavar,
        short=declared.short,
        limits=declared.limits,
        choices=declared.choices,
        registry=declared.registry,
        everyday=declared.everyday,
        positional=declared.positional,
        repeated=declared.repeated,
    )


def _number(bound: float) -> str:
    return f"{bound:,}" if isinstance(bound, int) else f"{bound:g}"
