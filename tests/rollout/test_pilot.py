"""The pilot forces what its plans say, in the lanes they are for, and nothing else."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from warpzone.rollout.pilot import Pilot

LANES = 3


def steered(pilot: Pilot, first: list[bool]) -> tuple[list[int], list[bool]]:
    """One step of lanes in which the policy always chooses 9."""
    actions = np.full(LANES, 9)
    forced = pilot.steer(actions, np.array(first))
    return actions.tolist(), forced.tolist()


def test_without_a_plan_the_policy_decides() -> None:
    pilot = Pilot(LANES)
    assert steered(pilot, [True] * 3) == ([9, 9, 9], [False] * 3)


def test_the_first_episodes_of_each_lane_begin_with_the_script() -> None:
    pilot = Pilot(LANES, script=[1, 2], episodes=2)
    everywhere, nowhere = [True] * 3, [False] * 3
    assert steered(pilot, everywhere) == ([1, 1, 1], everywhere)
    assert steered(pilot, nowhere) == ([2, 2, 2], everywhere)
    assert steered(pilot, nowhere) == ([9, 9, 9], nowhere)
    assert steered(pilot, [False, True, False]) == ([9, 1, 9], [False, True, False])
    assert steered(pilot, nowhere) == ([9, 2, 9], [False, True, False])
    assert steered(pilot, [False, True, True]) == ([9, 9, 1], [False, False, True])


def test_a_forced_plan_goes_on_across_episodes_until_it_is_done() -> None:
    pilot = Pilot(LANES)
    pilot.force([4, 5, 6], [0, 2])
    assert steered(pilot, [False] * 3) == ([4, 9, 4], [True, False, True])
    assert steered(pilot, [True] * 3) == ([5, 9, 5], [True, False, True])
    assert pilot.forcing == 2
    assert steered(pilot, [False] * 3) == ([6, 9, 6], [True, False, True])
    assert pilot.forcing == 0
    assert steered(pilot, [False] * 3) == ([9, 9, 9], [False] * 3)


def test_an_offset_lets_each_lane_begin_elsewhere_in_the_plan() -> None:
    pilot = Pilot(LANES)
    pilot.force([1, 2, 3, 4], range(LANES), offset=3)
    played = [steered(pilot, [False] * 3)[0] for _ in range(4)]
    assert list(zip(*played, strict=True)) == [(1, 2, 3, 4), (4, 1, 2, 3), (3, 4, 1, 2)]
    assert pilot.forcing == 0


def test_a_saved_pilot_goes_on_where_it_was() -> None:
    pilot = Pilot(LANES, script=[1, 2, 3], episodes=1)
    steered(pilot, [True, False, False])
    copy = Pilot(LANES, script=[1, 2, 3], episodes=1)
    copy.load_state_dict(pilot.state_dict())
    for first in ([False, True, False], [True, True, True]):
        assert steered(pilot, first) == steered(copy, first)


def test_the_policys_own_choices_are_not_touched() -> None:
    pilot = Pilot(LANES)
    pilot.force([0], [1])
    actions: NDArray[np.int64] = np.array([7, 8, 9])
    pilot.steer(actions, np.zeros(LANES, bool))
    assert actions.tolist() == [7, 0, 9]
