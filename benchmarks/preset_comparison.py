"""Compares what sweeps have found with their preset, on seeds that no trial has used.

Trains both with the same seeds and the same budget, in turn, and prints the median and the range
per configuration. With five seeds, the range is a 94 % confidence interval of the median, whatever
the distribution (1 - 2 * 0.5 ** 5).

What was found is the best trial of a sweep or, with --top, the middle of the best trials of one or
several sweeps: the median of each number and the most frequent of each choice. Single trials owe
much of their rank to luck.

    python benchmarks/preset_comparison.py sweeps/a --level 1-1 --steps 400000
    python benchmarks/preset_comparison.py sweeps/1-3 sweeps/2-3 --top 5 --level 1-3 \
        --objective clear-rate --steps 200000 --set 'starts.solutions="solutions"'
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # As the `warpzone` command does.

import argparse
import json
import math
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from time_to_clear import CONFIRMATION_SEED, CONFIRMING_EPISODES, clear_rate, train_once

from warpzone.config import TrainConfig, from_toml, merged, resolve, with_threads
from warpzone.sweep.overview import Overview, read_overview
from warpzone.sweep.space import Choices, Dimension, Parameter, partial_tree
from warpzone.training.trainer import Trainer

GOAL = 0.9


class Outcome(NamedTuple):
    """What a run achieved, and the minutes of training that it took."""

    value: float
    minutes: float


def steps_to_goal(config: TrainConfig) -> Outcome:
    """Returns the steps until fresh episodes confirm the goal; infinite if they never do."""
    result = train_once(config, GOAL, math.inf)
    if result.goal_steps is None or result.goal_minutes is None:
        return Outcome(math.inf, math.inf)
    return Outcome(float(result.goal_steps), result.goal_minutes)


def rate_at_budget(config: TrainConfig) -> Outcome:
    """Returns the clear rate in fresh episodes when all steps are used up."""
    trainer = Trainer(config)
    trainer.begin()
    while trainer.steps < config.run.steps:
        trainer.update()
    minutes = trainer.elapsed / 60
    rate = clear_rate(trainer, config, CONFIRMATION_SEED, CONFIRMING_EPISODES)
    trainer.close()
    return Outcome(rate, minutes)


OBJECTIVES = {"steps": steps_to_goal, "clear-rate": rate_at_budget}


def best_parameters(overviews: Sequence[Overview], top: int) -> dict[str, Parameter]:
    """Returns the parameters of the best trial, or the middle of the best trials of each sweep."""
    if not top:
        if len(overviews) > 1:
            raise SystemExit("with several sweeps, --top says how many trials of each to combine")
        return dict(overviews[0].best[0].params)
    chosen = [trial for overview in overviews for trial in overview.ranked()[:top]]
    return {
        dimension.name: middle(dimension, [trial.params[dimension.name] for trial in chosen])
        for dimension in overviews[0].plan.space
    }


def middle(dimension: Dimension, values: list[Parameter]) -> Parameter:
    """Returns the median of numbers, with two digits, or the most frequent choice."""
    if isinstance(dimension, Choices):
        return statistics.mode(values)
    median = statistics.median(float(value) for value in values)
    return round(median) if dimension.is_integer else float(f"{median:.2g}")


def refuse_used_seeds(overviews: Sequence[Overview], seeds: Sequence[int]) -> None:
    """Ends the program if a trial was trained with one of the seeds."""
    for overview in overviews:
        first = int(overview.plan.explicit.get("run", {}).get("seed", 0))
        used = range(first, first + overview.plan.options.seeds)
        if set(used) & set(seeds):
            raise SystemExit(
                f"trials used the seeds {used.start} to {used.stop - 1}; choose others"
            )


def refuse_mixed_sweeps(overviews: Sequence[Overview]) -> None:
    """Ends the program if the sweeps have different presets or search different spaces."""
    if len({(overview.plan.preset, overview.plan.space) for overview in overviews}) > 1:
        raise SystemExit("the sweeps differ in their preset or in what they search")


def line(name: str, outcomes: Sequence[Outcome], objective: str) -> str:
    """Formats the results of a configuration as a row of a Markdown table."""

    def shown(value: float) -> str:
        if objective == "clear-rate":
            return f"{value:.1%}"
        return "not reached" if math.isinf(value) else f"{value:,.0f}"

    values = [outcome.value for outcome in outcomes]
    extent = f"{shown(min(values))} to {shown(max(values))}"
    minutes = f"{statistics.median(outcome.minutes for outcome in outcomes):.1f}"
    cells = [name, shown(statistics.median(values)), extent, minutes, ", ".join(map(shown, values))]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Trains with every seed and prints the table after each."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("sweeps", type=Path, nargs="+")
    parser.add_argument("--top", type=int, default=0, help="trials of each sweep to combine")
    parser.add_argument("--level", default="1-1")
    parser.add_argument("--objective", choices=list(OBJECTIVES), default="steps")
    parser.add_argument("--steps", type=int, default=400_000)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=1000)
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="TABLE.OPTION=VALUE",
        help="an option of both configurations, written as in TOML; can be repeated",
    )
    parser.add_argument("--threads", type=int, default=0, help="threads per run; 0 uses all cores")
    parser.add_argument("--json", type=Path, help="file for the results")
    given = parser.parse_args()
    overviews = [read_overview(path) for path in given.sweeps]
    seeds = range(given.first_seed, given.first_seed + given.seeds)
    refuse_used_seeds(overviews, seeds)
    refuse_mixed_sweeps(overviews)
    plan = overviews[0].plan
    best = best_parameters(overviews, given.top)
    print("found:", ", ".join(f"{name} {value}" for name, value in best.items()), flush=True)
    shared = from_toml("\n".join(given.set), "--set")
    configurations = {"preset": {}, "found": partial_tree(plan.space, best)}
    results: dict[str, list[Outcome]] = {name: [] for name in configurations}
    for seed in seeds:
        for name, found in configurations.items():
            asked = {"env": {"level": given.level}, "run": {"seed": seed, "steps": given.steps}}
            config = resolve(merged(shared, found, asked), plan.preset)
            if given.threads:
                config = with_threads(config, given.threads)
            results[name].append(OBJECTIVES[given.objective](config))
            print(f"{given.level}, seed {seed}, {name}: {results[name][-1].value:g}", flush=True)
    columns = f"median | range | minutes (median) | seeds {seeds[0]} to {seeds[-1]}"
    print(f"| {given.level}, {given.objective} | {columns} |")
    print("|---|---|---|---|---|")
    for name, outcomes in results.items():
        print(line(name, outcomes, given.objective))
    if given.json is not None:
        given.json.write_text(json.dumps({"found": best, "results": results}) + "\n")


if __name__ == "__main__":
    main()
