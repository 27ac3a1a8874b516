"""A run is one directory, and everything about it can be read without our code."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from warpzone.errors import RunError
from warpzone.runs.lock import run_lock
from warpzone.system.atomic_file import write_text_atomically
from warpzone.telemetry.log_file import LogFileHandler, log_to

CONFIG_FILE = "config.toml"
_MOST_NAMES = 10_000


@dataclass(frozen=True)
class RunDirectory:
    """The files of a run by name.

    Attributes:
        path: The directory.
    """

    path: Path

    @classmethod
    def create(cls, parent: Path, name: str, config: str) -> RunDirectory:
        """Makes a new directory, `name`, or `name-2` and so on when that is taken.

        Args:
            parent: Such as `runs`; made if missing.
            name: Such as 'mario-1-1'.
            config: Text of `config.toml`.

        Raises:
            RunError: The name is not fit for a directory, or none could be made.
        """
        if not re.fullmatch(r"\w[\w.,+-]*", name):
            raise RunError(f"'{name}' is no name for a run: use letters, digits and . , + - _")
        try:
            parent.mkdir(parents=True, exist_ok=True)
            run = cls(_make_unique(parent, name))
            for folder in (run.checkpoints, run.videos, run.events):
                folder.mkdir()
            run.write_config(config)
        except OSError as error:
            raise RunError(f"no run can be made in {parent}: {error}") from error
        return run

    @classmethod
    def open(cls, path: Path) -> RunDirectory:
        """Takes an existing run.

        Raises:
            RunError: There is no run at the path.
        """
        if not (path / CONFIG_FILE).is_file():
            raise RunError(f"{path} is no run: it has no {CONFIG_FILE}")
        return cls(path)

    @property
    def name(self) -> str:
        """The directory's name."""
        return self.path.name

    @property
    def config(self) -> Path:
        """The configuration as TOML."""
        return self.path / CONFIG_FILE

    @property
    def metrics(self) -> Path:
        """Metrics as JSON lines."""
        return self.path / "metrics.jsonl"

    @property
    def episodes(self) -> Path:
        """Episodes as JSON lines."""
        return self.path / "episodes.jsonl"

    @property
    def parquet(self) -> Path:
        """Metrics as a Parquet file."""
        return self.path / "metrics.parquet"

    @property
    def checkpoints(self) -> Path:
        """Folder of checkpoints."""
        return self.path / "checkpoints"

    @property
    def videos(self) -> Path:
        """Folder of videos."""
        return self.path / "videos"

    @property
    def events(self) -> Path:
        """Folder of TensorBoard's files."""
        return self.path / "events"

    @property
    def stalls(self) -> Path:
        """Folder of what threads were doing when nothing moved; made when it is needed."""
        return self.path / "stalls"

    @property
    def heartbeat(self) -> Path:
        """Signs of life as JSON lines."""
        return self.path / "heartbeat.jsonl"

    @property
    def log(self) -> Path:
        """What the program said."""
        return self.path / "log.txt"

    def read_config(self) -> str:
        """Returns the text of the configuration."""
        return self.config.read_text(encoding="utf-8")

    def write_config(self, text: str) -> None:
        """Replaces the configuration in one step."""
        write_text_atomically(self.config, text)

    def lock(self) -> AbstractContextManager[None]:
        """Holds the directory against other trainers; see `run_lock`."""
        return run_lock(self.path)

    @contextmanager
    def logging(self, level: int = logging.INFO) -> Iterator[None]:
        """Writes what warpzone's loggers say to `log.txt` inside the block."""
        with log_to(LogFileHandler(self.log), level):
            yield


def run_of(target: Path) -> RunDirectory:
    """The run that a path means: its own folder, or that of one of its checkpoints."""
    return RunDirectory.open(target.parent.parent if target.is_file() else target)


def _make_unique(parent: Path, name: str) -> Path:
    for number in range(1, _MOST_NAMES):
        path = parent / (name if number == 1 else f"{name}-{number}")
        try:
            path.mkdir()  # fails when it exists, so two processes never share one
        except FileExistsError:
            continue
        return path
    raise RunError(f"{parent} has {_MOST_NAMES} runs named {name}")
