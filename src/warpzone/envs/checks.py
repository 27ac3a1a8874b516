"""What users hand to an environment, checked: each mistake is answered with one sentence."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warpzone import _native
from warpzone.errors import ConfigError, StateError

# More lanes than this are a slip of the finger: their memory alone would be tens of gigabytes.
# Pixels that a place may lie below a way point: less than a maze's corridor is high, or more than
# a screen.
_CORRIDOR, _ANY_DEPTH = 40, 1 << 20
# Pixels of the way that may be passed over in one go. In a maze little more than a leap: 4-4 wants
# a detour over the upper corridor, 349 pixels of the way, and sends back who comes straight on.
_STRAIGHT_ON, _LEAP = 384, 224
_MOST = 100_000
_MOST_STEPS = 1_000_000_000

#: One lane, several, or None for all of them.
Lanes = int | Sequence[int] | None
Seeds = int | Sequence[int | None] | None


def check_render_mode(render_mode: str | None) -> None:
    """Raises ConfigError for anything but None and 'rgb_array'."""
    if render_mode not in (None, "rgb_array"):
        raise ConfigError(f"render_mode is {render_mode!r}; it must be None or 'rgb_array'")


def check_ends(terminated: Any, truncated: Any) -> None:
    """Raises TypeError for anything but arrays of truths: the native side sees only their bytes."""
    if any(not isinstance(a, np.ndarray) or a.dtype != np.bool_ for a in (terminated, truncated)):
        raise TypeError("terminated and truncated are arrays of bool")


def checked_count(name: str, value: Any) -> int:
    """A number of lanes or threads."""
    if not isinstance(value, int | np.integer):
        raise ConfigError(f"{name} is {value!r}; it must be a whole number")
    if not 1 <= value <= _MOST:
        raise ConfigError(f"{name} is {value}; it must be at least 1 and at most {_MOST}")
    return int(value)


def checked_steps(value: Any) -> int:
    """A limit in steps; 0 for none."""
    if not isinstance(value, int | np.integer) or not 0 <= value <= _MOST_STEPS:
        raise ConfigError(f"the step limit is {value!r}; give a whole number of steps, 0 for none")
    return int(value)


def checked_state(blob: Any) -> bytes:
    """A save state, as far as can be told without reading it."""
    if not isinstance(blob, bytes | bytearray | memoryview):
        raise ConfigError(f"a save state is bytes, not {type(blob).__name__}")
    if len(blob) == 0:
        raise StateError("this is no save state: it is empty")
    return bytes(blob)


def checked_lane(lane: Any, count: int) -> int:
    """The number of one lane."""
    if not isinstance(lane, int | np.integer):
        raise ConfigError(f"lane is {lane!r}; it must be a whole number")
    if not 0 <= lane < count:
        raise ConfigError(f"lane {lane} does not exist; there are {count}")
    return int(lane)


def checked_lanes(lanes: Lanes, count: int) -> list[int]:
    """The numbers of lanes, all of them right before anything is done with one."""
    if lanes is None:
        return list(range(count))
    if isinstance(lanes, int | np.integer):
        return [checked_lane(lanes, count)]
    if isinstance(lanes, str | bytes) or not isinstance(lanes, Sequence | np.ndarray):
        raise ConfigError(f"lanes are {lanes!r}; give a number or a list of them")
    return [checked_lane(lane, count) for lane in lanes]


def checked_actions(actions: ArrayLike, count: int) -> NDArray[np.int64]:
    """One whole number a lane; their range is checked where they are used."""
    try:
        array = np.asarray(actions)
    except ValueError:  # Rows of different lengths.
        raise ConfigError(f"actions must be {count} whole numbers") from None
    if array.dtype.kind not in "iu":
        raise ConfigError(f"actions must be whole numbers, not {array.dtype}")
    if array.shape != (count,):
        raise ConfigError(
            f"actions have shape {array.shape}; with {count} lanes it must be ({count},)"
        )
    # Unsigned numbers too large for this become negative, and are refused as such.
    return np.ascontiguousarray(array, np.int64)


def checked_option(options: Any, name: str) -> Any:
    """The one thing that `reset` takes as an option; None without it."""
    if options is not None and not isinstance(options, Mapping):
        raise ConfigError(f"options must be a dict or None, not {type(options).__name__}")
    for given in options or ():
        if given != name:
            raise ConfigError(f"{given!r} is no reset option; there is only {name!r}")
    return (options or {}).get(name)


def checked_mask(options: Any, count: int) -> NDArray[np.bool_]:
    """The lanes that `options["reset_mask"]` selects; all without one."""
    mask = checked_option(options, "reset_mask")
    if mask is None:
        return np.ones(count, np.bool_)
    mask = np.asarray(mask)
    if mask.shape != (count,) or mask.dtype != np.bool_:
        raise ConfigError(
            f"reset_mask must hold {count} booleans, not {mask.dtype} of shape {mask.shape}"
        )
    return np.ascontiguousarray(mask)


def checked_seeds(seed: Seeds, count: int) -> list[int | None]:
    """A seed a lane: `seed` and the numbers after it, or the given ones."""
    try:
        if isinstance(seed, Sequence | np.ndarray):
            seeds = [None if one is None else operator.index(one) for one in seed]
        else:
            seeds = [operator.index(seed) + lane for lane in range(count)]  # type: ignore[arg-type]
    except TypeError:
        raise ConfigError(f"seed is {seed!r}; it must be a whole number or a list") from None
    if len(seeds) != count:
        raise ConfigError(f"{len(seeds)} seeds were given for {count} lanes")
    if any(one is not None and not 0 <= one < 2**64 for one in seeds):
        raise ConfigError(f"seed is {seed}; seeds go from 0 to 2**64 - 1")
    return seeds


def make_route(way: Any, *, maze: bool = True) -> _native.Route | None:
    """A route along way points (area, x, y), for use again and again; None for none.

    Args:
        way: The points.
        maze: Whether Mario must follow closely: pass points at about their height, and pass over
            none. In a maze he could otherwise take the corridor beneath, or leave out a detour
            that it asks for; elsewhere he may walk where the way leaps. He never may pass above
            it: a ceiling leads past the exit.
    """
    try:
        points = [[operator.index(number) for number in point] for point in way or ()]
    except (TypeError, ValueError) as error:
        raise ConfigError("a route is a list of way points (area, x, y)") from error
    for point in points:
        if any(abs(number) >= 2**31 for number in point):
            raise ConfigError(f"way point {tuple(point)} is in no level")
    if not points:
        return None
    below, window = (_CORRIDOR, _LEAP) if maze else (_ANY_DEPTH, _STRAIGHT_ON)
    return _native.Route(points, below=below, window=window)
