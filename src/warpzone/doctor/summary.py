"""Summarizing trials: how many succeeded, and how long each stage took."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from warpzone.errors import ConfigError
from warpzone.system.json_file import entry, parse_json, read_bytes

Row = dict[str, Any]
_STAGES = ("build", "reset", "close", "total")
_MAX_BYTES = 64 * 1024**2
_QUANTILES = (("p50", 0.5), ("p90", 0.9), ("max", 1.0))


def read_trials(path: Path) -> list[Row]:
    """Reads the trials that `run_trials` wrote to a file.

    Raises:
        ConfigError: If the file cannot be read or does not contain trials.
    """
    try:
        lines = read_bytes(path, _MAX_BYTES).splitlines()
        return [_trial(parse_json(line)) for line in lines if line.strip()]
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be read ({error.strerror}); create it with `warpzone doctor env`"
        ) from error
    except ValueError as error:
        raise ConfigError(
            f"{path} does not contain trials of `warpzone doctor env`: {error}"
        ) from error


def _trial(row: Any) -> Row:
    """Validates the fields that the summary needs; a failed trial has no times."""
    trial: Row = {
        "mode": entry(row, "mode", str),
        "backend": entry(row, "backend", str),
        "num_envs": entry(row, "num_envs", int),
        "ok": entry(row, "ok", bool),
        "trial": row.get("trial", "?"),
        "error": row.get("error"),
        "diagnostics": row.get("diagnostics"),
    }
    if trial["ok"]:
        seconds = entry(row, "seconds", dict)
        trial["total"] = entry(row, "total", float)
        trial["seconds"] = {stage: entry(seconds, stage, float) for stage in _STAGES[:-1]}
    return trial


def quantile(values: Sequence[float], q: float) -> float:
    """Returns the smallest value that is at least as large as a fraction `q` of all values."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * round(q * 100) // 100) - 1)]


def summary(rows: Iterable[Row]) -> list[str]:
    """Returns the lines of a summary; the last one has the form `100 of 100`."""
    rows = list(rows)
    lines = []
    for setup in dict.fromkeys(map(_setup, rows)):
        group = [row for row in rows if _setup(row) == setup]
        succeeded = [row for row in group if row["ok"]]
        lines.append(f"{setup}: {len(succeeded)} of {len(group)} succeeded")
        if succeeded:
            lines += [_quantiles(stage, succeeded) for stage in _STAGES]
        for row in group:
            if not row["ok"]:
                lines.append(f"  trial {row.get('trial', '?')}: {row['error']}")
                lines.append(f"    diagnostics: {row['diagnostics']}")
    lines.append(f"{sum(bool(row['ok']) for row in rows)} of {len(rows)}")
    return lines


def _setup(row: Row) -> str:
    return f"{row['mode']}, {row['backend']}, {row['num_envs']} envs"


def _quantiles(stage: str, rows: list[Row]) -> str:
    seconds = [row["total"] if stage == "total" else row["seconds"][stage] for row in rows]
    parts = [f"{name} {quantile(seconds, q):7.2f} s" for name, q in _QUANTILES]
    return f"  {stage:6} " + "  ".join(parts)
