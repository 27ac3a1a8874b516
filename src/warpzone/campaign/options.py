"""The options of a campaign; nothing heavy is imported here, for the command line."""

from __future__ import annotations

from dataclasses import dataclass

from warpzone.config.option import option


@dataclass(frozen=True)
class CampaignOptions:
    """What is trained, how well, and for how long."""

    levels: str = option(
        "all",
        "Levels to train: '1-1', '1-1,1-2', '1-1..2-4', or 'all'.",
        metavar="LEVELS",
        everyday=True,
    )
    together: bool = option(
        False,
        "Train one policy for all levels instead of one per level.",
        everyday=True,
    )
    refine_steps: int = option(
        0,
        "Continue the run of each level with the preset 'refine' for up to this many environment "
        "steps, once it clears its level in part or has used up its budget; 0 leaves this out. A "
        "level that is learned quickly gets proportionally fewer, but at least a third. Refined "
        "policies die less often, and teach a better generalist.",
        at_least=0,
        at_most=10**15,
        metavar="STEPS",
    )
    chain: str = option(
        "",
        "With --refine-steps: levels that resemble each other, such as '4-4,7-4,8-4'. From the "
        "second on, each is refined from the policy of the level before instead of being learned "
        "from scratch, for --refine-steps and the steps of a level's own run. Use it for levels "
        "that are too hard to explore, such as mazes.",
        metavar="LEVELS",
    )
    generalist: bool = option(
        False,
        "After the last round, distill the policies of the campaign into one policy that plays all "
        "their levels, also as parts of a whole game. The action set is then whole-game by "
        "default.",
        everyday=True,
    )
    generalist_steps: int = option(
        8_000_000,
        "Environment steps of the distillation with --generalist.",
        at_least=1,
        at_most=10**15,
        metavar="STEPS",
    )
    goal: float = option(
        0.9,
        "Clear rate in fresh episodes at which a level is done.",
        above=0.0,
        at_most=1.0,
        metavar="RATE",
        everyday=True,
    )
    minutes_per_level: float = option(
        0.0,
        "Training time per level and round, in minutes; 0 means that only steps are limited.",
        at_least=0.0,
        at_most=1e6,
        metavar="MINUTES",
        everyday=True,
    )
    steps_per_level: int = option(
        0,
        "Environment steps per level and round; 0 means as many as --steps says.",
        at_least=0,
        at_most=10**15,
        metavar="STEPS",
        everyday=True,
    )
    rounds: int = option(
        1,
        "How many times levels below the goal get a budget; from the second round on their runs "
        "are resumed. With --refine-steps, they are refined again.",
        at_least=1,
        at_most=10_000,
        metavar="N",
        everyday=True,
    )
    episodes: int = option(
        400,
        "Episodes of each clear rate on the scoreboard. Checks during training play at most 200.",
        at_least=1,
        at_most=100_000,
        metavar="N",
        everyday=True,
    )
    jobs: int = option(
        1,
        "Number of levels to train at the same time, each in its own process. Cores are divided "
        "between them. The output of each level is in logs/.",
        at_least=1,
        at_most=1024,
        metavar="N",
        everyday=True,
    )
