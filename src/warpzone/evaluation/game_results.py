"""The results of whole games as a page."""

from __future__ import annotations

from collections import Counter
from typing import Any

from warpzone.evaluation.losses import loss_table


def game_table(game: dict[str, Any]) -> list[str]:
    """Markdown lines about evaluated games, from `GameEvaluation.summary`."""
    seconds = game["game_seconds_of_wins"]
    length = f"{game['game_seconds']:,.0f} s"
    if seconds is not None:
        length += f" (won games {seconds:,.0f} s)"
    ends = ", ".join(f"{end} {count}" for end, count in game["ends"].items())
    return [
        "| princess rescued | 95 % interval | games | levels cleared (mean, max) | warps "
        "| game time | ends |",
        "|---|---|---|---|---|---|---|",
        f"| {game['win_rate']:.0%} | {game['interval_low']:.0%}-{game['interval_high']:.0%} "
        f"| {game['games']} | {game['levels_cleared_mean']:.2f}, {game['levels_cleared_max']} "
        f"| {'allowed' if game['warps_allowed'] else 'not allowed'} | {length} | {ends} |",
        "",
        *_levels(game),
        "",
        *(loss_table(game["deaths"], "lives") if game["deaths"] else ["No life was lost."]),
    ]


def _levels(game: dict[str, Any]) -> list[str]:
    """How many games entered each level, and how many lives were lost there."""
    lives: Counter[str] = Counter()
    for death in game["deaths"]:
        lives[death["level"]] += death["count"]
    lines = ["| level | games that reached it | lives lost |", "|---|---|---|"]
    return lines + [f"| {at} | {count} | {lives[at]} |" for at, count in game["reached"].items()]
