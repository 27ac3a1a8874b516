"""Measures a policy file for the scoreboard, reproducibly."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from warpzone.campaign.protocols import MAIN, PROTOCOLS, Protocol, row_seed
from warpzone.campaign.scoreboard import Measuring, Result, Row
from warpzone.evaluation.evaluation import Progress, envs_for, evaluate
from warpzone.evaluation.policy_file import read_policy_file
from warpzone.evaluation.trained import TrainedPolicy, load_policy
from warpzone.models.arithmetic import one_thread

Report = Callable[[str], None]
"""Shows a line about what is being done."""


def measure_policy(
    folder: Path,
    path: Path,
    measuring: Measuring,
    known: Mapping[str, Mapping[str, Result]] | None = None,
    report: Report | None = None,
) -> list[Row]:
    """Plays every level of a policy under every protocol.

    Args:
        folder: The scoreboard's folder.
        path: The policy file, somewhere below the folder.
        measuring: Number of episodes.
        known: Results by level and protocol that this file already has; they are not measured
            again.
        report: Called with what is being done.

    Returns:
        One row per level.

    Raises:
        CheckpointError: The file is damaged, or not a policy.
    """
    file = read_policy_file(path)
    facts = file.facts
    trained = load_policy(path)
    rows = []
    for level in facts.levels:
        results = dict((known or {}).get(level, {}))
        for protocol in PROTOCOLS:
            if protocol.name in results:
                continue
            episodes = measuring.episodes_of(protocol)
            if report is not None:
                report(f"{level}: {episodes} episodes with {protocol.description}")
            seed = row_seed(file.sha256, level, protocol)
            results[protocol.name] = measure(trained, level, episodes, seed, protocol)
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
                measured=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
                results=results,
            )
        )
    return rows


def measure(
    trained: TrainedPolicy,
    level: str,
    episodes: int,
    seed: int,
    protocol: Protocol = MAIN,
    *,
    progress: Progress | None = None,
) -> Result:
    """Plays a level under one protocol; the same arguments give the same result.

    Args:
        trained: The policy.
        level: Level to play.
        episodes: Number of episodes.
        seed: Seed of the first episode and of the sampled actions.
        protocol: Noise, and how actions are chosen.
        progress: Called after each step.
    """
    with one_thread():
        played = evaluate(
            trained.player(envs_for(episodes), seed, protocol.greedy),
            level,
            episodes=episodes,
            seed=seed,
            wrap=trained.wrap,
            progress=progress,
            **(trained.env_options() | dict(protocol.env)),
        )
    summary = played.summary()
    return Result(
        summary["episodes"],
        summary["clears"],
        round(summary["progress_mean"], 1),
        summary["ends"],
    )
