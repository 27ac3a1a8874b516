"""The results of an evaluation as files: JSON for programs, Markdown for people."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from warpzone.errors import ConfigError
from warpzone.evaluation.game_results import game_table
from warpzone.evaluation.losses import loss_table
from warpzone.evaluation.wilson import wilson
from warpzone.system.atomic_file import check_writable, write_text_atomically
from warpzone.system.os_errors import describe_os_error


def check_result_files(name: Path) -> None:
    """Checks that NAME.json and NAME.md can be written.

    Raises:
        ConfigError: They cannot.
    """
    for path in _files(name):
        try:
            check_writable(path)
        except OSError as error:
            raise ConfigError(
                f"the results could not be written: {describe_os_error(error)}"
            ) from error


def _files(name: Path) -> tuple[Path, Path]:
    if not name.name:
        raise ConfigError(f"{str(name)!r} cannot name the results; give a name such as 'results'")
    return name.with_name(f"{name.name}.json"), name.with_name(f"{name.name}.md")


def write_results(results: dict[str, Any], name: Path) -> None:
    """Writes NAME.json and NAME.md."""
    data, page = _files(name)
    write_text_atomically(data, json.dumps(results, indent=2) + "\n")
    write_text_atomically(page, results_table(results))


def results_table(results: dict[str, Any]) -> str:
    """The results as Markdown."""
    choice = "most likely action" if results["greedy"] else "sampled actions"
    if results["eval_temperature"] is not None:
        choice += f" (temperature {results['eval_temperature']:g})"
    lines = [
        f"{results['checkpoint']}, {choice}, sticky actions {results['sticky_prob']} per "
        f"{results['sticky']}, up to {results['noop_max']} no-op frames, seeds from "
        f"{results['seed']}",
        "",
    ]
    if "game" in results:
        return "\n".join([*lines, *game_table(results["game"])]) + "\n"
    held_out = [row for row in results["levels"] if row["held_out"]]
    trained = [row for row in results["levels"] if not row["held_out"]]
    if held_out and trained:
        lines += ["Levels that it was trained on:", "", *_table(trained), ""]
        lines += ["Held-out levels:", "", *_table(held_out)]
    else:
        lines += ["Held-out levels:", ""] if held_out else []
        lines += _table(results["levels"])
    losses = [loss for row in results["levels"] for loss in row["losses"]]
    if losses:
        losses.sort(key=lambda loss: -loss["count"])
        lines += ["", *loss_table(losses, "episodes")]
    return "\n".join(lines) + "\n"


def _table(rows: list[dict[str, Any]]) -> list[str]:
    """Markdown: one line per level, and one for all of them where there are several."""
    lines = [
        "| level | clear rate | 95 % interval | episodes | levels cleared (mean, max) | deaths "
        "| mean progress | ends |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        ends = ", ".join(f"{end} {count}" for end, count in row["ends"].items())
        lines.append(
            f"| {row['level']} | {row['clear_rate']:.0%} | {row['interval_low']:.0%}-"
            f"{row['interval_high']:.0%} | {row['episodes']} | {row['levels_cleared_mean']:.2f}, "
            f"{row['levels_cleared_max']} | {row['deaths']} | {row['progress_mean']:,.0f} px "
            f"| {ends} |"
        )
    if len(rows) > 1:
        clears = sum(row["clears"] for row in rows)
        episodes = sum(row["episodes"] for row in rows)
        low, high = wilson(clears, episodes)
        lines.append(
            f"| all {len(rows)} | {clears / episodes:.0%} | {low:.0%}-{high:.0%} | {episodes} "
            "| | | | |"
        )
    return lines
