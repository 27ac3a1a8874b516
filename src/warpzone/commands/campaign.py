"""`warpzone campaign`: trains every level and keeps the scoreboard."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from warpzone.campaign.options import CampaignOptions
from warpzone.commands.command import training_options
from warpzone.commands.job_workers import address_option, job_workers
from warpzone.commands.train import Display, Train
from warpzone.config import PRESET_NAMES, Partial, TrainConfig, explicit_options, merged, resolve
from warpzone.config.option import option, options_of
from warpzone.config.sources import TRAIN_PREFIX, variable_name
from warpzone.errors import ConfigError

if TYPE_CHECKING:
    from warpzone.campaign.campaign import Campaign as CampaignRuns
    from warpzone.system.signals import StopRequest

_EXIT_INTERRUPTED = 130
_PRESET = "campaign"
_GENERALIST_ACTIONS = "whole-game"  # As with --teachers: what all 32 levels need.
# Training options that a campaign sets for each of its runs, and the options to use instead.
_OWN = {"env.level": "--levels", "run.runs": "--output", "run.name": "--output"}


@dataclass(frozen=True)
class Campaign(CampaignOptions):
    """Train every level, or one policy for all, and keep a verifiable scoreboard.

    A level is trained until its budget is used up, or until its clear rate reaches the goal and
    fresh episodes (sticky actions, no-op frames, from the start of the level) confirm it. Each
    level is an ordinary run below runs/, with a small policy file in policies/ and a row in
    scoreboard.json, .md and .png. After any interruption, the same command resumes the campaign.
    With --jobs 2 or more, several levels are trained at the same time; one that fails is reported,
    and the others continue. All options and environment variables of `warpzone train` are accepted
    and apply to every run.

    Examples:
      warpzone campaign --levels all --from-solutions solutions/ -o campaign/
      warpzone campaign --levels 1-1..1-4 --minutes-per-level 10 --rounds 3 -o world-1/
      warpzone campaign --levels all --from-solutions solutions/ --jobs 4 -o campaign/
      warpzone campaign --levels 1-1..1-4 --together --level-order curriculum -o four/
      warpzone campaign --from-solutions included --refine-steps 3M --generalist --jobs 2 -o game/
      warpzone scoreboard campaign/
      warpzone report campaign/ -o report.html
    """

    output: Path = option(
        Path("campaign"),
        "Folder of the campaign.",
        short="-o",
        metavar="FOLDER",
        everyday=True,
    )
    preset: str = option(
        _PRESET,
        f"Preset of the training options: {', '.join(PRESET_NAMES)}.",
        choices=PRESET_NAMES,
        metavar="NAME",
        everyday=True,
    )
    file: Path | None = option(
        None,
        "TOML file of training options.",
        metavar="TOML",
    )
    resume_with_changes: bool = option(
        False,
        "Resume even if options differ from those the campaign was started with.",
        everyday=True,
    )
    display: Display = option(
        "auto",
        "How progress is shown; 'auto' uses plain lines if the output is not a terminal.",
        everyday=True,
    )
    address: str | None = address_option()
    training: Partial = training_options(
        _PRESET,
        omitted=tuple(_OWN),
        shown=("obs", "actions", "from-solutions", "algo", "num-envs", "seed", "device"),
    )

    def run(self) -> int:
        """Trains the remaining levels."""
        from warpzone.campaign.open import run_campaign
        from warpzone.campaign.plan import check_held_out, verify_options

        config, options = self._config(), self._options()
        verify_options(options)
        check_held_out(config, options)

        in_turn = options.jobs == 1 and self.address is None
        train_all = self._in_turn(config, options) if in_turn else self._in_workers
        try:
            stop = run_campaign(
                self.output,
                config,
                options,
                train_all=train_all,
                allow_changes=self.resume_with_changes,
            )
        except KeyboardInterrupt:
            print(f"stopped; {_RESUME}")
            return _EXIT_INTERRUPTED
        if stop:
            print(f"stopped by {stop.reason}; {_RESUME}")
        else:
            print(f"the scoreboard is {self.output / 'scoreboard.md'}")
        return stop.exit_code

    def _in_turn(
        self, config: TrainConfig, options: CampaignOptions
    ) -> Callable[[CampaignRuns], StopRequest]:
        """Returns a function that trains one run after the other, in this process."""
        from warpzone.campaign.campaign import train_in_turn
        from warpzone.campaign.open import print_line
        from warpzone.campaign.task_training import TaskTraining
        from warpzone.training.session import RunTraining
        from warpzone.video.background import BackgroundRecorder

        def train_all(campaign: CampaignRuns) -> StopRequest:
            with BackgroundRecorder(config.run.plugins) as recorder:
                train = RunTraining(self.display, recorder.record, self.resume_with_changes)
                training = TaskTraining(
                    self.output, config, options, train=train, report=print_line
                )
                return train_in_turn(campaign, training)

        return train_all

    def _in_workers(self, campaign: CampaignRuns) -> StopRequest:
        """Trains several runs at the same time."""
        from warpzone.campaign.parallel import ParallelTraining
        from warpzone.commands import campaign_worker
        from warpzone.system.signals import handle_signals

        arguments = ["--resume-with-changes"] if self.resume_with_changes else []
        with job_workers(self.address, self.jobs) as workers, handle_signals() as stop:
            module = campaign_worker.__name__
            ParallelTraining(campaign, workers, module=module, arguments=arguments).run(stop)
        return stop

    def _options(self) -> CampaignOptions:
        """Returns the options of the campaign, without those of the command."""
        names = [item.name for item in fields(CampaignOptions)]
        return CampaignOptions(**{name: getattr(self, name) for name in names})

    def _config(self) -> TrainConfig:
        """Returns the configuration that all runs share."""
        of_train = [variable_name(TRAIN_PREFIX, option) for option in options_of(Train)]
        explicit = explicit_options(self.file, self.training, of_train)
        for path, instead in _OWN.items():
            table, _, name = path.partition(".")
            if name in explicit.get(table, {}):
                raise ConfigError(f"{path} is set by the campaign itself; use {instead} instead")
        suited = {"env": {"actions": _GENERALIST_ACTIONS}} if self.generalist else {}
        return resolve(merged(suited, explicit), self.preset)


_RESUME = "everything is saved, and the same command resumes from here"
