"""What a campaign is asked to do: which levels, how well, and for how long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from warpzone.campaign.options import CampaignOptions
from warpzone.campaign.scoreboard import all_levels
from warpzone.config import TrainConfig, with_refining, with_teachers
from warpzone.config.option import options_of
from warpzone.config.values import check_value
from warpzone.envs.setup import expand_levels
from warpzone.errors import ConfigError
from warpzone.evaluation.policy_folder import INSIDE
from warpzone.runs.levels import held_out_levels

# Of --refine-steps, for levels that are learned quickly.
_LEAST_REFINING = 1 / 3
_TOGETHER, _REFINED, _GENERALIST = "together", "refined", "generalist"

Kind = Literal["train", "refine", "distill"]


@dataclass(frozen=True)
class Task:
    """One run of a campaign: a policy for a level, or for all of them.

    Attributes:
        name: Name of the run.
        levels: Levels that it trains on.
        kind: 'train' trains until the goal is reached; 'refine' continues another run of its level
            once that is over, and 'distill' learns from the campaign's policies once all others are
            over. These two use their whole budget, since their learning rate falls with the steps.
        round: The only round in which it is trained; 0 means all.
        source: Run that it continues, with the kind 'refine'.
        learns: Whether a run of the kind 'refine' continues the run of another level, so that it
            also has to learn its own, and gets the steps for that as well.
        is_refined: Whether a run of the kind 'refine' follows. Then the run ends as soon as its
            level is cleared in part, and the policy that counts is the refined one.
    """

    name: str
    levels: tuple[str, ...]
    kind: Kind = "train"
    round: int = 0
    source: str = ""
    learns: bool = False
    is_refined: bool = False

    def waits_for(self, other: str) -> bool:
        """Whether it cannot start while another run is not over."""
        if self.kind == "refine":
            return other == self.source
        return self.kind == "distill" and other != self.name


@dataclass(frozen=True)
class Budget:
    """How long a run may train altogether; 0 minutes means no time limit."""

    steps: int
    minutes: float


def verify_options(options: CampaignOptions) -> None:
    """Checks the values, whichever channel they come from.

    Raises:
        ConfigError: Naming the option, its value and what is allowed.
    """
    for option in options_of(CampaignOptions):
        check_value(option, getattr(options, option.name), f"--{option.flag}")
    if options.together and options.generalist:
        raise ConfigError("--together and --generalist exclude each other; leave one of them out")
    if options.together and options.refine_steps:
        raise ConfigError("--together and --refine-steps exclude each other; leave one of them out")
    for level in expand_levels(options.levels):
        if level not in all_levels():
            raise ConfigError(
                f"--levels names {level!r}; levels are written like '1-3', up to {all_levels()[-1]}"
            )
    _verify_chain(options)


def _chain(options: CampaignOptions) -> list[str]:
    return expand_levels(options.chain) if options.chain else []


def _verify_chain(options: CampaignOptions) -> None:
    chain = _chain(options)
    if chain and not options.refine_steps:
        raise ConfigError("--chain works with --refine-steps; give both, or leave --chain out")
    if len(set(chain)) < len(chain):
        raise ConfigError(f"--chain {options.chain} names a level twice; name each once")
    foreign = [level for level in chain if level not in expand_levels(options.levels)]
    if foreign:
        raise ConfigError(f"--chain names {', '.join(foreign)}, which --levels does not train")


def tasks_of(options: CampaignOptions) -> list[Task]:
    """The runs of a campaign, in their order."""
    levels = tuple(dict.fromkeys(expand_levels(options.levels)))
    if options.together:
        return [Task(_TOGETHER, levels)]
    chain = _chain(options)
    before = dict(zip(chain[1:], chain, strict=False))
    tasks = []
    for level in _ordered(levels, chain, options.jobs):
        if options.refine_steps:
            tasks += _refined(level, before.get(level), options.rounds)
        else:
            tasks.append(Task(level, (level,)))
    if options.generalist:
        # Another round gives other policies to learn from, so it is another run.
        name = _numbered(_GENERALIST, options.rounds)
        tasks.append(Task(name, levels, "distill", round=options.rounds))
    return tasks


def _ordered(levels: Sequence[str], chain: Sequence[str], jobs: int) -> list[str]:
    """Levels in the order in which they are trained.

    The levels of a chain wait for each other, so they come first. With several jobs, later levels
    follow, since they take longer: what starts last may run alone at the end.
    """
    others = [level for level in levels if level not in chain]
    return [*chain, *(reversed(others) if jobs > 1 else others)]


def _refined(level: str, before: str | None, rounds: int) -> list[Task]:
    """The runs of a level that is refined, each from the one before.

    Args:
        level: The level.
        before: Level whose policy it starts from; None learns it from scratch first.
        rounds: Number of rounds.
    """
    tasks = [Task(level, (level,), round=1, is_refined=True)] if before is None else []
    source = level if before is None else f"{before}-{_REFINED}"
    for number in range(1, rounds + 1):
        name = _numbered(f"{level}-{_REFINED}", number)
        learns = number == 1 and before is not None
        tasks.append(Task(name, (level,), "refine", round=number, source=source, learns=learns))
        source = name
    return tasks


def _numbered(name: str, number: int) -> str:
    return name if number == 1 else f"{name}-{number}"


def budget_of(config: TrainConfig, options: CampaignOptions, task: Task, rounds: int) -> Budget:
    """The budget of a run up to the end of a round."""
    if task.kind == "distill":
        return Budget(options.generalist_steps, 0.0)
    steps = options.steps_per_level or config.run.steps
    if task.kind == "refine":
        return Budget(options.refine_steps + (steps if task.learns else 0), 0.0)
    share = len(task.levels) * rounds
    return Budget(steps * share, options.minutes_per_level * share)


def refining_steps(options: CampaignOptions, used: float) -> int:
    """Steps to refine a level, by how hard it was to learn.

    Args:
        options: What the campaign is asked for.
        used: Share of its budget that the run of the level has used.
    """
    return round(options.refine_steps * min(1.0, max(_LEAST_REFINING, used)))


def config_of(
    config: TrainConfig, options: CampaignOptions, task: Task, runs: Path, steps: int
) -> TrainConfig:
    """The configuration of a run.

    Args:
        config: What all runs have in common.
        options: What the campaign is asked for.
        task: The run.
        runs: The campaign's folder of runs.
        steps: Environment steps that it may train.
    """
    if task.kind == "distill":
        config = with_teachers(config, str(runs.parent / INSIDE))
    if task.kind == "refine":
        config = with_refining(config, str(runs / task.source), whole_games=options.generalist)
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
