"""Checks of what users pass to an environment: each mistake gets one sentence."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warpzone import _native
from warpzone.errors import ConfigError, StateError

# More environments than this are a typing mistake: their memory would be tens of gigabytes.
_MOST = 100_000
_MOST_STEPS = 1_000_000_000
# How far above and below a point of a route Mario may pass it, in pixels. In a maze less than half
# of a corridor: a jump of the route between two corridors would otherwise pay in the wrong one.
_IN_CORRIDOR, _ABOVE, _ANY_DEPTH = 24, 40, 1 << 20
# Pixels of a route that may be skipped at once. In a maze little more than a jump: 4-4 demands a
# detour over the upper corridor, 349 pixels of the route, 7-4 one of 227 pixels over the middle
# one; both loop back when Mario skips it.
_STRAIGHT_ON, _JUMP = 384, 160

#: One environment, several, or None for all of them.
EnvIds = int | Sequence[int] | None
Seeds = int | Sequence[int | None] | None


def check_render_mode(render_mode: str | None) -> None:
    """Raises ConfigError for anything but None and 'rgb_array'."""
    if render_mode not in (None, "rgb_array"):
        raise ConfigError(f"render_mode is {render_mode!r}; it must be None or 'rgb_array'")


def check_ends(terminated: Any, truncated: Any) -> None:
    """Raises TypeError for anything but bool arrays: the native side sees only their bytes."""
    if any(not isinstance(a, np.ndarray) or a.dtype != np.bool_ for a in (terminated, truncated)):
        raise TypeError("terminated and truncated are arrays of bool")


def checked_count(name: str, value: Any) -> int:
    """Returns a number of environments or threads."""
    if not isinstance(value, int | np.integer):
        raise ConfigError(f"{name} is {value!r}; it must be an integer")
    if not 1 <= value <= _MOST:
        raise ConfigError(f"{name} is {value}; it must be at least 1 and at most {_MOST}")
    return int(value)


def checked_steps(value: Any) -> int:
    """Returns a limit in steps; 0 for none."""
    if not isinstance(value, int | np.integer) or not 0 <= value <= _MOST_STEPS:
        raise ConfigError(
            f"the step limit is {value!r}; give an integer of at least 0; 0 means no limit"
        )
    return int(value)


def checked_state(blob: Any) -> bytes:
    """Returns a save state, checked as far as possible without reading it."""
    if not isinstance(blob, bytes | bytearray | memoryview):
        raise ConfigError(f"a save state is bytes, not {type(blob).__name__}")
    if len(blob) == 0:
        raise StateError("the save state is empty")
    return bytes(blob)


def checked_env_id(env_id: Any, count: int) -> int:
    """Returns the index of one environment."""
    if not isinstance(env_id, int | np.integer):
        raise ConfigError(f"env_id is {env_id!r}; it must be an integer")
    if not 0 <= env_id < count:
        raise ConfigError(f"env {env_id} does not exist; there are {count}, counted from 0")
    return int(env_id)


def checked_env_ids(env_ids: EnvIds, count: int) -> list[int]:
    """Returns the indices of environments, all of them checked before any is used."""
    if env_ids is None:
        return list(range(count))
    if isinstance(env_ids, int | np.integer):
        return [checked_env_id(env_ids, count)]
    if isinstance(env_ids, str | bytes) or not isinstance(env_ids, Sequence | np.ndarray):
        raise ConfigError(f"env_ids is {env_ids!r}; give an integer or a list of integers")
    return [checked_env_id(env_id, count) for env_id in env_ids]


def checked_actions(actions: ArrayLike, count: int) -> NDArray[np.int64]:
    """Returns one integer per environment; their range is checked where they are used."""
    try:
        array = np.asarray(actions)
    except ValueError:  # Rows of different lengths.
        raise ConfigError(f"actions must be {count} integers") from None
    if array.dtype.kind not in "iu":
        raise ConfigError(f"actions must be integers, not {array.dtype}")
    if array.shape != (count,):
        raise ConfigError(
            f"actions have shape {array.shape}; for {count} environments it must be ({count},)"
        )
    # Unsigned numbers that are too large become negative, and are refused as such.
    return np.ascontiguousarray(array, np.int64)


def checked_option(options: Any, name: str) -> Any:
    """Returns the one option that `reset` takes; None without it."""
    if options is not None and not isinstance(options, Mapping):
        raise ConfigError(f"options must be a dict or None, not {type(options).__name__}")
    for given in options or ():
        if given != name:
            raise ConfigError(f"{given!r} is not a reset option; the only one is {name!r}")
    return (options or {}).get(name)


def checked_mask(options: Any, count: int) -> NDArray[np.bool_]:
    """Returns which environments `options["reset_mask"]` selects; all without a mask."""
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
    """Returns one seed per environment: `seed`, `seed + 1` and so on, or the given list."""
    try:
        if isinstance(seed, Sequence | np.ndarray):
            seeds = [None if one is None else operator.index(one) for one in seed]
        else:
            seeds = [operator.index(seed) + index for index in range(count)]  # type: ignore[arg-type]
    except TypeError:
        raise ConfigError(
            f"seed is {seed!r}; it must be an integer or a list of integers"
        ) from None
    if len(seeds) != count:
        raise ConfigError(
            f"seed has {len(seeds)} items; for {count} environments it must have {count}"
        )
    if any(one is not None and not 0 <= one < 2**64 for one in seeds):
        raise ConfigError(f"seed is {seed}; seeds go from 0 to 2**64 - 1")
    return seeds


def make_route(points: Any, *, maze: bool = True) -> _native.Route | None:
    """Returns a route along points (area, x, y), which many environments can share.

    Args:
        points: The points; None or an empty list for no route.
        maze: Whether Mario must follow the route closely: pass each point at about its height, and
            skip none. In a maze he could otherwise take the corridor beneath, or leave out a detour
            that the maze demands; elsewhere he may walk where the route jumps. He must never pass
            above it: the top of a cave leads past the exit.
    """
    try:
        numbers = [[operator.index(number) for number in point] for point in points or ()]
    except (TypeError, ValueError) as error:
        raise ConfigError("a route is a list of points (area, x, y)") from error
    for point in numbers:
        if any(abs(number) >= 2**31 for number in point):
            raise ConfigError(f"route point {tuple(point)} is not in any level")
    if not numbers:
        return None
    if maze:
        return _native.Route(numbers, above=_IN_CORRIDOR, below=_IN_CORRIDOR, window=_JUMP)
    return _native.Route(numbers, above=_ABOVE, below=_ANY_DEPTH, window=_STRAIGHT_ON)
