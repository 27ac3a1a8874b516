"""Rows of a policy file: every level of the policy under every protocol."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from warpzone.campaign.measurer import Measurer, Wanted
from warpzone.campaign.protocols import PROTOCOLS
from warpzone.campaign.scoreboard import Measuring, Result, Row
from warpzone.evaluation.policy_file import read_policy_file


def measure_policy(
    folder: Path,
    path: Path,
    measuring: Measuring,
    known: Mapping[str, Mapping[str, Result]],
    measurer: Measurer,
) -> list[Row]:
    """Plays every level of a policy under every protocol.

    Args:
        folder: The scoreboard's folder.
        path: The policy file, somewhere below the folder.
        measuring: Number of episodes.
        known: Results by level and protocol that this file already has; they are not measured
            again.
        measurer: Plays the episodes.

    Returns:
        One row per level.

    Raises:
        CheckpointError: The file is damaged, or not a policy.
    """
    file = read_policy_file(path)
    facts = file.facts
    wanted = [
        Wanted(path, file.sha256, level, protocol, measuring.episodes_of(protocol))
        for level in facts.levels
        for protocol in PROTOCOLS
        if protocol.name not in known.get(level, {})
    ]
    results = {level: dict(known.get(level, {})) for level in facts.levels}
    for one, result in zip(wanted, measurer.play(wanted), strict=True):
        results[one.level][one.protocol.name] = result
    return [
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
            results=results[level],
        )
        for level in facts.levels
    ]
