"""Corrects step counts in sidecars of checkpoints that older versions wrote.

Some counted the steps of a single environment, or restarted at a resume. The correct count is
updates x environments x steps of a rollout.
"""

from __future__ import annotations

import json
import logging
import math
import shutil
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from warpzone import __version__
from warpzone.errors import CheckpointError, RunError
from warpzone.runs import checkpoint
from warpzone.system.atomic_file import write_text_atomically
from warpzone.system.json_file import read_json

_log = logging.getLogger(__name__)

AUDIT = "backfill"
Outcome = Literal["corrected", "correct", "higher", "unknown"]


@dataclass(frozen=True)
class Finding:
    """The finding about one checkpoint.

    Attributes:
        path: Its sidecar.
        outcome: corrected (or would be), already correct, higher than expected (left alone), or
            unknown, if not even the checkpoint has the necessary values.
        before: Steps in the sidecar; None if it has none.
        after: Steps in the sidecar afterwards.
        note: Why it is unknown.
    """

    path: Path
    outcome: Outcome
    before: int | None = None
    after: int | None = None
    note: str = ""


def backfill(runs: Path, dry_run: bool = False) -> list[Finding]:
    """Checks every checkpoint below a folder and corrects step counts that are too low.

    A sidecar is replaced in one step, with the old one beside it as `.json.bak` (the first of
    them stays) and an audit entry in it. Repeating it changes nothing.

    Args:
        runs: A folder of runs, a run, or its folder of checkpoints.
        dry_run: Only report what would be done.

    Raises:
        RunError: The folder does not exist, or a sidecar cannot be written.
    """
    if not runs.is_dir():
        raise RunError(f"{runs} is not a folder; give a run, or a folder of runs")
    findings = []
    for path in _checkpoints(runs):
        finding = _look(path)
        if finding.outcome == "corrected" and not dry_run:
            _mend(finding)
        findings.append(finding)
    return findings


def _checkpoints(runs: Path) -> Iterator[Path]:
    for path in sorted(runs.rglob(f"*{checkpoint.SUFFIX}")):
        if not path.name.startswith("."):
            yield path


def _look(path: Path) -> Finding:
    sidecar = path.with_suffix(".json")
    try:
        row = _read(sidecar)
        expected = _expected(row) or _expected_by_checkpoint(path)
    except CheckpointError as error:
        return Finding(sidecar, "unknown", note=str(error))
    before = row.get("steps") if isinstance(row.get("steps"), int) else None
    if before is None or before < expected:
        return Finding(sidecar, "corrected", before, expected)
    return Finding(sidecar, "correct" if before == expected else "higher", before, before)


def _read(sidecar: Path) -> dict[str, Any]:
    try:
        row = read_json(sidecar)
    except FileNotFoundError as error:
        raise CheckpointError(
            "the sidecar is missing; loading the checkpoint writes it again"
        ) from error
    except (OSError, ValueError) as error:
        raise CheckpointError(f"the sidecar cannot be read: {error}") from error
    if not isinstance(row, dict):
        raise CheckpointError("the sidecar is not a table")
    return row


def _expected(row: Mapping[str, Any]) -> int | None:
    """Updates x environments x steps of a rollout; None unless all three are known."""
    config = row.get("config")
    if not isinstance(config, Mapping):
        return None
    parts = [
        row.get("updates"),
        _option(config, "env", "num_envs"),
        _option(config, "learn", "rollout_steps"),
    ]
    if not all(isinstance(part, int) and not isinstance(part, bool) for part in parts):
        return None
    return math.prod(int(part) for part in parts if part is not None)


def _option(config: Mapping[str, Any], table: str, name: str) -> Any:
    options = config.get(table)
    return options.get(name) if isinstance(options, Mapping) else None


def _expected_by_checkpoint(path: Path) -> int:
    meta = checkpoint.read_embedded_meta(path)
    expected = _expected({"updates": meta.updates, "config": meta.config})
    if expected is None:
        raise CheckpointError("neither sidecar nor checkpoint has updates, environments and steps")
    return expected


def _mend(finding: Finding) -> None:
    sidecar = finding.path
    backup = sidecar.with_name(sidecar.name + ".bak")
    try:
        if not backup.exists():
            shutil.copy2(sidecar, backup)
        row = _read(sidecar)
        row["steps"] = finding.after
        row[AUDIT] = {
            "steps_before": finding.before,
            "rule": "updates x env.num_envs x learn.rollout_steps",
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "warpzone": __version__,
        }
        write_text_atomically(sidecar, json.dumps(row, indent=2) + "\n")
    except OSError as error:
        raise RunError(f"{sidecar} cannot be corrected ({error.strerror or error})") from error
    _log.info("%s: steps %s -> %s", sidecar, finding.before, finding.after)
