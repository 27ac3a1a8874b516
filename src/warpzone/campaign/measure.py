"""Measures a policy file for the scoreboard, reproducibly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from warpzone.campaign.scoreboard import CONDITIONS, Measuring, Result, Row
from warpzone.errors import CheckpointError
from warpzone.evaluation.evaluation import Evaluation, evaluate
from warpzone.evaluation.policy_file import read_policy_file
from warpzone.evaluation.trained import TrainedPolicy, load_policy
from warpzone.models.arithmetic import one_thread

Report = Callable[[str], None]
"""Shows a line about what is being done."""


def measure_policy(
    folder: Path,
    path: Path,
    measuring: Measuring,
    levels: Sequence[str] | None = None,
    report: Report | None = None,
) -> list[Row]:
    """Plays every level of a policy under every condition.

    Args:
        folder: The scoreboard's folder.
        path: The policy file, somewhere below the folder.
        measuring: How many episodes, and which.
        levels: Some of the policy's levels; all by default.
        report: Called with what is being done.

    Returns:
        One row per level.

    Raises:
        CheckpointError: The policy was not trained on a level, or its file is damaged.
    """
    file = read_policy_file(path)
    facts = file.facts
    for level in levels or ():
        if level not in facts.levels:
            raise CheckpointError(f"{path} was not trained on {level}")
    trained = load_policy(path)
    rows = []
    for level in levels or facts.levels:
        results = {}
        for condition in CONDITIONS:
            if report is not None:
                report(f"{level}: {measuring.episodes} episodes, {condition}")
            results[condition] = measure(trained, level, measuring, condition)
        rows.append(
            Row(
                level=level,
                policy=path.relative_to(folder).as_posix(),
                sha256=file.sha256,
                steps=facts.steps,
                minutes=facts.minutes,
                seed=facts.seed,
                commit=facts.commit,
                checkpoint_sha256=facts.checkpoint_sha256,
                results=results,
            )
        )
    return rows


def measure(
    trained: TrainedPolicy, level: str, measuring: Measuring, condition: str = CONDITIONS[0]
) -> Result:
    """Plays a level under one condition."""
    with one_thread():
        played = evaluate(
            trained.player(measuring.episodes, measuring.seed, condition == "greedy"),
            level,
            episodes=measuring.episodes,
            seed=measuring.seed,
            sticky_prob=0.0 if condition == "steady" else measuring.sticky_prob,
            noop_max=measuring.noop_max,
            wrap=trained.wrap,
            **trained.env_options(),
        )
    return _result(played)


def _result(played: Evaluation) -> Result:
    summary = played.summary()
    return Result(
        summary["episodes"],
        summary["clears"],
        round(summary["progress_mean"], 1),
        summary["ends"],
    )
