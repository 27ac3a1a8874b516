"""What training reads from infos."""

from __future__ import annotations

from typing import Any

import numpy as np

from warpzone.envs.training_signals import TrainingSignals, can_start_here, place_ids


def info(*progress: int) -> dict[str, Any]:
    return {"progress": np.array(progress, np.int32)}


def ended(*flags: int) -> Any:
    return np.array(flags, np.bool_)


def test_exponents_are_tiles_of_progress_and_never_span_two_episodes() -> None:
    signals = TrainingSignals(2, 0)
    steps = [
        (info(10, 300), ended(0, 0), [0.0, 0.0]),  # Nothing to compare with yet.
        (info(10, 320), ended(0, 1), [0.0, 0.0]),  # The second episode ends here.
        (info(42, 500), ended(0, 0), [2.0, 0.0]),  # The next one begins at a snapshot.
        (info(42, 516), ended(0, 0), [0.0, 1.0]),
    ]
    for told, ends, expected in steps:
        exponents = signals.discount_exponents(told, ends)
        assert exponents.dtype == np.float32
        assert exponents.tolist() == expected


def test_restored_signals_continue_and_a_reset_begins_again() -> None:
    signals = TrainingSignals(2, 0)
    signals.discount_exponents(info(16, 300), ended(0, 1))
    copy = TrainingSignals(2, 0)
    copy.load_state_dict(signals.state_dict())
    for one in (signals, copy):
        assert one.discount_exponents(info(32, 40), ended(0, 0)).tolist() == [1.0, 0.0]
    copy.begin()
    assert copy.discount_exponents(info(48, 56), ended(0, 0)).tolist() == [0.0, 0.0]


def test_episodes_without_progress_for_too_long_have_no_future() -> None:
    told = {"stagnation": np.array([0, 399, 400], np.int32)}
    assert TrainingSignals(3, 400).has_no_future(told).tolist() == [False, False, True]
    assert not TrainingSignals(3, 0).has_no_future(told).any(), "0 means no limit"


def test_an_episode_without_a_future_costs_the_penalty() -> None:
    assert TrainingSignals(3, 400).hopeless_value == 0.0
    assert TrainingSignals(3, 400, stagnation_penalty=3.0).hopeless_value == -3.0


def test_episodes_begin_only_where_mario_stands_or_swims_and_obeys() -> None:
    told = {
        "in_control": np.array([1, 1, 1, 0], bool),
        "on_ground": np.array([1, 0, 0, 1], bool),
        "swimming": np.array([0, 1, 0, 1], bool),
    }
    assert can_start_here(told).tolist() == [True, True, False, False]


def test_places_differ_by_column_area_and_maze_counters() -> None:
    base = {"area": 1, "loop_correct": 0, "loop_passes": 0, "x_pos": 100}
    others = [{"x_pos": 164}, {"area": 2}, {"loop_correct": 1}, {"loop_passes": 1}, {"x_pos": 127}]
    rows = [base, *(base | change for change in others)]
    told = {name: np.array([row[name] for row in rows], np.int32) for name in base}
    places = place_ids(told, 64).tolist()
    assert len(set(places[:5])) == 5
    assert places[5] == places[0]
