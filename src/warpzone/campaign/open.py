"""Opening a campaign's folder and going through with it."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from warpzone.campaign.campaign import Campaign, Train
from warpzone.campaign.options import CampaignOptions
from warpzone.campaign.state import asked_of, open_state
from warpzone.config.options import TrainConfig
from warpzone.errors import ScoreboardError
from warpzone.runs.directory import CONFIG_FILE
from warpzone.runs.lock import run_lock
from warpzone.system.signals import StopRequest


def run_campaign(
    folder: Path,
    config: TrainConfig,
    options: CampaignOptions,
    *,
    train: Train,
    allow_changes: bool = False,
) -> StopRequest:
    """Begins a campaign, or goes on with it.

    Args:
        folder: Of the campaign; made if it is missing.
        config: What all runs have in common.
        options: What is asked for.
        train: Trains one run.
        allow_changes: Go on although the configuration differs.

    Returns:
        Who asked to stop, if anybody did.

    Raises:
        ScoreboardError: The folder is something else, or cannot be made.
        ResumeError: The configuration differs.
    """
    if (folder / CONFIG_FILE).exists():
        raise ScoreboardError(f"{folder} is a run; give the campaign a folder of its own with -o")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ScoreboardError(f"{folder} cannot be made: {error.strerror}") from error
    with ExitStack() as stack:
        stack.enter_context(run_lock(folder))
        state, changes = open_state(folder, asked_of(config, options), allow_changes)
        for change in changes:
            print(f"goes on with a change: {change}")
        campaign = Campaign(folder, config, options, state, train=train, tell=_tell)
        return campaign.run()


def _tell(text: str) -> None:
    print(text, flush=True)
