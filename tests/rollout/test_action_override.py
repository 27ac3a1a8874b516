"""The pilot forces what its plans say, in the lanes they are for, and nothing else."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from warpzone.rollout.action_override import ActionOverride

LANES = 3


def steered(override: ActionOverride, first: list[bool]) -> tuple[list[int], list[bool]]:
    """One step of lanes in which the policy always chooses 9."""
    actions = np.full(LANES, 9)
    forced = override.apply(actions, np.array(first))
    return actions.tolist(), forced.tolist()


def test_without_a_plan_the_policy_decides() -> None:
    override = ActionOverride(LANES)
    assert steered(override, [True] * 3) == ([9, 9, 9], [False] * 3)


def test_the_first_episodes_of_each_lane_begin_with_the_script() -> None:
    override = ActionOverride(LANES, script=[1, 2], episodes=2)
    everywhere, nowhere = [True] * 3, [False] * 3
    assert steered(override, everywhere) == ([1, 1, 1], everywhere)
    assert steered(override, nowhere) == ([2, 2, 2], everywhere)
    assert steered(override, nowhere) == ([9, 9, 9], nowhere)
    assert steered(override, [False, True, False]) == ([9, 1, 9], [False, True, False])
    assert steered(override, nowhere) == ([9, 2, 9], [False, True, False])
    assert steered(override, [False, True, True]) == ([9, 9, 1], [False, False, True])


def test_a_forced_plan_goes_on_across_episodes_until_it_is_done() -> None:
    override = ActionOverride(LANES)
    override.force([4, 5, 6], [0, 2])
    assert steered(override, [False] * 3) == ([4, 9, 4], [True, False, True])
    assert steered(override, [True] * 3) == ([5, 9, 5], [True, False, True])
    assert override.forcing == 2
    assert steered(override, [False] * 3) == ([6, 9, 6], [True, False, True])
    assert override.forcing == 0
    assert steered(override, [False] * 3) == ([9, 9, 9], [False] * 3)


def test_an_offset_lets_each_lane_begin_elsewhere_in_the_plan() -> None:
    override = ActionOverride(LANES)
    override.force([1, 2, 3, 4], range(LANES), offset=3)
    played = [steered(override, [False] * 3)[0] for _ in range(4)]
    assert list(zip(*played, strict=True)) == [(1, 2, 3, 4), (4, 1, 2, 3), (3, 4, 1, 2)]
    assert override.forcing == 0


def test_a_saved_pilot_goes_on_where_it_was() -> None:
    override = ActionOverride(LANES, script=[1, 2, 3], episodes=1)
    steered(override, [True, False, False])
    copy = ActionOverride(LANES, script=[1, 2, 3], episodes=1)
    copy.load_state_dict(override.state_dict())
    for first in ([False, True, False], [True, True, True]):
        assert steered(override, first) == steered(copy, first)


def test_the_policys_own_choices_are_not_touched() -> None:
    override = ActionOverride(LANES)
    override.force([0], [1])
    actions: NDArray[np.int64] = np.array([7, 8, 9])
    override.apply(actions, np.zeros(LANES, bool))
    assert actions.tolist() == [7, 0, 9]
