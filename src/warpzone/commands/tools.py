"""`warpzone tools`: mending what older versions left."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro


@dataclass(frozen=True)
class Tools:
    """Mend step counts in side-cars of old checkpoints.

    A count that is lower than updates x games x steps of a rollout is raised to that; one that is
    higher stays. The old side-car is kept as .json.bak, and the new one says what was done. Doing
    it again changes nothing. Checkpoints of a run whose games or rollout changed on the way cannot
    be counted so: look at --dry-run first.

    For example:
      warpzone tools backfill runs --dry-run
      warpzone tools backfill runs/mario-1-1
    """

    what: tyro.conf.Positional[Literal["backfill"]]
    """What to mend: the step counts."""
    runs: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUNS")]
    """A folder of runs, or one run."""
    dry_run: bool = False
    """Only say what would be done."""

    def run(self) -> int:
        """Mends and prints what was found."""
        from collections import Counter

        from warpzone.runs.backfill import backfill

        findings = backfill(self.runs, self.dry_run)
        verb = "would become" if self.dry_run else "became"
        for finding in findings:
            if finding.outcome == "mended":
                print(f"{finding.path}: {finding.before} {verb} {finding.after}")
            elif finding.outcome == "unknown":
                print(f"{finding.path}: left alone, {finding.note}")
        counts = Counter(finding.outcome for finding in findings)
        mended = "to mend" if self.dry_run else "mended"
        print(
            f"{counts['mended']} {mended}, {counts['right']} right, {counts['higher']} higher than "
            f"expected and left alone, {counts['unknown']} unknown"
        )
        return 0
