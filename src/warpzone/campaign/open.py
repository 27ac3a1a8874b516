"""Starts or resumes the campaign of a folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from warpzone.campaign.campaign import Campaign
from warpzone.campaign.options import CampaignOptions
from warpzone.campaign.state import asked_of, open_state
from warpzone.config import TrainConfig
from warpzone.errors import ScoreboardError
from warpzone.runs.directory import CONFIG_FILE, check_folder_name
from warpzone.runs.lock import run_lock
from warpzone.system.signals import StopRequest
from warpzone.system.text import printable


def run_campaign(
    folder: Path,
    config: TrainConfig,
    options: CampaignOptions,
    *,
    train_all: Callable[[Campaign], StopRequest],
    allow_changes: bool = False,
) -> StopRequest:
    """Starts a campaign, or resumes it.

    Args:
        folder: The campaign's folder; created if missing.
        config: The configuration that all runs share.
        options: What is asked for.
        train_all: Trains whatever is not finished, in this process or in workers.
        allow_changes: Resume although the configuration differs.

    Returns:
        The request to stop, if there was one.

    Raises:
        ScoreboardError: The folder is something else, or cannot be created.
        ResumeError: The configuration differs.
        RunError: The folder's name is not UTF-8, or another campaign runs there.
    """
    check_folder_name(folder)
    if (folder / CONFIG_FILE).exists():
        raise ScoreboardError(f"{folder} is a run; give the campaign a folder of its own with -o")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ScoreboardError(f"{folder} cannot be created: {error.strerror}") from error
    with run_lock(folder):
        state, changes = open_state(folder, asked_of(config, options), allow_changes)
        for change in changes:
            print_line(f"resumes with a change: {change}")
        return train_all(Campaign(folder, config, options, state, report=print_line))


def print_line(text: str) -> None:
    """Shows a line of a campaign."""
    print(printable(text), flush=True)
