"""Folders of policy files: which files there are, and which one is for a level."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from pathlib import Path

from warpzone.errors import CheckpointError
from warpzone.evaluation.policy_file import SUFFIX, read_policy_facts
from warpzone.runs.directory import CONFIG_FILE
from warpzone.runs.levels import named_levels
from warpzone.system.json_file import entry, read_json

INSIDE = "policies"
"""Where a campaign keeps its policies."""
BOARD_FILE = "scoreboard.json"
"""Lists the best policy of each level; beside the policies, or in the campaign's folder."""


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
    levels = _levels_by_policy(folder)
    # The last assignment counts: policies with fewer levels replace those with more.
    by_breadth = sorted(levels, key=lambda path: (len(levels[path]), path.name), reverse=True)
    return {level: path for path in by_breadth for level in levels[path]} | _listed(levels)


def choose_policy(folder: Path, level: str | None) -> Path:
    """The policy of a folder that is for a level.

    Of several, the one that the scoreboard lists for it, or else the one with the fewest levels.

    Args:
        folder: Has policies.
        level: A level or several, as options name them; None if there is nothing to choose.

    Raises:
        CheckpointError: None fits, or several could be meant.
    """
    levels = _levels_by_policy(folder)
    wanted = None if level is None else set(named_levels(level))
    fitting = [path for path in levels if wanted is None or wanted <= set(levels[path])]
    if wanted is None and len(fitting) > 1:
        names = ", ".join(path.stem for path in fitting)
        raise CheckpointError(f"{folder} has several policies ({names}); give --level")
    if not fitting:
        raise CheckpointError(f"{folder} has no policy for {level}")
    rows = Counter(path for name, path in _listed(levels).items() if name in (wanted or ()))
    return min(fitting, key=lambda path: (-rows[path], len(levels[path]), path.name))


def _levels_by_policy(folder: Path) -> dict[Path, tuple[str, ...]]:
    return {path: tuple(read_policy_facts(path).levels) for path in find_policies(folder)}


def _listed(levels: Mapping[Path, Collection[str]]) -> dict[str, Path]:
    """The policies that a scoreboard lists, by level; those that are missing are left out.

    Args:
        levels: The levels of each policy file of a folder.

    Raises:
        CheckpointError: There is a scoreboard, but it cannot be read.
    """
    places = {path.parent for path in levels}
    boards = [place / BOARD_FILE for place in places]
    boards += [place.parent / BOARD_FILE for place in places if place.name == INSIDE]
    found: dict[str, Path] = {}
    for board in filter(Path.is_file, boards):
        try:
            rows = [
                (entry(row, "level", str), row) for row in entry(read_json(board), "rows", list)
            ]
            named = {
                name: board.parent / str(row["policy"]) for name, row in rows if "policy" in row
            }
        except (OSError, ValueError) as error:
            raise CheckpointError(
                f"{board} is not a scoreboard ({error}); repair or delete it"
            ) from error
        found |= {name: path for name, path in named.items() if name in levels.get(path, ())}
    return found
