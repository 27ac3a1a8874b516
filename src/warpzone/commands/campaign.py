"""`warpzone campaign`: trains every level in turn and keeps the scoreboard."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Literal

import tyro

from warpzone.campaign.options import CampaignOptions
from warpzone.commands.train import Preset, fresh_config
from warpzone.config.options import TrainConfig
from warpzone.config.presets import preset

_EXIT_INTERRUPTED = 130


@dataclass(frozen=True)
class Campaign:
    """Train every level in turn, or one policy for all, and keep a scoreboard that can be checked.

    A level is trained until its budget is used up, or until its clear rate promises the goal and
    fresh episodes (sticky buttons, idle frames, true start) confirm it. Each level is an ordinary
    run below runs/, its policy a small file in policies/, its row in scoreboard.json, .md and .png.
    However it was interrupted, the same command goes on where it stopped. All options of `warpzone
    train` are taken as well, for every run.

    For example:
      warpzone campaign --levels all --from-solutions solutions/ -o campaign/
      warpzone campaign --levels 1-1..1-4 --minutes-per-level 10 --rounds 3 -o world-1/
      warpzone campaign --levels 1-1..1-4 --together --level-order curriculum -o four/
      warpzone scoreboard campaign/
      warpzone report campaign/ -o report.html
    """

    config: TrainConfig = field(default_factory=lambda: preset("campaign"))
    campaign: CampaignOptions = field(default_factory=CampaignOptions)
    output: Annotated[Path, tyro.conf.arg(aliases=["-o"], metavar="FOLDER")] = Path("campaign")
    """Where everything lies."""
    preset: Preset = "campaign"
    """Where the options of training start from."""
    file: Annotated[Path | None, tyro.conf.arg(metavar="TOML")] = None
    """A file of options, laid over the preset."""
    resume_with_changes: bool = False
    """Go on although options differ from those that the campaign was started with."""
    display: Literal["auto", "rich", "plain", "quiet"] = "auto"
    """How progress is shown; auto is plain lines when the output is no terminal."""

    def run(self) -> int:
        """Trains what is left to train."""
        from warpzone.campaign.open import run_campaign
        from warpzone.campaign.plan import check_base, verify_options

        verify_options(self.campaign)
        check_base(self.config, self.campaign)
        self.config.verify()

        from warpzone.train.session import RunTraining
        from warpzone.video.background import BackgroundRecorder

        try:
            with BackgroundRecorder() as recorder:
                train = RunTraining(self.display, recorder.record, self.resume_with_changes)
                stop = run_campaign(
                    self.output,
                    self.config,
                    self.campaign,
                    train=train,
                    allow_changes=self.resume_with_changes,
                )
        except KeyboardInterrupt:
            print(f"stopped; {_GO_ON}")
            return _EXIT_INTERRUPTED
        if stop:
            print(f"stopped by {stop.reason}; {_GO_ON}")
        else:
            print(f"the scoreboard is {self.output / 'scoreboard.md'}")
        return stop.exit_code


_GO_ON = "everything is saved, and the same command goes on from here"


def campaign_defaults(arguments: list[str]) -> Campaign:
    """What the options of `campaign` start from: the preset, a file, and environment variables."""
    return replace(Campaign(), config=fresh_config(arguments, "campaign"))
