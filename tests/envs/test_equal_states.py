"""Equal play gives save states that are equal byte for byte, wherever it was played."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from typing import Any

import pytest
from env_support import RIGHT_RUN, held_actions

import warpzone

OBSERVATIONS = [{"obs": "tiles"}, {"obs": "pixels", "size": 16, "sticky_prob": 0.25}]

PLAY = """
import hashlib, sys
import warpzone

env = warpzone.make_vec("1-1", num_envs=2, num_threads=1, obs="tiles", sticky_prob=0.25)
env.reset(seed=5)
for _ in range(40):
    env.step([3, 4])
states = [env.save_state(0), env.save_state(1), env.save_console(0)]
print(*(hashlib.sha256(state).hexdigest() for state in states))
"""


def states_of_a_process(fill: int) -> str:
    """Plays in a process whose fresh memory is filled with `fill` (glibc) instead of leftovers."""
    result = subprocess.run(
        [sys.executable, "-c", PLAY],
        env=os.environ | {"MALLOC_PERTURB_": str(fill)},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return result.stdout


def test_two_processes_that_play_the_same_save_the_same_bytes() -> None:
    assert states_of_a_process(0x5A) == states_of_a_process(0xA5)


@pytest.mark.parametrize("options", OBSERVATIONS)
def test_envs_of_a_batch_that_play_the_same_save_the_same_bytes(options: dict[str, Any]) -> None:
    env = warpzone.make_vec("1-1", num_envs=4, num_threads=2, **options)
    env.reset(seed=[5] * 4)
    for action in held_actions(1, 1, 60)[:, 0]:
        env.step([action] * 4)
    assert len({hashlib.sha256(env.save_state(index)).digest() for index in range(4)}) == 1


def test_a_machine_that_played_something_else_before_saves_the_same_bytes() -> None:
    fresh, used = (warpzone.make_vec("1-1", num_envs=1, obs="tiles") for _ in range(2))
    used.set_level("8-4")
    used.reset(seed=1)
    for action in held_actions(2, 1, 80):
        used.step(action)
    used.set_level("1-1")
    for env in (fresh, used):
        env.reset(seed=5)
        for _ in range(30):
            env.step([RIGHT_RUN])
    assert fresh.save_console(0) == used.save_console(0)
