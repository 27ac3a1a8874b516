"""Compares the best configuration of a sweep with its preset, on seeds that no trial has used.

Trains both with the same seeds and the same budget, in turn, and prints the median and the range
per configuration. With five seeds, the range is a 94 % confidence interval of the median, whatever
the distribution (1 - 2 * 0.5 ** 5).

    python benchmarks/preset_comparison.py sweeps/a --level 1-1 --steps 400000
    python benchmarks/preset_comparison.py sweeps/a --level 1-3 --objective clear-rate \
        --steps 200000 --set 'env.actions="simple"' --set 'starts.solutions="solutions"'
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
from typing import Any

from time_to_clear import CONFIRMATION_SEED, CONFIRMING_EPISODES, clear_rate, train_once

from warpzone.config import TrainConfig, from_toml, merged, resolve
from warpzone.sweep.overview import Overview, read_overview
from warpzone.sweep.space import partial_tree
from warpzone.training.trainer import Trainer

GOAL = 0.9


def steps_to_goal(config: TrainConfig) -> float:
    """Returns the steps until fresh episodes confirm the goal; infinite if they never do."""
    result = train_once(config, GOAL, math.inf)
    return math.inf if result.goal_steps is None else float(result.goal_steps)


def rate_at_budget(config: TrainConfig) -> float:
    """Returns the clear rate in fresh episodes when all steps are used up."""
    trainer = Trainer(config)
    trainer.begin()
    while trainer.steps < config.run.steps:
        trainer.update()
    rate = clear_rate(trainer, config, CONFIRMATION_SEED, CONFIRMING_EPISODES)
    trainer.close()
    return rate


OBJECTIVES = {"steps": steps_to_goal, "clear-rate": rate_at_budget}


def configurations(overview: Overview) -> dict[str, dict[str, dict[str, Any]]]:
    """Returns what the preset and the best trial set beyond the preset."""
    best = overview.best[0]
    return {"preset": {}, f"trial {best.number}": partial_tree(overview.plan.space, best.params)}


def refuse_used_seeds(overview: Overview, seeds: Sequence[int]) -> None:
    """Ends the program if a trial was trained with one of the seeds."""
    first = int(overview.plan.explicit.get("run", {}).get("seed", 0))
    used = range(first, first + overview.plan.options.seeds)
    if set(used) & set(seeds):
        raise SystemExit(f"trials used the seeds {used.start} to {used.stop - 1}; choose others")


def line(name: str, values: Sequence[float], objective: str) -> str:
    """Formats the results of a configuration as a row of a Markdown table."""

    def shown(value: float) -> str:
        if objective == "clear-rate":
            return f"{value:.1%}"
        return "not reached" if math.isinf(value) else f"{value:,.0f}"

    extent = f"{shown(min(values))} to {shown(max(values))}"
    cells = [name, shown(statistics.median(values)), extent, ", ".join(map(shown, values))]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Trains with every seed and prints the table after each."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("sweep", type=Path)
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
    parser.add_argument("--json", type=Path, help="file for the results")
    given = parser.parse_args()
    overview = read_overview(given.sweep)
    seeds = range(given.first_seed, given.first_seed + given.seeds)
    refuse_used_seeds(overview, seeds)
    shared = from_toml("\n".join(given.set), "--set")
    results: dict[str, list[float]] = {name: [] for name in configurations(overview)}
    for seed in seeds:
        for name, found in configurations(overview).items():
            asked = {"env": {"level": given.level}, "run": {"seed": seed, "steps": given.steps}}
            config = resolve(merged(shared, found, asked), overview.plan.preset)
            results[name].append(OBJECTIVES[given.objective](config))
            print(f"{given.level}, seed {seed}, {name}: {results[name][-1]:g}", flush=True)
    columns = f"median | range | seeds {seeds[0]} to {seeds[-1]}"
    print(f"| {given.level}, {given.objective} | {columns} |")
    print("|---|---|---|---|")
    for name, values in results.items():
        print(line(name, values, given.objective))
    if given.json is not None:
        found_options = configurations(overview)
        given.json.write_text(json.dumps({"options": found_options, "results": results}) + "\n")


if __name__ == "__main__":
    main()
