"""What the name of a policy means: a path, a run, or a level whose policy comes with Warpzone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from warpzone import _native
from warpzone.errors import CheckpointError, RunError
from warpzone.evaluation.policy_folder import choose_policy, is_policy_folder
from warpzone.runs.listing import list_runs
from warpzone.system.included import included_folder

RUNS = Path("runs")
"""Where runs are looked for by name."""

_LONGEST_NAME = 4096
"""Characters; file systems accept no longer paths."""


@dataclass(frozen=True)
class Target:
    """A policy that was found.

    Attributes:
        path: A run, a checkpoint, a policy file, or a folder of those.
        level: The level that was named; None for a path or a run.
    """

    path: Path
    level: str | None = None


def default_policies() -> Path:
    """The folder `policies`, or else the policies that come with Warpzone."""
    local = Path("policies")
    return local if is_policy_folder(local) else included_folder("policies")


def find_target(name: Path, policies: Path | None = None) -> Target:
    """Finds what a command was given.

    Args:
        name: A path; the name of a run below `runs`; or a level such as 1-1, for its policy.
        policies: Folder in which a policy for a level is looked up; by default
            `default_policies()`.

    Raises:
        RunError: It is none of these, or several runs have the name.
        CheckpointError: There is no policy for the level.
    """
    word = str(name)
    if len(word) > _LONGEST_NAME:
        raise RunError(f"{word[:40]}… is not the name of a run or a policy: it is too long")
    if name.exists() or name.name != word:
        return Target(name)
    runs = [run.path for run in list_runs(RUNS) if run.path.name == word]
    if len(runs) > 1:
        raise RunError(f"several runs are named {word}: {', '.join(map(str, runs))}; give one")
    if runs:
        return Target(runs[0])
    if word in _native.level_names("smb"):
        return Target(_policy_for(word, policies or default_policies()), word)
    raise RunError(
        f"{word} is not a file, a run below {RUNS}, or a level such as 1-1; "
        "`warpzone runs list` lists runs"
    )


def _policy_for(level: str, folder: Path) -> Path:
    try:
        return choose_policy(folder, level).resolve()
    except CheckpointError as error:
        raise CheckpointError(
            f"there is no policy for {level} yet; train one with `warpzone train --level {level}`"
        ) from error
