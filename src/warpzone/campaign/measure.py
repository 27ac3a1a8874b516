"""Measures a policy on one level, reproducibly."""

from __future__ import annotations

from warpzone.campaign.protocols import MAIN, Protocol
from warpzone.campaign.scoreboard import Result
from warpzone.evaluation.evaluation import Progress, envs_for, evaluate
from warpzone.evaluation.trained import TrainedPolicy
from warpzone.models.arithmetic import one_thread


def measure(
    trained: TrainedPolicy,
    level: str,
    episodes: int,
    seed: int,
    protocol: Protocol = MAIN,
    *,
    progress: Progress | None = None,
    num_threads: int | None = None,
) -> Result:
    """Plays a level under one protocol; the same arguments give the same result.

    Args:
        trained: The policy.
        level: Level to play.
        episodes: Number of episodes.
        seed: Seed of the first episode and of the sampled actions.
        protocol: Noise, and how actions are chosen.
        progress: Called after each step.
        num_threads: Threads of the environments; one per core by default.
    """
    with one_thread():
        played = evaluate(
            trained.player(envs_for(episodes), seed, protocol.greedy),
            level,
            episodes=episodes,
            seed=seed,
            wrap=trained.wrap,
            progress=progress,
            num_threads=num_threads,
            **(trained.env_options() | dict(protocol.env)),
        )
    summary = played.summary()
    return Result(
        summary["episodes"],
        summary["clears"],
        round(summary["progress_mean"], 1),
        summary["ends"],
    )
