"""Rollout storage: named observations, and the start of the next rollout."""

from __future__ import annotations

import numpy as np
import torch
from gymnasium import spaces

from warpzone.rollout.storage import RolloutStorage

SPACES = {
    "grid": spaces.Box(0, 255, (2, 3), np.uint8),
    "speed": spaces.Box(-1, 1, (4,), np.float32),
}


def filled(storage: RolloutStorage, value: int) -> RolloutStorage:
    for step in range(storage.steps + 1):
        for array in storage.obs_target(step).values():
            array[:] = value + step
    storage.first[storage.steps] = torch.tensor([True, False])
    return storage


def test_every_part_of_an_observation_keeps_its_name_shape_and_dtype() -> None:
    storage = filled(RolloutStorage(3, 2, SPACES, 0), 10)
    obs = storage.all_obs()
    assert {name: (tuple(part.shape), part.dtype) for name, part in obs.items()} == {
        "grid": ((3, 2, 2, 3), torch.uint8),
        "speed": ((3, 2, 4), torch.float32),
    }
    assert storage.obs(3)["grid"].unique().tolist() == [13]
    assert storage.nbytes > 4 * 2 * (6 + 16)


def test_the_next_rollout_begins_where_this_one_ended() -> None:
    storage = filled(RolloutStorage(3, 2, SPACES, 0), 10)
    other = RolloutStorage(3, 2, SPACES, 0)
    other.continue_from(storage)
    storage.roll_over()
    resumed = RolloutStorage(3, 2, SPACES, 0)
    resumed.load_first_obs(storage.first_obs_state())
    for continued in (storage, other, resumed):
        assert all((part == 13).all() for part in continued.obs(0).values())
        assert continued.first[0].tolist() == [True, False]


def test_a_saved_rollout_is_restored_completely() -> None:
    storage = filled(RolloutStorage(3, 2, SPACES, 5), 10)
    for name in ("rewards", "discount_exponents", "state"):
        getattr(storage, name).normal_()
    storage.overridden[1, 0] = True
    copy = RolloutStorage(3, 2, SPACES, 5)
    copy.load_state_dict(storage.state_dict())
    for name, part in storage.all_obs().items():
        assert torch.equal(copy.all_obs()[name], part)
    for name in ("rewards", "discount_exponents", "state", "overridden", "first"):
        assert torch.equal(getattr(copy, name), getattr(storage, name))
