"""What a campaign is asked to do: which levels, how well, and for how long."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from warpzone.campaign.options import CampaignOptions
from warpzone.campaign.scoreboard import all_levels
from warpzone.config import TrainConfig
from warpzone.config.option import options_of
from warpzone.config.values import check_value
from warpzone.envs.setup import expand_levels
from warpzone.errors import ConfigError
from warpzone.runs.levels import held_out_levels

_TOGETHER = "together"


@dataclass(frozen=True)
class Task:
    """One run of a campaign: a policy for a level, or for all of them.

    Attributes:
        name: Of the run.
        levels: What it trains on.
    """

    name: str
    levels: tuple[str, ...]


@dataclass(frozen=True)
class Budget:
    """How long a run may train in all; 0 minutes means no limit of time."""

    steps: int
    minutes: float


def verify_options(options: CampaignOptions) -> None:
    """Checks the values, whichever way they came.

    Raises:
        ConfigError: Naming the option, its value and what is allowed.
    """
    for option in options_of(CampaignOptions):
        check_value(option, getattr(options, option.name), f"--{option.flag}")
    for level in expand_levels(options.levels):
        if level not in all_levels():
            raise ConfigError(
                f"--levels names {level!r}; levels are written like '1-3', up to {all_levels()[-1]}"
            )


def tasks_of(options: CampaignOptions) -> list[Task]:
    """The runs of a campaign, in their order."""
    levels = tuple(dict.fromkeys(expand_levels(options.levels)))
    if options.together:
        return [Task(_TOGETHER, levels)]
    return [Task(level, (level,)) for level in levels]


def budget_of(config: TrainConfig, options: CampaignOptions, task: Task, rounds: int) -> Budget:
    """What a run may have used once so many rounds are over."""
    share = len(task.levels) * rounds
    steps = options.steps_per_level or config.run.steps
    return Budget(steps * share, options.minutes_per_level * share)


def config_of(config: TrainConfig, task: Task, runs: Path, steps: int) -> TrainConfig:
    """The configuration of a run."""
    return replace(
        config,
        env=replace(config.env, level=",".join(task.levels)),
        run=replace(
            config.run,
            runs=str(runs),
            name=task.name,
            steps=steps,
            stop_at_clear_rate=0.0,  # The campaign decides, by fresh episodes.
        ),
    )


def check_held_out(config: TrainConfig, options: CampaignOptions) -> None:
    """Refuses to train on levels that are held out.

    Raises:
        ConfigError: Naming them.
    """
    both = set(held_out_levels(config.env)) & set(expand_levels(options.levels))
    if both:
        raise ConfigError(f"--held-out and --levels both name {', '.join(sorted(both))}")
