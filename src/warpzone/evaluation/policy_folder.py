"""Folders of policy files: which files there are, and which one is for a level."""

from __future__ import annotations

from pathlib import Path

from warpzone.errors import CheckpointError
from warpzone.evaluation.policy_file import SUFFIX, read_policy_facts
from warpzone.runs.directory import CONFIG_FILE
from warpzone.runs.levels import named_levels

INSIDE = "policies"
"""Where a campaign keeps its policies."""


def is_policy_folder(path: Path) -> bool:
    """Whether a path is a folder of policies, or a campaign that has some."""
    return path.is_dir() and not (path / CONFIG_FILE).is_file() and bool(find_policies(path))


def find_policies(folder: Path) -> list[Path]:
    """The policy files of a folder, sorted; of a campaign, those in its own folder for them."""
    for place in (folder, folder / INSIDE):
        found = sorted(place.glob(f"*{SUFFIX}"))
        if found:
            return found
    return []


def policies_by_level(folder: Path) -> dict[str, Path]:
    """The policy of each level that a folder has one for, chosen as `choose_policy` does.

    Raises:
        CheckpointError: A file is damaged, or not a policy.
    """
    levels = {path: read_policy_facts(path).levels for path in find_policies(folder)}
    # The last assignment counts: policies with fewer levels replace those with more.
    by_breadth = sorted(levels, key=lambda path: (len(levels[path]), path.name), reverse=True)
    return {level: path for path in by_breadth for level in levels[path]}


def choose_policy(folder: Path, level: str | None) -> Path:
    """The policy of a folder that is for a level; of several, the one with the fewest levels.

    Args:
        folder: Has policies.
        level: A level or several, as options name them; None if there is nothing to choose.

    Raises:
        CheckpointError: None fits, or several could be meant.
    """
    levels = {path: read_policy_facts(path).levels for path in find_policies(folder)}
    wanted = None if level is None else set(named_levels(level))
    fitting = [path for path in levels if wanted is None or wanted <= set(levels[path])]
    if wanted is None and len(fitting) > 1:
        names = ", ".join(path.stem for path in fitting)
        raise CheckpointError(f"{folder} has several policies ({names}); give --level")
    if not fitting:
        raise CheckpointError(f"{folder} has no policy for {level}")
    return min(fitting, key=lambda path: (len(levels[path]), path.name))
