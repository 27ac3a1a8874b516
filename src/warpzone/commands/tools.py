"""`warpzone tools`: repairs files written by earlier versions."""

from __future__ import annotations

from dataclasses import MISSING, dataclass
from pathlib import Path

from warpzone.config.option import option, positional


@dataclass(frozen=True)
class Backfill:
    """Correct step counts in the sidecars of old checkpoints.

    A count below updates x environments x rollout steps is raised to that product; a higher count
    is kept. The old sidecar is kept as .json.bak, and the new one records the change. Running the
    command again changes nothing. It cannot correct runs whose number of environments or rollout
    steps changed along the way: check with --dry-run first.

    Examples:
      warpzone tools backfill runs --dry-run
      warpzone tools backfill runs/mario-1-1
    """

    runs: Path = positional(MISSING, "Folder of runs, or one run.", metavar="RUNS")
    dry_run: bool = option(False, "Only print the changes; write nothing.")

    def run(self) -> int:
        """Corrects the counts and prints the findings."""
        from collections import Counter

        from warpzone.runs.backfill import backfill

        findings = backfill(self.runs, self.dry_run)
        verb = "would become" if self.dry_run else "became"
        for finding in findings:
            if finding.outcome == "corrected":
                print(f"{finding.path}: {finding.before} {verb} {finding.after}")
            elif finding.outcome == "unknown":
                print(f"{finding.path}: unchanged, {finding.note}")
        counts = Counter(finding.outcome for finding in findings)
        corrected = "to correct" if self.dry_run else "corrected"
        print(
            f"{counts['corrected']} {corrected}, {counts['correct']} correct, "
            f"{counts['higher']} higher than expected and kept, {counts['unknown']} unknown"
        )
        return 0
