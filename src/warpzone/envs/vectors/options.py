"""How worker processes are started and watched."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from warpzone.errors import ConfigError

Vector = Literal["native", "sync", "async"]
VECTORS: tuple[str, ...] = get_args(Vector)

#: Start methods. 'fork' is not among them: a copy of a process with threads can hang.
StartMethod = Literal["spawn", "forkserver"]

_LEAST_SECONDS, _SECONDS_EACH = 180.0, 60.0


@dataclass(frozen=True)
class WorkerOptions:
    """The start of workers, and what happens when one fails.

    Attributes:
        method: 'spawn' (a fresh interpreter each), or 'forkserver' (forked from a small server).
        prewarm: Environments that are built and closed in this process first, so that a broken
            set-up shows here and files are in memory.
        delay: Seconds between the starts of two processes.
        seconds: Limit of each stage: the start of all workers, a reset, a step. None means the
            larger of 180 s and 60 s an environment.
        replacements: Dead workers that are replaced before one ends the vector.
        folder: Where the workers' logs go; None makes a temporary one, which stays only when a
            worker failed.
    """

    method: StartMethod = "spawn"
    prewarm: int = 0
    delay: float = 0.0
    seconds: float | None = None
    replacements: int = 3
    folder: Path | None = None

    def verify(self) -> None:
        """Checks the values.

        Raises:
            ConfigError: Naming the option, its value and what is allowed.
        """
        if self.method not in get_args(StartMethod):
            raise ConfigError(
                f"start method is {self.method!r}; it must be one of "
                f"{', '.join(get_args(StartMethod))}"
            )
        if self.seconds is not None and not self.seconds > 0:
            raise ConfigError(f"the time limit is {self.seconds:g} s; it must be above 0")
        for name, value in (
            ("prewarm", self.prewarm),
            ("the start delay", self.delay),
            ("replacements", self.replacements),
        ):
            if not value >= 0:
                raise ConfigError(f"{name} is {value}; it must not be negative")

    def limit(self, num_envs: int) -> float:
        """Seconds that a stage may take."""
        return self.seconds or max(_LEAST_SECONDS, _SECONDS_EACH * num_envs)


def check_vector(backend: str, vector: str) -> None:
    """Raises ConfigError for a vector that does not exist, or not with this backend."""
    if vector not in VECTORS:
        raise ConfigError(f"vector is {vector!r}; it must be one of {', '.join(VECTORS)}")
    if vector == "native" and backend != "native":
        raise ConfigError(
            f"vector 'native' is the pool of our own core and cannot run backend {backend!r}; "
            "give --vector async, or --vector sync"
        )
