"""`warpzone tools`: repairing files that earlier versions wrote."""

from __future__ import annotations

from dataclasses import MISSING, dataclass
from pathlib import Path

from warpzone.config.option import option, positional


@dataclass(frozen=True)
class Backfill:
    """Correct step counts in the side-cars of old checkpoints.

    A count that is lower than updates x environments x rollout steps is raised to that; a higher
    one stays. The old side-car is kept as .json.bak, and the new one records the change. Running it
    again changes nothing. Checkpoints of a run whose environments or rollout changed on the way
    cannot be counted like this: look at --dry-run first.

    Examples:
      warpzone tools backfill runs --dry-run
      warpzone tools backfill runs/mario-1-1
    """

    runs: Path = positional(MISSING, "Folder of runs, or one run.", metavar="RUNS")
    dry_run: bool = option(False, "Only print what would be done.")

    def run(self) -> int:
        """Corrects the counts and prints what was found."""
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
