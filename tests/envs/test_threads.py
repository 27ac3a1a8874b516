"""Threads: any number gives the same stream, none is left behind, one lane's error is its own."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from env_support import RIGHT_RUN, frames_of, held_actions, lane_obs

import warpzone
from warpzone.errors import EnvError

TASKS = Path("/proc/self/task")
needs_proc = pytest.mark.skipif(not TASKS.exists(), reason="counts threads in /proc")
OPTIONS: dict[str, Any] = {
    "sticky_prob": 0.25,
    "noop_max": 20,
    "max_steps": 15,
    "autoreset": "same-step",
    "level_order": "random",
}


def stream(threads: int, seeds: list[int], actions: Any, **options: Any) -> list[str]:
    """A digest of everything that each lane returned."""
    env = warpzone.make_vec(
        ["1-1", "1-2", "4-4"], num_envs=len(seeds), num_threads=threads, **(OPTIONS | options)
    )
    digests = [hashlib.sha256() for _ in seeds]
    obs, info = env.reset(seed=seeds)
    results: list[tuple[Any, ...]] = [(obs, info)]
    for row in actions:
        results.append(env.step(row))
        for lane, digest in enumerate(digests):
            obs, *numbers, info = results[-1]
            for array in frames_of([lane_obs(obs, lane)]):
                digest.update(array.tobytes())
            for array in (*numbers, *(info[name] for name in sorted(info) if "final" not in name)):
                digest.update(array[lane].tobytes())
    digests_of_ram = zip(digests, env.ram(), strict=True)
    for digest, ram in digests_of_ram:
        digest.update(ram.tobytes())
    env.close()
    return [digest.hexdigest() for digest in digests]


@pytest.mark.parametrize("obs", ["pixels", "tiles"])
def test_any_number_of_threads_gives_the_same_stream(obs: str) -> None:
    seeds, actions = [3, 1, 4, 1, 5, 9], held_actions(0, 6, 40)
    one = stream(1, seeds, actions, obs=obs)
    assert stream(2, seeds, actions, obs=obs) == one
    assert stream(4, seeds, actions, obs=obs) == one
    assert stream(4, seeds, actions, obs=obs) == one, "and the same again"


def test_a_lanes_stream_does_not_depend_on_its_place_or_neighbours() -> None:
    seeds, actions = [3, 1, 4, 1, 5, 9], held_actions(0, 6, 40)
    order = [5, 2, 0, 1, 4, 3]
    straight = stream(2, seeds, actions)
    mixed = stream(2, [seeds[i] for i in order], actions[:, order])
    assert mixed == [straight[i] for i in order]


def test_the_literal_path_gives_the_same_stream() -> None:
    seeds, actions = [3, 1], held_actions(0, 2, 16)
    assert stream(2, seeds, actions, exact=True) == stream(2, seeds, actions)


COUNTER = """
import gc, time, warpzone
from pathlib import Path

def has_threads(count):
    # A joined thread may linger in /proc for a moment.
    for _ in range(2000):
        if len(list(Path("/proc/self/task").iterdir())) == count:
            return True
        time.sleep(0.005)
    return False

before = len(list(Path("/proc/self/task").iterdir()))
"""


def run_script(script: str) -> str:
    """Runs a script in a process whose threads are all its own, and returns what it prints."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


FAILING_STEP = """
try:
    env.step([99] * 6)
except warpzone.errors.ConfigError:
    print("refused")
"""


@needs_proc
@pytest.mark.parametrize("end", ["env.close()", "", FAILING_STEP], ids=["close", "drop", "fail"])
def test_no_thread_is_left(end: str) -> None:
    script = f"""{COUNTER}
env = warpzone.make_vec("1-1", num_envs=6, num_threads=4)
env.reset(seed=0)
env.step([0] * 6)
assert has_threads(before + 3), "the caller's thread works too"
{end}
del env
gc.collect()
assert has_threads(before)
"""
    assert ("refused" in run_script(script)) == (end == FAILING_STEP)


@needs_proc
def test_no_thread_is_left_by_an_environment_that_could_not_be_made() -> None:
    script = f"""{COUNTER}
try:
    warpzone.make_vec("1-1", num_envs=6, num_threads=4, start_state=b"no state")
except warpzone.errors.StateError:
    print("refused", has_threads(before))
"""
    assert run_script(script) == "refused True\n"


@needs_proc
def test_at_most_one_thread_per_environment_is_started() -> None:
    script = f"""{COUNTER}
env = warpzone.make_vec("1-1", num_envs=2, num_threads=64)
print(has_threads(before + 1))
"""
    assert run_script(script) == "True\n"


@needs_proc
def test_too_few_threads_from_the_system_are_an_error_and_no_crash() -> None:
    script = (
        "import resource, warpzone\n"
        "env = warpzone.make_vec('1-1', num_envs=1)\n"
        "used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (used + 2**27, used + 2**27))\n"
        "try:\n"
        "    warpzone.make_vec('1-1', num_envs=200, num_threads=200)\n"
        "except (RuntimeError, OSError, MemoryError) as error:\n"
        "    print('refused', error)\n"
    )
    assert run_script(script).startswith("refused")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
def test_a_forked_child_gets_an_error_instead_of_waiting_for_ever() -> None:
    script = (
        "import os, sys, warpzone\n"
        "env = warpzone.make_vec('1-1', num_envs=4, num_threads=2)\n"
        "env.reset(seed=0)\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    try:\n"
        "        env.step([0] * 4)\n"
        "    except warpzone.errors.ClosedError as error:\n"
        "        print(error, flush=True)\n"
        "    env.close()\n"
        "    os._exit(0)\n"
        "status = os.waitpid(child, 0)[1]\n"
        "env.step([0] * 4)\n"
        "sys.exit(status)\n"
    )
    assert "threads do not survive a fork" in run_script(script)


@pytest.mark.parametrize("threads", [1, 3])
def test_a_failing_lane_is_named_and_the_others_have_stepped(threads: int) -> None:
    env = warpzone.make_vec(
        "1-1", num_envs=3, num_threads=threads, autoreset="disabled", max_steps=2
    )
    twin = warpzone.make_vec("1-1", num_envs=3, num_threads=1)
    twin.reset(seed=0)
    env.reset(seed=0)
    env.step([RIGHT_RUN] * 3)
    twin.step([RIGHT_RUN] * 3)
    env.step([RIGHT_RUN] * 3)
    twin.step([RIGHT_RUN] * 3)
    env.reset(options={"reset_mask": np.array([True, False, True])})
    with pytest.raises(EnvError, match=r"^env 1: .*reset it first$"):
        env.step([RIGHT_RUN] * 3)
    fresh = warpzone.make_vec("1-1", num_envs=1, num_threads=1)
    fresh.reset(seed=0)
    fresh.step([RIGHT_RUN])
    np.testing.assert_array_equal(env.ram()[0], fresh.ram()[0])
    np.testing.assert_array_equal(env.ram()[1], twin.ram()[1], "the failed lane has not moved")
    np.testing.assert_array_equal(env.ram()[2], fresh.ram()[0])

    obs, info = env.reset(options={"reset_mask": np.array([False, True, False])})
    assert info["steps"].tolist() == [1, 0, 1]
    np.testing.assert_array_equal(obs[0], fresh.observe()[0][0])
    _, _, _, truncated, info = env.step([RIGHT_RUN] * 3)
    assert info["steps"].tolist() == [2, 1, 2]
    assert truncated.tolist() == [True, False, True]


def test_all_failing_lanes_are_named() -> None:
    env = warpzone.make_vec("1-1", num_envs=3, num_threads=2, autoreset="disabled")
    with pytest.raises(EnvError, match=r"env 0: .*; env 1: .*; env 2: "):
        env.step([0] * 3)


def test_two_callers_take_turns() -> None:
    env = warpzone.make_vec("1-1", num_envs=4, num_threads=2)
    env.reset(seed=0)
    errors: list[Exception] = []

    def work(number: int) -> None:
        try:
            for _ in range(40):
                if number == 0:
                    env.step([RIGHT_RUN] * 4)
                else:
                    env.set_reward_weights(distance=float(number))
                    env.load_state(env.save_state(0), env_ids=[number])
                    env.ram()
        except Exception as error:  # noqa: BLE001
            errors.append(error)

    callers = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(timeout=60)
    assert not errors
    assert not any(caller.is_alive() for caller in callers)


def test_python_runs_on_while_lanes_are_stepped() -> None:
    # A step that takes much longer than a busy machine interrupts this thread.
    env = warpzone.make_vec("1-1", num_envs=400, num_threads=2, frame_skip=60)
    env.reset(seed=0)
    caller = threading.Thread(target=env.step, args=([RIGHT_RUN] * 400,))
    began = last = time.perf_counter()
    longest_wait = 0.0
    caller.start()
    while caller.is_alive():
        now = time.perf_counter()
        longest_wait, last = max(longest_wait, now - last), now
    assert longest_wait < (last - began) / 2


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads memory from /proc")
def test_a_lane_takes_less_than_256_kib_besides_its_observation() -> None:
    script = (
        "import gc, os, warpzone\n"
        "def used():\n"
        "    gc.collect()\n"
        "    return int(open('/proc/self/statm').read().split()[1]) * os.sysconf('SC_PAGESIZE')\n"
        "def pool(num_envs):\n"
        "    before = used()\n"
        "    env = warpzone.make_vec('1-1', num_envs=num_envs, num_threads=2)\n"
        "    _, info = env.reset(seed=0)\n"
        "    obs = env.step([3] * num_envs)[0]\n"
        "    return used() - before, env, info, obs\n"
        "warm, few, many = pool(2), pool(40), pool(240)\n"
        "print((many[0] - few[0]) // 200, many[-1][0].nbytes)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True
    )
    total, obs = map(int, done.stdout.split())
    # The arrays of two steps are held: the one returned and the one that the reset had filled.
    assert total - 2 * obs < 256 * 1024
