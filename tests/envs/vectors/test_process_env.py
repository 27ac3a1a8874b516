"""Workers that die, hang or fail: each is named, none is left behind, the others go on."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fault_env import FaultMaker
from gymnasium import spaces
from gymnasium.vector import AsyncVectorEnv, AutoresetMode
from log_support import logged

from warpzone.envs.vectors.options import WorkerOptions
from warpzone.envs.vectors.process_env import ProcessVectorEnv
from warpzone.envs.vectors.worker_log import read_log
from warpzone.errors import ConfigError, WorkerError

LANES = 3
SPACES = (spaces.Box(0, 255, (2,), np.uint8), spaces.Discrete(3))
LONG = 600.0


@pytest.fixture(autouse=True)
def _no_process_is_left() -> Iterator[None]:
    yield
    assert multiprocessing.active_children() == []


def makers(bad: int, stage: str, fault: str, once: Path | None = None) -> list[FaultMaker]:
    return [
        FaultMaker(lane, stage, fault, once) if lane == bad else FaultMaker(lane)
        for lane in range(LANES)
    ]


def make(
    tmp_path: Path, fns: list[FaultMaker], replacements: int = 0, **options: Any
) -> ProcessVectorEnv:
    seconds = options.pop("seconds", LONG)
    method = options.pop("method", "spawn")
    workers = WorkerOptions(
        method=method, seconds=seconds, replacements=replacements, folder=tmp_path / "logs"
    )
    return ProcessVectorEnv(fns, env_spaces=SPACES, workers=workers, **options)


def wait_for_others(env: ProcessVectorEnv, bad: int) -> None:
    """Until every other worker has answered, so that a short limit catches only the bad one."""
    for lane, pipe in enumerate(env.parent_pipes):
        if lane != bad:
            assert pipe.poll(LONG)


def assert_all_work(env: ProcessVectorEnv) -> None:
    obs, _ = env.reset(seed=3)
    np.testing.assert_array_equal(obs, [[lane, 0] for lane in range(LANES)])
    obs, reward, terminated, truncated, info = env.step(np.zeros(LANES, np.int64))
    np.testing.assert_array_equal(obs, [[lane, 1] for lane in range(LANES)])
    np.testing.assert_array_equal(reward, range(LANES))
    assert not terminated.any()
    assert not truncated.any()
    np.testing.assert_array_equal(info["lane"], range(LANES))


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_good_workers_start_in_order_answer_and_end(tmp_path: Path, method: str) -> None:
    env = make(tmp_path, makers(0, "", ""), method=method)
    assert isinstance(env, AsyncVectorEnv)
    assert_all_work(env)
    assert env.get_attr("lane") == (0, 1, 2)
    env.set_attr("lane", [7, 8, 9])
    assert env.call("lane") == (7, 8, 9)
    processes = env.processes
    env.close()
    assert [process.exitcode for process in processes] == [0] * LANES
    builds = []
    for lane in range(LANES):
        rows = read_log(tmp_path / "logs" / f"worker-{lane}.jsonl")
        assert [(row["stage"], row["event"]) for row in rows] == [
            (stage, event)
            for stage in ("import", "build", "reset", "step", "close")
            for event in ("begin", "end")
        ]
        builds.append(next(row for row in rows if row["stage"] == "build")["time"])
    assert builds == sorted(builds)


def test_logs_of_a_clean_run_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    env = ProcessVectorEnv([FaultMaker(0)])
    assert env.single_action_space == spaces.Discrete(3)
    logs = list(tmp_path.glob("warpzone-workers-*/worker-0.jsonl"))
    env.close()
    assert len(logs) == 1
    assert not logs[0].parent.exists()


@pytest.mark.parametrize("bad", [0, 2])
def test_worker_killed_while_it_starts_is_named(tmp_path: Path, bad: int) -> None:
    with pytest.raises(WorkerError, match=rf"worker {bad} was killed by SIGKILL in stage 'build'"):
        make(tmp_path, makers(bad, "build", "kill"))
    assert (tmp_path / "logs" / f"worker-{bad}.jsonl").exists()


def test_worker_killed_while_it_starts_is_replaced(tmp_path: Path) -> None:
    fns = makers(1, "build", "kill", tmp_path / "once")
    with logged("worker 1 was killed by SIGKILL .* it is replaced"):
        env = make(tmp_path, fns, replacements=1)
    assert_all_work(env)
    env.close()


def test_worker_that_sleeps_while_it_starts_is_named_with_its_stacks(tmp_path: Path) -> None:
    with pytest.raises(WorkerError, match=r"worker 0 took longer than 6 s in stage"):
        make(tmp_path, makers(0, "build", "sleep"), replacements=3, seconds=6.0)
    rows = read_log(tmp_path / "logs" / "worker-0.jsonl")
    if rows[-1]["stage"] == "build":  # On a machine that is too busy it got not even so far.
        assert " in _fail" in (tmp_path / "logs" / "worker-0.stacks.txt").read_text()


def test_error_while_building_is_told_and_not_repeated(tmp_path: Path) -> None:
    with pytest.raises(WorkerError, match="worker 1 raised ValueError: lane 1 went wrong"):
        make(tmp_path, makers(1, "build", "raise"), replacements=3)


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_worker_killed_in_a_step_is_replaced_and_its_episode_truncated(
    tmp_path: Path, mode: AutoresetMode
) -> None:
    fns = makers(1, "step", "kill", tmp_path / "once")
    env = make(tmp_path, fns, replacements=1, autoreset_mode=mode)
    env.reset(seed=5)
    with logged("worker 1 was killed by SIGKILL in stage 'step'"):
        obs, reward, terminated, truncated, info = env.step(np.zeros(LANES, np.int64))
    np.testing.assert_array_equal(obs, [[0, 1], [1, 0], [2, 1]])
    np.testing.assert_array_equal(reward, [0, 0, 2])
    assert not terminated.any()
    assert truncated.tolist() == [False, True, False]
    assert info["worker_replaced"].tolist() == [False, True, False]
    if mode == AutoresetMode.SAME_STEP:
        np.testing.assert_array_equal(info["final_obs"][1], [1, 0])
    assert_all_work(env)
    env.close()


@pytest.mark.parametrize("stage", ["step", "reset"])
def test_others_go_on_after_a_worker_was_given_up(tmp_path: Path, stage: str) -> None:
    env = make(tmp_path, makers(2, stage, "kill", tmp_path / "once"))

    def play() -> None:
        env.reset(seed=0)
        env.step(np.zeros(LANES, np.int64))

    with pytest.raises(WorkerError, match=rf"worker 2 was killed by SIGKILL in stage '{stage}'"):
        play()
    with pytest.raises(WorkerError, match="worker 2 is lost; `reset` starts it anew"):
        env.step(np.zeros(LANES, np.int64))
    assert_all_work(env)
    env.close()


@pytest.mark.parametrize("stage", ["step", "reset"])
def test_worker_that_sleeps_for_ever_is_named_and_replaced(tmp_path: Path, stage: str) -> None:
    env = make(tmp_path, makers(1, stage, "sleep", tmp_path / "once"), replacements=1)
    env.reset_async(seed=0)
    if stage == "step":
        env.reset_wait()
        env.step_async(np.zeros(LANES, np.int64))
    wait_for_others(env, 1)
    take = env.reset_wait if stage == "reset" else env.step_wait
    with logged(rf"worker 1 took longer than 0.5 s in stage '{stage}'"):
        take(timeout=0.5)
    assert " in _fail" in (tmp_path / "logs" / "worker-1.stacks.txt").read_text()
    assert_all_work(env)
    env.close()


def test_error_in_a_step_is_told_with_its_text(tmp_path: Path) -> None:
    env = make(tmp_path, makers(0, "step", "raise", tmp_path / "once"), replacements=3)
    env.reset(seed=0)
    with pytest.raises(WorkerError, match="worker 0 raised ValueError: lane 0 went wrong"):
        env.step(np.zeros(LANES, np.int64))
    assert_all_work(env)
    env.close()


def test_busy_and_sleeping_workers_are_ended_by_close(tmp_path: Path) -> None:
    env = make(tmp_path, makers(1, "step", "sleep"))
    env.reset(seed=0)
    env.step_async(np.zeros(LANES, np.int64))
    env.close()
    assert all(not process.is_alive() for process in env.processes)


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_workers_leave_requests_to_stop_to_their_parent(tmp_path: Path, method: str) -> None:
    env = make(tmp_path, makers(0, "", ""), method=method)
    for process in env.processes:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            os.kill(process.pid, number)
    assert_all_work(env)
    processes = env.processes
    env.close()
    assert [process.exitcode for process in processes] == [0] * LANES


def test_prewarm_builds_in_the_parent_first(tmp_path: Path) -> None:
    workers = WorkerOptions(prewarm=1, folder=tmp_path)
    with pytest.raises(ValueError, match="lane 0 went wrong on purpose"):
        ProcessVectorEnv(makers(0, "build", "raise"), workers=workers)


@pytest.mark.parametrize(
    "workers",
    [
        WorkerOptions(method="fork"),  # type: ignore[arg-type]
        WorkerOptions(seconds=0.0),
        WorkerOptions(prewarm=-1),
        WorkerOptions(delay=-1.0),
    ],
)
def test_bad_options_are_refused(workers: WorkerOptions) -> None:
    with pytest.raises(ConfigError):
        ProcessVectorEnv([FaultMaker(0)], workers=workers)


def test_default_limit_grows_with_the_number_of_workers() -> None:
    assert WorkerOptions().limit(1) == 180.0
    assert WorkerOptions().limit(8) == 480.0
    assert WorkerOptions(seconds=5.0).limit(8) == 5.0


# What happens to the workers when their parent is interrupted or killed.

SCRIPT = """
import signal, sys, numpy as np
from gymnasium.spaces import Box, Discrete
from fault_env import FaultMaker
from warpzone.envs.vectors.process_env import ProcessVectorEnv
if __name__ == "__main__":
    # Tests in the background of a shell inherit that Ctrl-C is ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    stage = sys.argv[1]
    makers = [FaultMaker(0), FaultMaker(1, stage, "sleep")]
    env = ProcessVectorEnv(makers, env_spaces=(Box(0, 255, (2,), np.uint8), Discrete(3)))
    print("started", flush=True)
    env.reset(seed=0)
    env.step(np.zeros(2, np.int64))
"""


def group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize("stage", ["build", "step"])
def test_no_worker_outlives_its_parent(tmp_path: Path, stage: str, sent: signal.Signals) -> None:
    script = tmp_path / "main.py"
    script.write_text(SCRIPT)
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2] / "support")}
    process = subprocess.Popen(
        [sys.executable, str(script), stage],
        env=environment | {"TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    if stage == "step":
        assert process.stdout.readline() == "started\n"
    while not _sleeps(tmp_path, stage):
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.05)
    # Ctrl-C reaches the whole group, as in a terminal.
    (os.killpg if sent == signal.SIGINT else os.kill)(process.pid, sent)
    _, errors = process.communicate(timeout=LONG)
    assert process.returncode == -sent
    while group_lives(process.pid):  # Times out if a worker stays.
        time.sleep(0.05)
    if sent == signal.SIGINT:
        assert errors.count("KeyboardInterrupt") == 1, errors


@pytest.mark.parametrize("ending", ["", "raise ValueError", "sys.exit(3)"])
def test_a_parent_that_never_closes_its_vector_ends(tmp_path: Path, ending: str) -> None:
    script = tmp_path / "main.py"
    lines = SCRIPT.replace("    env.step(np.zeros(2, np.int64))\n", f"    {ending}\n")
    script.write_text(lines)
    done = subprocess.run(
        [sys.executable, str(script), "never"],
        env=os.environ
        | {"PYTHONPATH": str(Path(__file__).parents[2] / "support"), "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=LONG,
        check=False,
    )
    assert done.returncode == {"": 0, "raise ValueError": 1, "sys.exit(3)": 3}[ending], done.stderr
    assert list(tmp_path.iterdir()) == [script], "the logs of its workers are removed"


def _sleeps(folder: Path, stage: str) -> bool:
    for log in folder.glob("warpzone-workers-*/worker-1.jsonl"):
        return any((row["stage"], row["event"]) == (stage, "begin") for row in read_log(log))
    return False


def test_script_without_a_guard_is_told_what_it_lacks(tmp_path: Path) -> None:
    script = tmp_path / "main.py"
    script.write_text(
        "from fault_env import FaultMaker\n"
        "from warpzone.envs.vectors.options import WorkerOptions\n"
        "from warpzone.envs.vectors.process_env import ProcessVectorEnv\n"
        "ProcessVectorEnv([FaultMaker(0)], workers=WorkerOptions(replacements=0))\n"
    )
    environment = os.environ | {
        "PYTHONPATH": str(Path(__file__).parents[2] / "support"),
        "TMPDIR": str(tmp_path),
    }
    result = subprocess.run(
        [sys.executable, str(script)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=LONG,
        check=False,
    )
    assert result.returncode == 1
    assert "needs `if __name__ == '__main__':`" in result.stderr
