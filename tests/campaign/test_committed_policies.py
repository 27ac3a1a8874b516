"""The policies of this repository: files and scoreboard agree, and they still play as they did.

Changes of the core, of the observations or of the network that would spoil trained policies show
here. `warpzone scoreboard policies/ --verify` plays all of them, under all conditions.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from warpzone.campaign.measure import measure
from warpzone.campaign.scoreboard import Row, read_board
from warpzone.evaluation.policy_file import SUFFIX, read_policy_file
from warpzone.evaluation.trained import load_policy

POLICIES = Path(__file__).resolve().parents[2] / "policies"
BOARD = read_board(POLICIES)
MEGABYTE = 1 << 20


def test_every_policy_has_its_row_and_every_row_its_policy() -> None:
    named = {row.policy for row in BOARD.rows.values()}
    assert named == {path.name for path in POLICIES.glob(f"*{SUFFIX}")}
    for row in BOARD.rows.values():
        assert read_policy_file(POLICIES / row.policy).sha256 == row.sha256


def test_no_level_at_the_goal_is_lost_and_all_take_little_room() -> None:
    assert len(BOARD.reached) >= 19
    assert sum(path.stat().st_size for path in POLICIES.iterdir()) < 10 * MEGABYTE


@pytest.mark.parametrize("level", ["1-1", "1-4", "3-3"])
def test_a_frozen_policy_keeps_its_score(rom_path: Path, level: str) -> None:
    row: Row = BOARD.rows[level]
    result = measure(load_policy(POLICIES / row.policy), level, BOARD.measuring)
    # The same episodes; another processor may round otherwise and choose another action.
    assert result.clear_rate >= row.score.interval.low
