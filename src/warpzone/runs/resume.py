"""Resuming: which checkpoint, and whether it fits what was asked. Never silently from scratch."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warpzone.errors import ResumeError
from warpzone.runs.checkpoint_store import find_latest
from warpzone.runs.listing import list_runs

NEWEST = "newest"
_ABSENT = "(not set)"


@dataclass(frozen=True)
class Difference:
    """One option that is not what it was.

    Attributes:
        option: Its dotted name, such as 'learning.rate'.
        saved: What the run was started with.
        asked: What is asked for now.
    """

    option: str
    saved: Any
    asked: Any

    def __str__(self) -> str:
        """For messages."""
        return f"{self.option}: was {self.saved!r}, now {self.asked!r}"


def differences(
    saved: Mapping[str, Any], asked: Mapping[str, Any], free: Collection[str] = ()
) -> list[Difference]:
    """Compares two configurations, option by option.

    Args:
        saved: As plain data: dicts, lists, numbers, strings.
        asked: The same.
        free: Options, or tables of them, that may differ, such as 'total_steps' or 'telemetry'.
    """
    before, now = flat_options(saved), flat_options(asked)
    return [
        Difference(option, before.get(option, _ABSENT), now.get(option, _ABSENT))
        for option in sorted(before.keys() | now.keys())
        if before.get(option, _ABSENT) != now.get(option, _ABSENT) and not _is_free(option, free)
    ]


def check_config(
    saved: Mapping[str, Any],
    asked: Mapping[str, Any],
    free: Collection[str] = (),
    allow_changes: bool = False,
) -> list[Difference]:
    """Refuses to resume with another configuration unless that is wanted.

    Returns:
        What differs, to be logged.

    Raises:
        ResumeError: Something differs and changes are not allowed; the text lists it.
    """
    found = differences(saved, asked, free)
    if found and not allow_changes:
        lines = "".join(f"\n  {difference}" for difference in found)
        raise ResumeError(
            f"the run was started with another configuration:{lines}\n"
            "give the same options, or --resume-with-changes to continue with the new ones"
        )
    return found


def resolve_run(word: str, runs_folder: Path, level: str | None = None) -> Path:
    """Finds what `--resume` means.

    Args:
        word: A path, the name of a run below the runs folder, or 'newest'.
        runs_folder: Where runs are looked for, a few folders deep.
        level: For 'newest': only runs of this level, as it is written in their configuration.

    Returns:
        A run directory or checkpoint.

    Raises:
        ResumeError: There is none, or the name fits several.
    """
    if word == NEWEST:
        return find_resume(None, runs_folder, level).parent.parent
    if Path(word).exists():
        return Path(word)
    named = [run.path for run in list_runs(runs_folder) if run.path.name == word]
    if len(named) > 1:
        raise ResumeError(f"several runs are named {word}: {', '.join(map(str, named))}; give one")
    if not named:
        raise ResumeError(
            f"{word} is not a path, and no run below {runs_folder} has this name; "
            f"`warpzone runs list {runs_folder}` lists them"
        )
    return named[0]


def named_run(name: Path, runs_folder: Path = Path("runs")) -> Path:
    """The run that a bare name stands for; a path stays as it is.

    Raises:
        ResumeError: No run has the name, or several have it.
    """
    return name if name.exists() or len(name.parts) > 1 else resolve_run(str(name), runs_folder)


def find_resume(target: Path | None, runs_folder: Path, level: str | None = None) -> Path:
    """Finds the checkpoint to resume from.

    Args:
        target: A checkpoint, a run directory, or None for the newest run that matches.
        runs_folder: Where runs are looked for without a target.
        level: Only runs of this level fit; None means all.

    Raises:
        ResumeError: There is none.
        CheckpointError: All of the run's checkpoints are damaged.
    """
    if target is not None:
        return _of_target(target)
    for run in sorted(list_runs(runs_folder), key=lambda run: run.changed, reverse=True):
        if level in (None, run.level):
            path = find_latest(run.path)
            if path is not None:
                return path
    of_level = "" if level is None else f" of level {level}"
    raise ResumeError(f"no run{of_level} below {runs_folder} has a checkpoint to go on from")


def _of_target(target: Path) -> Path:
    if target.is_file():
        return target
    if not target.is_dir():
        raise ResumeError(f"{target} does not exist")
    path = find_latest(target)
    if path is None:
        raise ResumeError(f"{target} has no checkpoint to go on from")
    return path


def flat_options(tree: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Options of a tree by their dotted names, with lists for tuples."""
    flat: dict[str, Any] = {}
    for key, value in tree.items():
        if isinstance(value, Mapping):
            flat |= flat_options(value, f"{prefix}{key}.")
        else:
            # A file has lists where the program has tuples.
            flat[f"{prefix}{key}"] = list(value) if isinstance(value, tuple) else value
    return flat


def _is_free(option: str, free: Collection[str]) -> bool:
    return any(option == name or option.startswith(name + ".") for name in free)
