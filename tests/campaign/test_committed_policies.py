"""The policies of this repository: files and scoreboard agree, and they still play as they did.

Changes of the core, of the observations or of the network that would spoil trained policies show
here. `warpzone scoreboard policies/ --verify` repeats every row, with all protocols.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from warpzone.campaign.board_json import read_board
from warpzone.campaign.measure import measure
from warpzone.campaign.protocols import MAIN, row_seed
from warpzone.campaign.scoreboard import Row
from warpzone.evaluation.policy_file import SUFFIX, read_policy_file
from warpzone.evaluation.trained import load_policy

POLICIES = Path(__file__).resolve().parents[2] / "policies"
BOARD = read_board(POLICIES)
MEGABYTE = 1 << 20
AT_THE_GOAL = 12
EPISODES = 100


def test_every_policy_has_its_row_and_every_row_its_policy() -> None:
    named = {row.policy for row in BOARD.rows.values()}
    assert named == {path.name for path in POLICIES.glob(f"*{SUFFIX}")}
    for row in BOARD.rows.values():
        assert read_policy_file(POLICIES / row.policy).sha256 == row.sha256


def test_no_level_at_the_goal_is_lost_and_all_take_little_room() -> None:
    assert len(BOARD.reached) >= AT_THE_GOAL
    assert sum(path.stat().st_size for path in POLICIES.iterdir()) < 10 * MEGABYTE


@pytest.mark.parametrize("level", ["1-1", "1-4", "3-3"])
def test_a_frozen_policy_keeps_its_score(rom_path: Path, level: str) -> None:
    row: Row = BOARD.rows[level]
    seed = row_seed(row.sha256, level, MAIN)
    result = measure(load_policy(POLICIES / row.policy), level, EPISODES, seed)
    # Another processor may round otherwise and choose another action.
    assert result.interval.high >= row.score.interval.low


def test_every_row_is_measured_by_the_rule_and_kept_in_the_history() -> None:
    history = {(row.sha256, row.level): row.results for row in BOARD.history}
    for row in BOARD.rows.values():
        assert row.score.episodes == 400
        assert history[row.sha256, row.level] == row.results


@pytest.mark.parametrize("path", sorted(POLICIES.glob(f"*{SUFFIX}")), ids=lambda path: path.stem)
def test_a_policy_file_has_no_paths_of_the_machine_that_trained_it(path: Path) -> None:
    header = path.read_bytes().split(b"\n", 2)[1]
    assert b'"/' not in header
