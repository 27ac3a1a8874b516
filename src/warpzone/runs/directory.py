"""A run is one directory; everything in it can be read without our code."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from warpzone.errors import RunError
from warpzone.runs.lock import run_lock
from warpzone.system.atomic_file import remove_abandoned, write_text_atomically
from warpzone.system.json_file import read_bytes
from warpzone.system.os_errors import describe_os_error
from warpzone.system.text import is_utf8
from warpzone.telemetry.log_file import LogFileHandler, log_to

CONFIG_FILE = "config.toml"
_MOST_NAMES = 10_000


@dataclass(frozen=True)
class RunDirectory:
    """The files of a run, by name.

    Attributes:
        path: The directory.
    """

    path: Path

    @classmethod
    def create(cls, parent: Path, name: str, config: str) -> RunDirectory:
        """Creates a new directory: `name`, or `name-2` and so on when that is taken.

        Args:
            parent: Such as `runs`; created if missing.
            name: Such as 'mario-1-1'.
            config: Text of `config.toml`.

        Raises:
            RunError: The name is not allowed, or the directory cannot be created.
        """
        check_folder_name(parent)
        if not re.fullmatch(r"\w[\w.,+-]*", name):
            raise RunError(f"{name!r} cannot name a run: use letters, digits and . , + - _")
        try:
            parent.mkdir(parents=True, exist_ok=True)
            run = cls(_make_unique(parent, name))
            run.make(config)
        except OSError as error:
            raise RunError(
                f"no run can be created in {parent}: {describe_os_error(error)}"
            ) from error
        return run

    def make(self, config: str) -> None:
        """Makes the directory and its folders where they are missing, the configuration first.

        Raises:
            OSError: The system refused.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        self.write_config(config)
        for folder in self._folders:
            folder.mkdir(exist_ok=True)

    def discard_empty(self) -> None:
        """Removes a directory that was just made; what others have put into it stays.

        Raises:
            OSError: The system refused.
        """
        self.config.unlink(missing_ok=True)
        for folder in (*self._folders, self.path):
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()

    @property
    def _folders(self) -> tuple[Path, ...]:
        return self.checkpoints, self.videos, self.events

    @classmethod
    def open(cls, path: Path) -> RunDirectory:
        """Opens an existing run.

        Raises:
            RunError: There is no run at the path.
        """
        if not (path / CONFIG_FILE).is_file():
            raise RunError(f"{path} is not a run: it has no {CONFIG_FILE}")
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
        """Folder of thread dumps from stalls; created when it is needed."""
        return self.path / "stalls"

    @property
    def workers(self) -> Path:
        """Folder of the logs of worker processes; made when it is needed."""
        return self.path / "workers"

    @property
    def heartbeat(self) -> Path:
        """Heartbeats as JSON lines."""
        return self.path / "heartbeat.jsonl"

    @property
    def commands(self) -> Path:
        """Folder of commands that the run has not carried out yet; made when it is needed."""
        return self.path / "commands"

    @property
    def live(self) -> Path:
        """Folder through which viewers get rollouts; made when somebody watches."""
        return self.path / "live"

    @property
    def steering(self) -> Path:
        """What became of commands, as JSON lines."""
        return self.path / "steering.jsonl"

    @property
    def evaluations(self) -> Path:
        """Results of evaluations that were asked for while training, as JSON lines."""
        return self.path / "evaluations.jsonl"

    @property
    def log(self) -> Path:
        """Log of the program."""
        return self.path / "log.txt"

    def read_config(self) -> str:
        """Returns the text of the configuration.

        Raises:
            RunError: It cannot be read, or is not text.
        """
        try:
            return read_bytes(self.config).decode()
        except OSError as error:
            raise RunError(describe_os_error(error)) from error
        except ValueError as error:
            raise RunError(f"{self.config} is damaged: {error}") from error

    def write_config(self, text: str) -> None:
        """Replaces the configuration in one step."""
        write_text_atomically(self.config, text)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Holds the directory against other trainers, and removes what a killed one left half done.

        See `run_lock`.
        """
        with run_lock(self.path):
            for folder in (self.path, self.checkpoints, self.videos):
                remove_abandoned(folder)
            yield

    @contextmanager
    def logging(self, level: int = logging.INFO) -> Iterator[None]:
        """Writes records of warpzone's loggers to `log.txt` inside the block."""
        with log_to(LogFileHandler(self.log), level):
            yield


def run_of(target: Path) -> RunDirectory:
    """The run that a path refers to: a run's folder, or one of its checkpoints."""
    return RunDirectory.open(target.parent.parent if target.is_file() else target)


def check_folder_name(folder: Path) -> None:
    """Refuses a folder whose name could not be created, or not be written to a configuration.

    Raises:
        RunError: Its path is not UTF-8, or has a null character in it.
    """
    if not is_utf8(str(folder)) or "\0" in str(folder):
        raise RunError(f"{folder} has a name that is not UTF-8; give the folder another name")


def _make_unique(parent: Path, name: str) -> Path:
    for number in range(1, _MOST_NAMES):
        path = parent / (name if number == 1 else f"{name}-{number}")
        try:
            path.mkdir()  # Fails when it exists, so two processes never share one.
        except FileExistsError:
            continue
        return path
    raise RunError(f"{parent} has {_MOST_NAMES} runs named {name}")
