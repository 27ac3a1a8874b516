"""What a campaign is asked to do: which levels, how well, and for how long."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from warpzone.campaign.options import CampaignOptions
from warpzone.campaign.scoreboard import all_levels
from warpzone.config.options import TrainConfig
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
    """Checks what types alone do not.

    Raises:
        ConfigError: Naming the option, its value and what is allowed.
    """
    if not 0.0 < options.goal <= 1.0:
        raise ConfigError(f"--goal is {options.goal}; it must be above 0 and at most 1")
    for name, least, value in (
        ("minutes-per-level", 0, options.minutes_per_level),
        ("steps-per-level", 0, options.steps_per_level),
        ("rounds", 1, options.rounds),
        ("episodes", 1, options.episodes),
    ):
        if not value >= least:
            raise ConfigError(f"--{name} is {value}; it must be at least {least}")
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


def check_base(config: TrainConfig, options: CampaignOptions) -> None:
    """Refuses options of training that a campaign sets itself.

    Raises:
        ConfigError: Naming the option and what to use instead.
    """
    plain = TrainConfig()
    for name, given, usual, instead in (
        ("--level", config.env.level, plain.env.level, "--levels"),
        ("--runs", config.run.runs, plain.run.runs, "-o"),
        ("--name", config.run.name, plain.run.name, "-o"),
    ):
        if given != usual:
            raise ConfigError(f"{name} is given by the campaign itself; use {instead}")
    both = set(held_out_levels(config.env)) & set(expand_levels(options.levels))
    if both:
        raise ConfigError(f"--held-out and --levels both name {', '.join(sorted(both))}")
