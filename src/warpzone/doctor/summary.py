"""What many trials tell: how many worked, and how long each stage took."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from warpzone.errors import ConfigError

Row = dict[str, Any]
_STAGES = ("build", "reset", "close", "total")
_SHARES = (("p50", 0.5), ("p90", 0.9), ("max", 1.0))


def read_trials(path: Path) -> list[Row]:
    """The lines of a file of trials.

    Raises:
        ConfigError: When there is none, or it holds something else.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be read ({error.strerror}); `warpzone doctor env` writes it"
        ) from error
    try:
        rows = [json.loads(line) for line in lines if line.strip()]
        if not all({"mode", "backend", "num_envs", "ok", "seconds"} <= row.keys() for row in rows):
            raise ConfigError(f"{path} holds something else than trials")
    except (json.JSONDecodeError, AttributeError) as error:
        raise ConfigError(f"{path} holds something else than trials") from error
    return rows


def quantile(values: Sequence[float], share: float) -> float:
    """The smallest value that is at least as large as that share of all."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * round(share * 100) // 100) - 1)]


def summary(rows: Iterable[Row]) -> list[str]:
    """Lines to print; the last one reads like `100 of 100`."""
    rows = list(rows)
    lines = []
    for key in dict.fromkeys(map(_kind, rows)):
        group = [row for row in rows if _kind(row) == key]
        worked = [row for row in group if row["ok"]]
        lines.append(f"{key}: {len(worked)} of {len(group)} worked")
        if worked:
            lines += [_quantiles(stage, worked) for stage in _STAGES]
        for row in group:
            if not row["ok"]:
                lines.append(f"  trial {row.get('trial', '?')}: {row['error']}")
                lines.append(f"    diagnostics: {row['diagnostics']}")
    lines.append(f"{sum(bool(row['ok']) for row in rows)} of {len(rows)}")
    return lines


def _kind(row: Row) -> str:
    return f"{row['mode']}, {row['backend']}, {row['num_envs']} envs"


def _quantiles(stage: str, rows: list[Row]) -> str:
    seconds = [row["total"] if stage == "total" else row["seconds"][stage] for row in rows]
    parts = [f"{name} {quantile(seconds, share):7.2f} s" for name, share in _SHARES]
    return f"  {stage:6} " + "  ".join(parts)
