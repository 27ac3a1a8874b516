"""Evaluating a run, and writing down what came out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from warpzone.errors import ConfigError
from warpzone.evaluate.evaluation import Evaluation, evaluate
from warpzone.evaluate.trained import load_policy
from warpzone.train.atomic_file import write_text_atomically
from warpzone.train.run_directory import run_of


def evaluate_run(
    target: Path,
    *,
    level: str | None,
    episodes: int,
    seed: int,
    greedy: bool,
    **env_options: Any,
) -> tuple[dict[str, Any], Path]:
    """Plays episodes of each level with a run's policy.

    Returns:
        Results as plain data, and the run's folder.
    """
    if episodes < 1:
        raise ConfigError(f"episodes is {episodes}; it must be at least 1")
    trained = load_policy(target)
    levels = (level or trained.config.env.level).split(",")
    results: list[Evaluation] = []
    for name in levels:
        results.append(
            evaluate(
                trained.player(episodes, seed, greedy),
                name.strip(),
                episodes=episodes,
                seed=seed,
                **(trained.env_options() | env_options),
            )
        )
    run = run_of(target).path
    return {
        "run": str(run),
        "checkpoint": trained.path.name,
        "greedy": greedy,
        "seed": seed,
        **env_options,
        "levels": [result.summary() for result in results],
    }, run


def write_results(results: dict[str, Any], name: Path) -> str:
    """Writes NAME.json and NAME.md and returns the latter's text."""
    way = "most likely action" if results["greedy"] else "drawn actions"
    lines = [
        f"{results['checkpoint']}, {way}, sticky {results['sticky_prob']} a frame, "
        f"up to {results['noop_max']} idle frames, seeds from {results['seed']}",
        "",
        "| level | clear rate | 95 % interval | episodes | mean progress | ends |",
        "|---|---|---|---|---|---|",
    ]
    for row in results["levels"]:
        ends = ", ".join(f"{end} {count}" for end, count in row["ends"].items())
        lines.append(
            f"| {row['level']} | {row['clear_rate']:.0%} | {row['interval_low']:.0%}-"
            f"{row['interval_high']:.0%} | {row['episodes']} | {row['progress_mean']:,.0f} px "
            f"| {ends} |"
        )
    table = "\n".join(lines) + "\n"
    write_text_atomically(name.with_suffix(".json"), json.dumps(results, indent=2) + "\n")
    write_text_atomically(name.with_suffix(".md"), table)
    return table
