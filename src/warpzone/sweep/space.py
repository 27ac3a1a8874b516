"""Search spaces: which training options a sweep varies, and over which values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from warpzone.config import Partial, TrainConfig, train_options
from warpzone.config.kinds import Annealed, Integer, InvalidValueError, ListOf, Number, kind_of
from warpzone.config.option import Option
from warpzone.config.values import check_value, read_text, suggestion
from warpzone.errors import ConfigError

_SYNTAX = (
    "write NAME=LOW:HIGH, NAME=LOW:HIGH:log or NAME=A,B,C, such as learning-rate=1e-4:1e-3:log"
)
_MAX_SHOWN = 80
# What a run is about and how it is run; varying these would compare different problems.
_FIXED_TABLES = ("run", "watch", "workers")
_FIXED = (
    *("env.level", "env.held_out", "env.game", "env.rom", "env.start_state", "env.num_threads"),
    *("distill.teachers", "starts.solutions"),
)

Parameter = bool | int | float | str
"""Value of a dimension as Optuna stores it."""


@dataclass(frozen=True)
class Range:
    """Numbers between two bounds, which belong to the range.

    Attributes:
        option: Option that takes the number.
        low: Smallest value.
        high: Largest value.
        log: Whether values are sampled on a logarithmic scale.
    """

    option: Option
    low: float
    high: float
    log: bool = False

    @property
    def name(self) -> str:
        """The option's flag, without dashes."""
        return self.option.flag

    @property
    def is_integer(self) -> bool:
        """Whether only whole numbers are sampled."""
        return isinstance(kind_of(self.option.hint), Integer)

    def value(self, parameter: Parameter) -> Any:
        """Returns the option's value for a sampled number."""
        return check_value(self.option, parameter, self.name)

    def parameter(self, value: Any) -> Parameter | None:
        """Returns the number that gives a value of the option; None if the range lacks it."""
        is_number = isinstance(value, int | float)  # A reward weight may also be annealed.
        return value if is_number and self.low <= value <= self.high else None

    def __str__(self) -> str:
        """Formats the dimension as `--space` takes it."""
        ends = f"{_number(self.low)}:{_number(self.high)}"
        return f"{self.name}={ends}{':log' if self.log else ''}"


@dataclass(frozen=True)
class Choices:
    """A list of values.

    Attributes:
        option: Option that takes the value.
        texts: The values as written on the command line.
    """

    option: Option
    texts: tuple[str, ...]

    @property
    def name(self) -> str:
        """The option's flag, without dashes."""
        return self.option.flag

    def value(self, parameter: Parameter) -> Any:
        """Returns the option's value for a sampled text."""
        return read_text(self.option, str(parameter), self.name)

    def parameter(self, value: Any) -> Parameter | None:
        """Returns the text that gives a value of the option; None if the list lacks it."""
        return next((text for text in self.texts if self.value(text) == value), None)

    def __str__(self) -> str:
        """Formats the dimension as `--space` takes it."""
        return f"{self.name}={','.join(self.texts)}"


Dimension = Range | Choices

_COMMON = (
    "learning-rate=1e-4:3e-3:log",
    "ent-coef=1e-3:5e-2:log",
    "gae-lambda=0.85:0.99",
    "epochs=1:6",
)
_BY_TIME = (*_COMMON, "gamma=0.94:0.995", "ent-coef-fade=0.25:1")
_DEFAULTS: dict[str, tuple[str, ...]] = {
    "cpu": _BY_TIME,
    "cpu-quick": _BY_TIME,
    "campaign": (*_COMMON, "progress-gamma=0.9:0.99", "reward-time=1e-3:5e-2:log"),
    "refine": (*_COMMON, "reward-time=5e-4:1e-2:log", "reward-death=1:6"),
    "gpu": (*_COMMON, "gamma=0.94:0.995", "minibatch-size=1024,2048,4096"),
    "gpu-large": (*_COMMON, "gamma=0.94:0.995", "minibatch-size=2048,4096,8192"),
    "stable-async": (*_COMMON, "gamma=0.94:0.995", "minibatch-size=128,256,512"),
}


def default_space(preset: str, explicit: Partial) -> tuple[Dimension, ...]:
    """Returns the space that suits a preset, without options that are set explicitly."""
    dimensions = (parse_dimension(text) for text in _DEFAULTS[preset])
    return tuple(found for found in dimensions if not _is_set(found.option, explicit))


def parse_space(texts: Sequence[str], explicit: Partial) -> tuple[Dimension, ...]:
    """Parses the values of `--space`.

    Args:
        texts: Such as 'learning-rate=1e-4:1e-3:log'.
        explicit: Training options that are set explicitly, and so must not be searched.

    Raises:
        ConfigError: A text is malformed, or names an option that cannot be searched.
    """
    dimensions = tuple(map(parse_dimension, texts))
    seen: set[str] = set()
    for dimension in dimensions:
        if dimension.name in seen:
            raise ConfigError(f"--space names {dimension.name} twice; leave one of them out")
        if _is_set(dimension.option, explicit):
            raise ConfigError(
                f"{dimension.name} is searched by --space and also set to one value; leave one of "
                "them out"
            )
        seen.add(dimension.name)
    return dimensions


def parse_dimension(text: str) -> Dimension:
    """Parses one value of `--space`.

    Raises:
        ConfigError: The text is malformed, or the option cannot be searched.
    """
    name, equals, values = text.partition("=")
    if not equals or not name or not values:
        raise ConfigError(f"--space {_shown(text)} is not a search space; {_SYNTAX}")
    option = _option(name.strip())
    if ":" in values and isinstance(kind_of(option.hint), Integer | Number | Annealed):
        return _range(option, text, values)
    return _choices(option, text, values)


def partial_tree(
    dimensions: Iterable[Dimension], parameters: Mapping[str, Parameter]
) -> dict[str, dict[str, Any]]:
    """Returns sampled values as explicit training options."""
    tree: dict[str, dict[str, Any]] = {}
    for dimension in dimensions:
        value = dimension.value(parameters[dimension.name])
        tree.setdefault(dimension.option.table, {})[dimension.option.name] = value
    return tree


def parameters_of(dimensions: Iterable[Dimension], config: TrainConfig) -> dict[str, Parameter]:
    """Returns the parameters that give a configuration's values, as far as the space has them."""
    found = {}
    for dimension in dimensions:
        table = getattr(config, dimension.option.table)
        found[dimension.name] = dimension.parameter(getattr(table, dimension.option.name))
    return {name: parameter for name, parameter in found.items() if parameter is not None}


def _option(name: str) -> Option:
    known = {option.flag: option for option in train_options()}
    if name not in known:
        remedy = suggestion(name, known) or "; `warpzone train --help-all` lists the options"
        raise ConfigError(f"--space names {_shown(name)}, which is not a training option{remedy}")
    option = known[name]
    if option.table in _FIXED_TABLES or option.path in _FIXED:
        raise ConfigError(
            f"--space cannot search {name}, which all trials of a sweep share; set --{name} instead"
        )
    if isinstance(kind_of(option.hint), ListOf):
        raise ConfigError(f"--space cannot search {name}, which takes a list; set --{name} instead")
    return option


def _range(option: Option, text: str, values: str) -> Range:
    low_text, _, rest = values.partition(":")
    high_text, colon, scale = rest.partition(":")
    if colon and scale.strip() != "log":
        raise ConfigError(f"--space {_shown(text)} ends with {_shown(scale)}; {_SYNTAX}")
    low, high = (_bound(option, part) for part in (low_text, high_text))
    if low >= high:
        raise ConfigError(
            f"--space {_shown(text)} has bounds {_number(low)} and {_number(high)}; the first must "
            "be below the second"
        )
    if colon and low <= 0:
        raise ConfigError(
            f"--space {_shown(text)} starts at {_number(low)}; a logarithmic range must start "
            "above 0"
        )
    return Range(option, low, high, bool(colon))


def _bound(option: Option, text: str) -> float:
    kind = kind_of(option.hint)
    name = f"--space {option.flag}: bound"
    number = Integer() if isinstance(kind, Integer) else Number()
    try:
        value = number.from_text(text.strip())
    except InvalidValueError as error:
        raise ConfigError(f"{name} is {_shown(text)}; it must be {error}") from None
    checked: float = check_value(option, value, name)
    return checked


def _choices(option: Option, text: str, values: str) -> Choices:
    texts = tuple(part.strip() for part in values.split(","))
    if len(texts) < 2:
        raise ConfigError(
            f"--space {_shown(text)} has only one value; {_SYNTAX}, or set --{option.flag}"
        )
    read = [read_text(option, part, f"--space {option.flag}: value") for part in texts]
    if len(set(read)) < len(read):
        raise ConfigError(f"--space {_shown(text)} repeats a value; name each value once")
    return Choices(option, texts)


def _is_set(option: Option, explicit: Partial) -> bool:
    return option.name in explicit.get(option.table, {})


def _number(value: float) -> str:
    return repr(value).removesuffix(".0")


def _shown(text: str) -> str:
    shown = repr(text)
    return shown if len(shown) <= _MAX_SHOWN else f"{shown[:_MAX_SHOWN]}..."
