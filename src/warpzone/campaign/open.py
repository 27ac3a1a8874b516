"""Starts or resumes the campaign of a folder."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from warpzone.campaign.campaign import Campaign, Train
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
    train: Train,
    allow_changes: bool = False,
) -> StopRequest:
    """Starts a campaign, or resumes it.

    Args:
        folder: The campaign's folder; created if missing.
        config: The configuration that all runs share.
        options: What is asked for.
        train: Trains one run.
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
    with ExitStack() as stack:
        stack.enter_context(run_lock(folder))
        state, changes = open_state(folder, asked_of(config, options), allow_changes)
        for change in changes:
            _report(f"resumes with a change: {change}")
        campaign = Campaign(folder, config, options, state, train=train, report=_report)
        return campaign.run()


def _report(text: str) -> None:
    print(printable(text), flush=True)
