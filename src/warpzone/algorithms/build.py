"""Creates algorithms by their registered name."""

from __future__ import annotations

from collections.abc import Sequence

from warpzone.algorithms import appo as _appo  # noqa: F401 - registers itself
from warpzone.algorithms import ppo as _ppo  # noqa: F401 - registers itself
from warpzone.algorithms import vtrace as _vtrace  # noqa: F401 - registers itself
from warpzone.algorithms.base import Algorithm
from warpzone.config import LearnOptions
from warpzone.errors import PluginError
from warpzone.registry import algorithms


def make_algorithm(options: LearnOptions, plugins: Sequence[str] = ()) -> Algorithm:
    """Creates the algorithm that the options select.

    Args:
        options: Name and hyperparameters of the algorithm.
        plugins: Modules that may register it; named in the error if it is missing.

    Raises:
        PluginError: The algorithm is not registered, or is not a subclass of `Algorithm`.
    """
    algorithm = algorithms.get(options.algo, plugins)(options)
    if not isinstance(algorithm, Algorithm):
        raise PluginError(
            f"learn.algo is {options.algo!r}, whose class {type(algorithm).__name__} is not a "
            "subclass of warpzone.Algorithm"
        )
    return algorithm
