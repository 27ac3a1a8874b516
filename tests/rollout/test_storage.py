"""A rollout's storage: the ground that each step covers."""

from __future__ import annotations

import numpy as np
import torch
from gymnasium import spaces

from warpzone.rollout.storage import RolloutStorage

SPACE = spaces.Box(0, 255, (2,), np.uint8)


def reach(storage: RolloutStorage, step: int, pixels: list[int], ended: list[bool]) -> None:
    storage.first[step + 1] = torch.tensor(ended)
    storage.put_reached(step, np.array(pixels, np.int32))


def test_progress_is_what_a_step_adds_and_never_spans_two_episodes() -> None:
    storage = RolloutStorage(4, 2, SPACE, 0)
    # The second lane's episode ends after two steps; the next begins at a snapshot, 500 pixels on.
    reach(storage, 0, [10, 300], [False, False])
    reach(storage, 1, [10, 320], [False, True])
    reach(storage, 2, [42, 500], [False, False])
    reach(storage, 3, [40 + 2, 516], [False, False])
    assert storage.progress().tolist() == [[0, 0], [0, 0], [32, 0], [0, 16]]


def test_progress_goes_on_over_the_border_of_two_rollouts() -> None:
    storage = RolloutStorage(1, 2, SPACE, 0)
    reach(storage, 0, [10, 300], [False, True])
    resumed = RolloutStorage(1, 2, SPACE, 0)
    storage.roll_over()
    resumed.load_first_obs(storage.first_obs_state())
    for continued in (storage, resumed):
        reach(continued, 0, [15, 40], [False, False])
        assert continued.progress().tolist() == [[5, 0]]


def test_a_state_from_before_progress_was_kept_can_be_gone_on_with() -> None:
    storage = RolloutStorage(1, 2, SPACE, 0)
    first, whole = storage.first_obs_state(), storage.state_dict()
    for state, load in ((first, storage.load_first_obs), (whole, storage.load_state_dict)):
        del state["reached"]
        load(state)
        assert not storage.progress().any()


def test_a_game_without_progress_makes_none() -> None:
    assert not RolloutStorage(3, 2, SPACE, 0).progress().any()
