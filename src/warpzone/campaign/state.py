"""Where a campaign stands, as a JSON file that survives any interruption."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from warpzone.campaign.options import CampaignOptions
from warpzone.campaign.update_lock import update_lock
from warpzone.config import TrainConfig, checked_tree, overlaid
from warpzone.config.option import options_of
from warpzone.config.values import check_value
from warpzone.errors import ScoreboardError
from warpzone.runs.resume import Difference, check_config
from warpzone.runs.saved_config import FREE_OPTIONS
from warpzone.system.atomic_file import write_text_atomically
from warpzone.system.json_file import entry, read_json

STATE_FILE = "campaign.json"
_FORMAT = 1
# What may differ when a campaign is resumed: what may for a run, which levels, and how long.
_FREE = (
    *FREE_OPTIONS,
    "campaign.levels",
    "campaign.goal",
    "campaign.minutes_per_level",
    "campaign.steps_per_level",
    "campaign.rounds",
    "campaign.refine_steps",
    "campaign.chain",
    "campaign.generalist",
    "campaign.generalist_steps",
    "campaign.jobs",
)


@dataclass(frozen=True)
class TaskState:
    """The progress of one run of the campaign.

    Attributes:
        rounds: Rounds whose budget it has used up, and after which it was measured.
        checks: How often it seemed to have reached the goal and had not.
        check_from: Steps before which it is not checked again.
    """

    rounds: int = 0
    checks: int = 0
    check_from: int = 0


@dataclass(frozen=True)
class CampaignState:
    """What was asked for, and the progress of each run; what it has learned is in its folder."""

    asked: Mapping[str, Any]
    tasks: Mapping[str, TaskState] = field(default_factory=dict)

    def of(self, name: str) -> TaskState:
        """The state of a run, which may not have started."""
        return self.tasks.get(name, TaskState())

    def having(self, name: str, task: TaskState) -> CampaignState:
        """The same campaign with another state of one run."""
        return replace(self, tasks={**self.tasks, name: task})


def asked_of(config: TrainConfig, options: CampaignOptions) -> dict[str, Any]:
    """Everything that was asked for, as plain data."""
    return {"campaign": asdict(options), **asdict(config)}


def write_state(folder: Path, state: CampaignState) -> None:
    """Writes `campaign.json` atomically."""
    tree = {"format": _FORMAT, **asdict(state)}
    write_text_atomically(folder / STATE_FILE, json.dumps(tree, indent=1) + "\n")


def read_state(folder: Path) -> CampaignState | None:
    """Reads `campaign.json`; None where no campaign has started.

    Raises:
        ScoreboardError: It is something else; the text says what is wrong.
    """
    path = folder / STATE_FILE
    try:
        tree = read_json(path)
        found = entry(tree, "format", int)
        if found != _FORMAT:
            raise ScoreboardError(f"it has format {found}; this version reads {_FORMAT}")
        tasks = entry(tree, "tasks", dict)
        return CampaignState(
            entry(tree, "asked", dict),
            {name: _task(entry(tasks, name, dict)) for name in tasks},
        )
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ScoreboardError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise ScoreboardError(f"{path} is not a campaign: {error}") from error


def _task(tree: Any) -> TaskState:
    names = ("rounds", "checks", "check_from")
    return TaskState(*(entry(tree, name, int, least=0) for name in names))


def task_state(folder: Path, name: str) -> TaskState:
    """Reads the state of a run from `campaign.json`, which exists."""
    return _existing(folder).of(name)


def record_task(folder: Path, name: str, task: TaskState) -> None:
    """Records the state of a run; other processes may record those of other runs."""
    with update_lock(folder):
        write_state(folder, _existing(folder).having(name, task))


def _existing(folder: Path) -> CampaignState:
    state = read_state(folder)
    if state is None:
        raise ScoreboardError(f"{folder} is not a campaign: it has no {STATE_FILE}")
    return state


def asked_for(folder: Path) -> tuple[TrainConfig, CampaignOptions]:
    """Reads what a campaign was asked for from its `campaign.json`.

    Raises:
        ScoreboardError: The folder is not a campaign.
        ConfigError: An option has a value that is not allowed.
    """
    asked = dict(_existing(folder).asked)
    source = str(folder / STATE_FILE)
    campaign = asked.pop("campaign", {})
    options = {
        option.name: check_value(option, campaign[option.name], f"{source}: {option.name}")
        for option in options_of(CampaignOptions)
        if option.name in campaign
    }
    return overlaid(TrainConfig(), checked_tree(asked, source)), CampaignOptions(**options)


def open_state(
    folder: Path, asked: Mapping[str, Any], allow_changes: bool
) -> tuple[CampaignState, list[Difference]]:
    """The state to resume from, and what is asked for differently now.

    Raises:
        ResumeError: Something differs that changes what is learned, and that is not allowed.
    """
    state = read_state(folder)
    if state is None:
        return CampaignState(asked), []
    changes = check_config(state.asked, asked, _FREE, allow_changes)
    return replace(state, asked=asked), changes
