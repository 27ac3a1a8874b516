"""Writes docs/metrics.md from the list of metrics and the fields of an episode."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from warpzone.telemetry.episodes import EPISODE_FIELDS
from warpzone.telemetry.metrics import END_REASONS, GROUPS, Metric

_INTRODUCTION = """# Metrics

<!-- Made by `python -m warpzone.telemetry.metrics_page docs/metrics.md`; a test compares. -->

A run directory holds two files of JSON lines that need none of our code:

- `metrics.jsonl`: one object a line, one line an interval, `group/name` to number. A name that was
  not measured is absent; a value that was not finite is `null`, and `telemetry/not_finite` counts
  them. Whole files are `metrics-0001.jsonl.gz` and so on, oldest first, then `metrics.jsonl`.
- `episodes.jsonl`: one object a line, one line an episode, rotated in the same way.

A run that was killed and resumed from an earlier checkpoint does some steps again: its rows, with a
higher `run/starts`, replace earlier ones with the same or more steps. `metrics.parquet` and
`warpzone.telemetry.jsonl.read_rows` have that done already.

```
jq -r '[."run/steps", ."rollout/clear_rate"] | @tsv' runs/mario-1-1/metrics.jsonl
```
"""


def _table(metrics: Sequence[Metric]) -> str:
    rows = [
        f"| `{metric.name}{'/…' if metric.labelled else ''}` | {metric.unit} | {metric.help} |"
        for metric in metrics
    ]
    return "\n".join(["| name | unit | meaning |", "|---|---|---|", *rows])


def render() -> str:
    """Returns the whole page."""
    parts = [_INTRODUCTION]
    parts += [f"## {title}\n\n{_table(metrics)}\n" for title, metrics in GROUPS.items()]
    fields = [f"| `{name}` | {text} |" for name, text in EPISODE_FIELDS.items()]
    parts.append(
        "\n".join(["## Fields of `episodes.jsonl`\n", "| name | meaning |", "|---|---|", *fields])
        + "\n"
    )
    reasons = [f"| `{name}` | {text} |" for name, text in END_REASONS.items()]
    parts.append("\n".join(["| `end` | meaning |", "|---|---|", *reasons]) + "\n")
    return "\n".join(parts)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(render(), encoding="utf-8")
