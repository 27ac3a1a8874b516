"""Measures how long training from scratch takes until the policy clears a level.

Trains with each seed and prints the steps and minutes until the first clear and until a clear rate
of 90 % with sticky actions (0.25 per frame) and up to 30 no-op frames. A pass counts only if it is
confirmed by 400 more episodes with different seeds. Evaluation time is not counted.

    python benchmarks/time_to_clear.py --level 1-1 --preset cpu-quick --obs tiles --seeds 5
    python benchmarks/time_to_clear.py --level 1-3 --obs tiles --set 'env.actions="simple"'
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # As the `warpzone` command does.

import argparse
import json
import statistics
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from warpzone.bench.machine import machine_info
from warpzone.config import PRESET_NAMES, TrainConfig, from_keywords, from_toml, merged, resolve
from warpzone.config.resolve import DEFAULT_PRESET
from warpzone.evaluation.choosing import Chooser
from warpzone.evaluation.evaluation import evaluate
from warpzone.evaluation.native_network import NativeNetwork, has_native_copy
from warpzone.evaluation.trained import Player, policy_spaces
from warpzone.training.trainer import Trainer

EPISODES, CONFIRMING_EPISODES = 100, 400
FIRST_EVALUATION_SEED, CONFIRMATION_SEED = 1_000_000, 2_000_000
LOG_EVERY = 100_000  # Steps between two progress lines.
# Evaluations start this far below the goal: with averaged weights and a lower temperature, the
# policy clears more often than in training.
EVALUATION_MARGIN = 0.3
EVALUATE_EVERY = 25_000  # Steps between two evaluations.


@dataclass
class Result:
    """The result of one seed; None where a milestone was not reached."""

    seed: int
    first_clear_steps: int | None = None
    first_clear_minutes: float | None = None
    goal_steps: int | None = None
    goal_minutes: float | None = None
    confirmed: float | None = None
    steps: int = 0
    minutes: float = 0.0
    steps_per_second: float = 0.0
    other_share: float = 0.0


def clear_rate(trainer: Trainer, config: TrainConfig, seed: int, episodes: int) -> float:
    """Evaluates the averaged policy from the start of the level."""
    model = trainer.average.model
    native = None
    if has_native_copy(model):
        native = NativeNetwork(model, policy_spaces(config)[0])
    chooser = Chooser(model, native)
    player = Player(chooser, episodes, seed, False, config.model.eval_temperature)
    result = evaluate(
        player,
        config.env.level,
        episodes=episodes,
        seed=seed,
        max_steps=config.env.max_steps,
        **config.env.policy_env_options(),
    )
    return result.clear_rate


def train_once(config: TrainConfig, goal: float, minutes: float) -> Result:
    """Trains until the goal is confirmed, or steps or minutes run out."""
    result = Result(config.run.seed)
    trainer = Trainer(config)
    trainer.begin()
    other, next_evaluation, evaluations = 0.0, 0, 0
    batch = config.env.num_envs * config.learn.rollout_steps
    while trainer.steps < config.run.steps and trainer.elapsed < minutes * 60:
        row = trainer.update()
        other += float(row["speed/other_share"]) / float(row["speed/updates_per_second"])
        if result.first_clear_steps is None and trainer.success > 0:
            result.first_clear_steps = trainer.steps
            result.first_clear_minutes = trainer.elapsed / 60
        if trainer.steps // LOG_EVERY != (trainer.steps - batch) // LOG_EVERY:
            minutes_now, furthest = trainer.elapsed / 60, trainer.statistics.best_progress
            print(
                f"  seed {config.run.seed}: {trainer.steps:,} steps, {minutes_now:.1f} min, "
                f"clear rate {trainer.success:.0%}, furthest {furthest} px",
                flush=True,
            )
        # Evaluate rarely: it takes seconds, and among many evaluations one would pass by luck.
        if trainer.success >= goal - EVALUATION_MARGIN and trainer.steps >= next_evaluation:
            next_evaluation, evaluations = trainer.steps + EVALUATE_EVERY, evaluations + 1
            seeds = 1000 * evaluations
            rate = clear_rate(trainer, config, FIRST_EVALUATION_SEED + seeds, EPISODES)
            print(
                f"  seed {config.run.seed}: {trainer.steps:,} steps, evaluated {rate:.0%}",
                flush=True,
            )
            if rate < goal:
                continue
            rate = clear_rate(trainer, config, CONFIRMATION_SEED + seeds, CONFIRMING_EPISODES)
            print(
                f"  seed {config.run.seed}: {trainer.steps:,} steps, confirmed {rate:.0%}",
                flush=True,
            )
            if rate >= goal:
                result.goal_steps, result.goal_minutes = trainer.steps, trainer.elapsed / 60
                result.confirmed = rate
                break
    result.steps, result.minutes = trainer.steps, trainer.elapsed / 60
    result.steps_per_second = trainer.steps / trainer.elapsed
    result.other_share = other / trainer.elapsed
    trainer.close()
    return result


def table(results: list[Result], title: str) -> str:
    """Returns the results as a Markdown table."""
    lines = [
        title,
        "",
        "| seed | first clear | 90 % | confirmed | steps/s | outside env, network |",
        "|---|---|---|---|---|---|",
    ]

    def at(steps: int | None, minutes: float | None) -> str:
        return "not reached" if steps is None else f"{steps:,} steps, {minutes:.1f} min"

    for r in results:
        confirmed = "-" if r.confirmed is None else f"{r.confirmed:.0%}"
        lines.append(
            f"| {r.seed} | {at(r.first_clear_steps, r.first_clear_minutes)} "
            f"| {at(r.goal_steps, r.goal_minutes)} | {confirmed} | {r.steps_per_second:,.0f} "
            f"| {r.other_share:.1%} |"
        )
    reached = [r.goal_minutes for r in results if r.goal_minutes is not None]
    if len(reached) * 2 > len(results):
        # Seeds that did not reach the goal count as infinitely slow.
        times = reached + [float("inf")] * (len(results) - len(reached))
        lines += [
            "",
            f"median {statistics.median(times):.1f} min, {len(reached)} of {len(results)}",
        ]
    return "\n".join(lines)


def main() -> None:
    """Runs the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--level", default="1-1")
    parser.add_argument("--preset", choices=PRESET_NAMES, default=DEFAULT_PRESET)
    parser.add_argument("--obs", choices=["pixels", "tiles"], default="pixels")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=3_000_000)
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--goal", type=float, default=0.9)
    parser.add_argument("--actions", default="right-only")
    parser.add_argument("--from-solutions", type=Path, metavar="FOLDER")
    parser.add_argument("--algo", choices=["ppo", "vtrace"], default="ppo")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="TABLE.OPTION=VALUE",
        help="an option of `warpzone train`, written as in TOML; can be repeated",
    )
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    asked = {"level": options.level, "obs": options.obs, "actions": options.actions}
    asked |= {"algo": options.algo, "from_solutions": str(options.from_solutions or "")}
    explicit = merged(from_keywords(asked), from_toml("\n".join(options.set), "--set"))
    base = resolve(explicit, options.preset)
    results: list[Result] = []
    began = time.time()
    for seed in range(options.first_seed, options.first_seed + options.seeds):
        config = replace(base, run=replace(base.run, seed=seed, steps=options.steps))
        results.append(train_once(config, options.goal, options.minutes))
        here = machine_info()
        title = (
            f"{options.level}, {options.obs}, {options.algo}, on {here['cores']} cores of "
            f"{here['cpu']}"
        )
        print(table(results, title), flush=True)
    if options.json is not None:
        options.json.write_text(json.dumps([asdict(r) for r in results], indent=2) + "\n")
    print(f"{(time.time() - began) / 60:.1f} min in total")


if __name__ == "__main__":
    main()
