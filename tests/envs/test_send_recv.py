"""Environments in flight: the same play as with `step`, and clear errors for every misuse."""

from __future__ import annotations

import gc
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from env_support import RIGHT_RUN, frames_of, held_actions, lane_obs

import warpzone
from warpzone.errors import ClosedError, ConfigError, EnvError, InFlightError

LANES, STEPS = 5, 30
OPTIONS: dict[str, Any] = {"sticky_prob": 0.25, "noop_max": 9, "max_steps": 11}
LEVELS = ["1-1", "1-2", "4-4"]


def row_of(result: tuple[Any, ...], row: int) -> list[bytes]:
    """Everything that a result says about one environment."""
    obs, *numbers, info = result
    arrays = list(frames_of([lane_obs(obs, row)]))
    arrays += [array[row] for array in numbers]
    plain = [name for name in sorted(info) if "final" not in name and name != "env_id"]
    arrays += [info[name][row] for name in plain]
    if "final_info" in info and info["_final_info"][row]:
        arrays += frames_of([lane_obs(info["final_obs"], row)])
        arrays += [values[row] for _, values in sorted(info["final_info"].items())]
    return [np.ascontiguousarray(array).tobytes() for array in arrays]


def stepped(actions: Any, **options: Any) -> list[list[list[bytes]]]:
    """What each environment returned at each step."""
    env = warpzone.make_vec(LEVELS, LANES, 1, **OPTIONS, **options)
    env.reset(seed=3)
    results = [env.step(row) for row in actions]
    env.close()
    return [[row_of(result, lane) for result in results] for lane in range(LANES)]


def sent(actions: Any, threads: int, batch_size: int, **options: Any) -> list[list[list[bytes]]]:
    """The same, with `send` and `recv`; each environment goes on as soon as it is returned."""
    env = warpzone.make_vec(LEVELS, LANES, threads, **OPTIONS, **options)
    env.async_reset(seed=3)
    histories: list[list[list[bytes]]] = [[] for _ in range(LANES)]
    while env.in_flight:
        result = env.recv(min(batch_size, env.in_flight))
        env_ids = result[4]["env_id"]
        for row, env_id in enumerate(env_ids):
            histories[env_id].append(row_of(result, row))
        onward = [env_id for env_id in env_ids if len(histories[env_id]) <= len(actions)]
        env.send([actions[len(histories[env_id]) - 1, env_id] for env_id in onward], onward)
    env.close()
    return [history[1:] for history in histories]


@pytest.mark.parametrize("autoreset", ["next-step", "same-step"])
@pytest.mark.parametrize("obs", ["pixels", "tiles"])
def test_each_env_plays_as_with_step_for_any_threads_and_batch_size(
    obs: str, autoreset: str
) -> None:
    actions = held_actions(0, LANES, STEPS)
    expected = stepped(actions, obs=obs, autoreset=autoreset)
    for threads, batch_size in ((1, 5), (1, 2), (2, 3), (4, 1)):
        assert sent(actions, threads, batch_size, obs=obs, autoreset=autoreset) == expected


def make(threads: int = 2, **options: Any) -> warpzone.MarioVectorEnv:
    env = warpzone.make_vec("1-1", 4, threads, obs="tiles", **options)
    env.reset(seed=0)
    return env


def test_one_thread_returns_envs_in_the_order_in_which_they_were_sent() -> None:
    env = make(threads=1)
    env.send([0, 0, 0], [2, 0, 3])
    env.send([0], 1)
    assert env.recv(3)[4]["env_id"].tolist() == [2, 0, 3]
    assert env.recv()[4]["env_id"].tolist() == [1]


def test_send_and_step_can_take_turns() -> None:
    env, twin = make(), make()
    for _ in range(3):
        env.send([RIGHT_RUN] * 4)
        assert sorted(env.recv()[4]["env_id"]) == [0, 1, 2, 3]
        twin.step([RIGHT_RUN] * 4)
        np.testing.assert_array_equal(env.step([0] * 4)[4]["x_pos"], twin.step([0] * 4)[4]["x_pos"])


def test_a_reset_in_flight_leaves_other_envs_alone() -> None:
    env = make()
    env.send([RIGHT_RUN] * 4)
    env.recv()
    env.async_reset([2], seed=7)
    env.send([RIGHT_RUN] * 3, [0, 1, 3])
    info = env.recv()[4]
    assert dict(zip(info["env_id"].tolist(), info["steps"].tolist(), strict=True)) == {
        0: 2,
        1: 2,
        2: 0,
        3: 2,
    }


def test_results_stay_as_they_are_while_their_envs_play_on() -> None:
    env = make()
    env.send([RIGHT_RUN] * 4)
    kept = []
    for _ in range(20):
        result = env.recv(2)
        arrays = [*frames_of([result[0]]), *result[1:4], *result[4].values()]
        kept.append((arrays, [array.copy() for array in arrays]))
        env.send([RIGHT_RUN] * 2, result[4]["env_id"])
    for arrays, copies in kept:
        for array, copy in zip(arrays, copies, strict=True):
            np.testing.assert_array_equal(array, copy)


USES_OF_ALL: dict[str, Callable[[warpzone.MarioVectorEnv], object]] = {
    "step": lambda env: env.step([0] * 4),
    "step_into": lambda env: env.step_into(
        [0] * 4,
        {name: np.zeros(box.shape, np.uint8) for name, box in env.observation_space.spaces.items()},
        np.zeros(4, np.float32),
        np.zeros(4, np.bool_),
        np.zeros(4, np.bool_),
    ),
    "reset": lambda env: env.reset(),
    "observe": lambda env: env.observe(),
    "ram": lambda env: env.ram(),
    "set_reward_weights": lambda env: env.set_reward_weights(time=0.0),
    "send to all": lambda env: env.send([0] * 4),
    "reset all": lambda env: env.async_reset(),
}
USES_OF_ONE: dict[str, Callable[[warpzone.MarioVectorEnv, int], object]] = {
    "send": lambda env, env_id: env.send([0], env_id),
    "async_reset": lambda env, env_id: env.async_reset(env_id),
    "save_state": lambda env, env_id: env.save_state(env_id),
    "set_level": lambda env, env_id: env.set_level("1-2", env_id),
    "set_step_limit": lambda env, env_id: env.set_step_limit(9, env_id),
    "set_start_state": lambda env, env_id: env.set_start_state(None, env_id),
    "set_route": lambda env, env_id: env.set_route(None, env_id),
}


@pytest.mark.parametrize("use", USES_OF_ALL.values(), ids=list(USES_OF_ALL))
def test_whatever_uses_all_envs_is_refused_while_one_is_in_flight(use: Any) -> None:
    env = make()
    env.send([0], [1])
    with pytest.raises(InFlightError, match="in flight after send"):
        use(env)
    assert env.in_flight == 1
    env.recv()
    use(env)


@pytest.mark.parametrize("use", USES_OF_ONE.values(), ids=list(USES_OF_ONE))
def test_an_env_in_flight_cannot_be_used_but_others_can(use: Any) -> None:
    env = make()
    env.send([0], [1])
    with pytest.raises(InFlightError, match="env 1 is in flight"):
        use(env, 1)
    use(env, 2)
    env.recv()


def test_rendering_is_refused_while_an_env_is_in_flight() -> None:
    env = warpzone.make_vec("1-1", 2, 2, render_mode="rgb_array")
    env.async_reset(seed=0)
    with pytest.raises(InFlightError):
        env.render()
    env.recv()
    assert len(env.render() or ()) == 2


MISUSES: dict[str, tuple[Callable[[warpzone.MarioVectorEnv], object], str]] = {
    "an env twice": (lambda env: env.send([0, 0], [1, 1]), "env 1 is in env_ids twice"),
    "no such env": (lambda env: env.send([0], [4]), "env 4 does not exist; there are 4"),
    "no such action": (lambda env: env.send([0, 9], [0, 3]), "action 9 of env 3 does not exist"),
    "too few actions": (lambda env: env.send([0], [0, 1]), "for 2 environments"),
    "actions that are not integers": (lambda env: env.send([0.5], [0]), "must be integers"),
    "nothing sent": (lambda env: env.recv(), "no env is in flight"),
    "nothing sent, a size": (lambda env: env.recv(2), "no env is in flight"),
    "a size that is not an integer": (lambda env: env.recv("2"), "batch_size is '2'"),  # type: ignore[arg-type]
    "size 0": (lambda env: env.recv(0), "batch_size is 0"),
    "seeds for other envs": (lambda env: env.async_reset([1], seed=[1]), "seed has 1 items"),
}


@pytest.mark.parametrize(("misuse", "text"), MISUSES.values(), ids=list(MISUSES))
def test_a_mistake_gets_one_sentence_and_nothing_begins(misuse: Any, text: str) -> None:
    env = make()
    with pytest.raises(ConfigError, match=re.escape(text)):
        misuse(env)
    assert env.in_flight == 0


def test_more_envs_than_are_in_flight_cannot_be_received() -> None:
    env = make()
    env.send([0, 0], [0, 1])
    with pytest.raises(ConfigError, match="batch_size is 3, but only 2 envs are in flight"):
        env.recv(3)
    assert len(env.recv(2)[1]) == 2


@pytest.mark.parametrize("threads", [1, 3])
def test_a_failing_env_is_named_and_the_others_arrive(threads: int) -> None:
    env = make(threads, autoreset="disabled", max_steps=1)
    env.send([0], [1])
    assert env.recv()[3].tolist() == [True]
    env.send([RIGHT_RUN] * 4)
    with pytest.raises(EnvError, match=r"^env 1: .*reset it first$"):
        env.recv(4)
    assert env.in_flight == 3
    info = env.recv()[4]
    assert sorted(info["env_id"]) == [0, 2, 3]
    assert info["steps"].tolist() == [1, 1, 1]
    env.async_reset([1])
    assert env.recv()[4]["steps"].tolist() == [0]


def test_another_thread_can_send_while_one_receives() -> None:
    env = make()
    received: list[int] = []

    def receive() -> None:
        while len(received) < 40:
            if env.in_flight:
                received.extend(env.recv(1)[4]["env_id"].tolist())

    receiver = threading.Thread(target=receive)
    env.send([0] * 4)
    receiver.start()
    sent_again = 0
    while sent_again < 36:
        if len(received) > sent_again:
            env.send([0], [received[sent_again]])
            sent_again += 1
    receiver.join(timeout=60)
    assert len(received) == 40


@pytest.mark.parametrize("threads", [1, 3])
def test_an_env_can_be_closed_while_envs_are_in_flight(threads: int) -> None:
    env = make(threads)
    env.send([RIGHT_RUN] * 4)
    env.close()
    for use in (env.recv, lambda: env.send([0] * 4), lambda: env.in_flight):
        with pytest.raises(ClosedError, match="closed"):
            use()


TASKS = Path("/proc/self/task")


@pytest.mark.skipif(not TASKS.exists(), reason="counts threads in /proc")
def test_no_thread_is_left_by_envs_in_flight() -> None:
    env = make(threads=4)
    before = {task.name for task in TASKS.iterdir()}
    env.send([RIGHT_RUN] * 4)
    started = {task.name for task in TASKS.iterdir()} - before
    assert len(started) >= 3, "the caller's thread works too"
    del env
    gc.collect()
    for _ in range(200):  # A thread that has been joined may linger a moment.
        if not started & {task.name for task in TASKS.iterdir()}:
            return
        time.sleep(0.005)
    pytest.fail("threads are left")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
def test_a_forked_child_gets_an_error_instead_of_waiting_for_ever() -> None:
    script = (
        "import os, sys, warpzone\n"
        "env = warpzone.make_vec('1-1', num_envs=4, num_threads=2)\n"
        "env.async_reset(seed=0)\n"
        "env.recv()\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    try:\n"
        "        env.send([0] * 4)\n"
        "    except warpzone.errors.ClosedError as error:\n"
        "        print(error, flush=True)\n"
        "    env.close()\n"
        "    os._exit(0)\n"
        "sys.exit(os.waitpid(child, 0)[1])\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "threads do not survive a fork" in done.stdout


def test_the_example_of_the_documentation_runs() -> None:
    page = (Path(__file__).parents[2] / "docs" / "environment.md").read_text()
    example = re.search(r"### Send and receive\n.*?```python\n(.*?)```", page, re.DOTALL)
    assert example is not None
    names: dict[str, Any] = {}
    exec(example.group(1), names)
    assert names["steps"] >= 1000
    with pytest.raises(ClosedError):
        names["env"].recv()
