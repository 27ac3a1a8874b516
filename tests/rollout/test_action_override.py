"""The override replaces only the actions that its plans cover."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from warpzone.rollout.action_override import ActionOverride

ENVS = 3


def overridden(override: ActionOverride, first: list[bool]) -> tuple[list[int], list[bool]]:
    """One step of environments in which the policy always chooses 9."""
    actions = np.full(ENVS, 9)
    mask = override.apply(actions, np.array(first))
    return actions.tolist(), mask.tolist()


def test_without_a_plan_the_policy_chooses() -> None:
    override = ActionOverride(ENVS)
    assert overridden(override, [True] * 3) == ([9, 9, 9], [False] * 3)


def test_the_first_episodes_of_each_environment_begin_with_the_script() -> None:
    override = ActionOverride(ENVS, script=[1, 2], episodes=2)
    everywhere, nowhere = [True] * 3, [False] * 3
    assert overridden(override, everywhere) == ([1, 1, 1], everywhere)
    assert overridden(override, nowhere) == ([2, 2, 2], everywhere)
    assert overridden(override, nowhere) == ([9, 9, 9], nowhere)
    assert overridden(override, [False, True, False]) == ([9, 1, 9], [False, True, False])
    assert overridden(override, nowhere) == ([9, 2, 9], [False, True, False])
    assert overridden(override, [False, True, True]) == ([9, 9, 1], [False, False, True])


def test_a_plan_continues_across_episodes_to_its_end() -> None:
    override = ActionOverride(ENVS)
    override.follow([4, 5, 6], [0, 2])
    assert overridden(override, [False] * 3) == ([4, 9, 4], [True, False, True])
    assert overridden(override, [True] * 3) == ([5, 9, 5], [True, False, True])
    assert override.active == 2
    assert overridden(override, [False] * 3) == ([6, 9, 6], [True, False, True])
    assert override.active == 0
    assert overridden(override, [False] * 3) == ([9, 9, 9], [False] * 3)


def test_an_offset_staggers_environments_in_the_plan() -> None:
    override = ActionOverride(ENVS)
    override.follow([1, 2, 3, 4], range(ENVS), offset=3)
    played = [overridden(override, [False] * 3)[0] for _ in range(4)]
    assert list(zip(*played, strict=True)) == [(1, 2, 3, 4), (4, 1, 2, 3), (3, 4, 1, 2)]
    assert override.active == 0


def test_a_restored_override_continues_where_it_was() -> None:
    override = ActionOverride(ENVS, script=[1, 2, 3], episodes=1)
    overridden(override, [True, False, False])
    copy = ActionOverride(ENVS, script=[1, 2, 3], episodes=1)
    copy.load_state_dict(override.state_dict())
    for first in ([False, True, False], [True, True, True]):
        assert overridden(override, first) == overridden(copy, first)


def test_other_actions_are_not_changed() -> None:
    override = ActionOverride(ENVS)
    override.follow([0], [1])
    actions: NDArray[np.int64] = np.array([7, 8, 9])
    override.apply(actions, np.zeros(ENVS, bool))
    assert actions.tolist() == [7, 0, 9]


def test_plans_can_be_taken_for_many_steps_ahead() -> None:
    override = ActionOverride(ENVS)
    override.follow([4, 5, 6], [0])
    override.follow([7], [2])
    assert override.take(2).tolist() == [[4, -1, 7], [5, -1, -1]]
    assert override.active == 1
    assert overridden(override, [False] * 3) == ([6, 9, 9], [True, False, False])
    assert override.take(1).tolist() == [[-1, -1, -1]]


def test_only_a_script_depends_on_how_episodes_end() -> None:
    assert ActionOverride(ENVS, script=[1], episodes=1).has_script
    assert not ActionOverride(ENVS, script=[1], episodes=0).has_script
    assert not ActionOverride(ENVS).has_script
