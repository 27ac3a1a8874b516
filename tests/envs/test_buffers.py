"""Results belong to the user for as long as anything refers to them; then memory is used again."""

from __future__ import annotations

import gc
import threading
from typing import Any

import numpy as np
import pytest
import torch
from env_support import RIGHT_RUN, frames_of

import warpzone
from warpzone.errors import ConfigError

kinds = pytest.mark.parametrize("obs", ["pixels", "rgb", "tiles"])
STEPS = 12


def make(obs: str = "pixels", **options: Any) -> warpzone.MarioVectorEnv:
    env = warpzone.make_vec("1-1", num_envs=2, num_threads=1, obs=obs, **options)
    env.reset(seed=0)
    return env


@kinds
def test_results_that_are_kept_do_not_change(obs: str) -> None:
    env = make(obs)
    kept, copies = [], []
    for _ in range(STEPS):
        result, *numbers, info = env.step([RIGHT_RUN, 0])
        arrays = [*frames_of([result]), *numbers, *info.values()]
        kept.append(arrays)
        copies.append([array.copy() for array in arrays])
    for arrays, expected in zip(kept, copies, strict=True):
        for one, other in zip(arrays, expected, strict=True):
            np.testing.assert_array_equal(one, other)


HOLDERS = {
    "the array": lambda array: array,
    "a view": lambda array: array[1:],
    "a view of a view": lambda array: array[1:][..., :1],
    "a transposed view": lambda array: array.T,
    "a memory view": memoryview,
    "a tensor": torch.from_numpy,
}


def bytes_of(holder: Any) -> bytes:
    array = holder.numpy() if isinstance(holder, torch.Tensor) else np.asarray(holder)
    return bytes(np.ascontiguousarray(array).tobytes())


@kinds
@pytest.mark.parametrize("hold", HOLDERS.values(), ids=list(HOLDERS))
def test_whatever_refers_to_a_result_keeps_it(obs: str, hold: Any) -> None:
    env = make(obs)
    held = []
    for _ in range(STEPS):
        result, _, _, _, info = env.step([RIGHT_RUN, RIGHT_RUN])
        first = next(iter(frames_of([result])))
        for array in (first, info["x_pos"], info["enemies"], info["on_ground"]):
            held.append((hold(array), hold(array.copy())))
        del result, first, info, array
    for one, other in held:
        assert bytes_of(one) == bytes_of(other)


@kinds
def test_one_lane_or_one_field_is_enough_to_keep_a_result(obs: str) -> None:
    env = make(obs)
    lanes, copies = [], []
    for _ in range(STEPS):
        result = env.step([RIGHT_RUN, RIGHT_RUN])[0]
        lanes.append(list(frames_of([result]))[-1][0])
        copies.append(lanes[-1].copy())
    np.testing.assert_array_equal(np.array(lanes), np.array(copies))


@kinds
def test_memory_is_used_again_once_nobody_refers_to_it(obs: str) -> None:
    env = make(obs)
    places, info_places = set(), set()
    for _ in range(50):
        result, _, _, _, info = env.step([0, 0])
        places.add(next(iter(frames_of([result]))).ctypes.data)
        info_places.add(info["x_pos"].ctypes.data)
    assert len(places) <= 2, "the one just returned, and the one before it"
    assert len(info_places) <= 2


@kinds
def test_memory_returns_from_whatever_thread_lets_go_of_it(obs: str) -> None:
    env = make(obs)
    places = set()
    for _ in range(20):
        held = [env.step([0, 0])[0]]
        places.add(next(iter(frames_of(held))).ctypes.data)
        thread = threading.Thread(target=held.clear)
        thread.start()
        thread.join()
    assert len(places) == 1


@kinds
def test_memory_returns_from_a_cycle_of_references(obs: str) -> None:
    env = make(obs)
    places = set()
    gc.disable()
    try:
        for _ in range(6):
            cycle: list[Any] = [env.step([0, 0])[0]]
            places.add(next(iter(frames_of(cycle))).ctypes.data)
            cycle.append(cycle)
            del cycle
            gc.collect()
    finally:
        gc.enable()
    assert len(places) == 1


def test_a_step_that_fails_keeps_no_memory() -> None:
    env = make()
    places = set()
    for _ in range(20):
        with pytest.raises(ConfigError):
            env.step([99, 0])
        places.add(env.step([0, 0])[0].ctypes.data)
    assert len(places) == 1


def test_results_outlive_their_environment() -> None:
    env = make()
    results = [env.step([RIGHT_RUN, 0])[0] for _ in range(STEPS)]
    copies = [result.copy() for result in results]
    env.close()
    del env
    gc.collect()
    for result, expected in zip(results, copies, strict=True):
        np.testing.assert_array_equal(result, expected)


def test_changing_a_result_changes_nothing_else() -> None:
    env, twin = make("tiles"), make("tiles")
    for _ in range(STEPS):
        obs, reward, terminated, _, info = env.step([RIGHT_RUN, 0])
        expected = twin.step([RIGHT_RUN, 0])
        np.testing.assert_array_equal(obs["tiles"], expected[0]["tiles"])
        np.testing.assert_array_equal(reward, expected[1])
        np.testing.assert_array_equal(info["x_pos"], expected[4]["x_pos"])
        obs["tiles"][:] = 7
        reward[:] = 7
        terminated[:] = True
        info["x_pos"][:] = 7
        obs.clear()
        info.clear()


@kinds
def test_step_into_writes_what_step_returns(obs: str) -> None:
    env, twin = (
        make(obs, autoreset="same-step", max_steps=5),
        make(obs, autoreset="same-step", max_steps=5),
    )
    space = env.observation_space
    mine: Any
    if obs == "tiles":
        mine = {name: np.zeros(box.shape, np.uint8) for name, box in space.spaces.items()}  # type: ignore[attr-defined]
    else:
        mine = np.zeros(space.shape or (), np.uint8)
    reward, ended = np.zeros(2, np.float32), np.zeros((2, 2), np.bool_)
    for _ in range(STEPS):
        info = env.step_into([RIGHT_RUN, 0], mine, reward, ended[0], ended[1])
        expected = twin.step([RIGHT_RUN, 0])
        for one, other in zip(frames_of([mine]), frames_of([expected[0]]), strict=True):
            np.testing.assert_array_equal(one, other)
        for one, other in zip((reward, *ended), expected[1:4], strict=True):
            np.testing.assert_array_equal(one, other)
        assert set(info) == set(expected[4])
        if "final_obs" in info:
            for one, other in zip(
                frames_of([info["final_obs"]]), frames_of([expected[4]["final_obs"]]), strict=True
            ):
                np.testing.assert_array_equal(one, other)


def test_step_into_writes_into_a_slice_of_a_rollout() -> None:
    """The storage of a trainer: (time, lane, ...), written in place."""
    env, twin = make(), make()
    storage = np.zeros((STEPS, 2, 4, 84, 84), np.uint8)
    rewards = np.zeros((STEPS, 2), np.float32)
    ends = np.zeros((STEPS, 2, 2), np.bool_)
    for step in range(STEPS):
        env.step_into([1, 3], storage[step], rewards[step], ends[step, 0], ends[step, 1])
    for step in range(STEPS):
        obs, reward, *_ = twin.step([1, 3])
        np.testing.assert_array_equal(storage[step], obs)
        np.testing.assert_array_equal(rewards[step], reward)
