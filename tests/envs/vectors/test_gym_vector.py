"""Games in Gymnasium's vectors equal our pool, lane by lane and step by step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from log_support import logged

from warpzone.envs.vectors.gym_vector import GymVectorEnv
from warpzone.envs.vectors.make import make_vector_env
from warpzone.envs.vectors.options import WorkerOptions
from warpzone.errors import ConfigError, StateError, WorkerError

LANES = 3


def assert_same(ours: Any, theirs: Any, where: str) -> None:
    if isinstance(ours, dict):
        assert set(ours) == set(theirs), where
        for name in ours:
            assert_same(ours[name], theirs[name], f"{name} {where}")
    else:
        np.testing.assert_array_equal(ours, theirs, err_msg=where)


def play(vector: Any, steps: int, **options: Any) -> list[Any]:
    games = make_vector_env("1-1,1-2", num_envs=LANES, vector=vector, num_threads=1, **options)
    rng = np.random.default_rng(0)
    try:
        results: list[Any] = [games.reset(seed=5)]
        for _ in range(steps):
            results.append(games.step(rng.integers(0, 7, LANES)))
            assert len(games.levels()) == LANES
        return results
    finally:
        games.close()


@pytest.mark.parametrize("autoreset", ["same-step", "next-step"])
@pytest.mark.parametrize("vector", ["sync", "async"])
def test_vector_equals_the_pool(vector: str, autoreset: str) -> None:
    options = {
        "obs": "pixels" if autoreset == "next-step" else "tiles",
        "autoreset": autoreset,
        "max_steps": 25,
        "sticky_prob": 0.25,
        "noop_max": 10,
        "level_order": "random",
    }
    pool, other = play("native", 60, **options), play(vector, 60, **options)
    ended = 0
    for number, (ours, theirs) in enumerate(zip(pool, other, strict=True)):
        for part, expected in zip(theirs[:-1], ours[:-1], strict=True):
            assert_same(expected, part, f"step {number}")
        info, told = dict(ours[-1]), dict(theirs[-1])
        if "final_obs" in info:
            lanes = info["_final_obs"]
            ended += int(lanes.sum())
            final, other_final = info.pop("final_obs"), told.pop("final_obs")
            for name in final:
                assert_same(final[name][lanes], other_final[name][lanes], f"step {number}")
            del info["final_info"], told["final_info"]
        assert_same(info, told, f"info of step {number}")
    assert ended > 0 or autoreset == "next-step"


def test_color_images_and_sticky_steps_equal_the_pool() -> None:
    options: dict[str, Any] = {
        "obs": "rgb",
        "channels": "first",
        "size": (250, 260),
        "max_pool": True,
        "sticky_prob": 0.5,
        "sticky": "step",
    }
    pool, other = play("native", 12, **options), play("sync", 12, **options)
    assert pool[0][0].shape == (LANES, 3, 250, 260)
    for number, (ours, theirs) in enumerate(zip(pool, other, strict=True)):
        for expected, part in zip(ours[:-1], theirs[:-1], strict=True):
            assert_same(expected, part, f"step {number}")


def test_step_into_writes_what_step_returns() -> None:
    stepped = play("sync", 12, obs="tiles", autoreset="same-step")
    games = make_vector_env(
        "1-1,1-2", num_envs=LANES, vector="sync", obs="tiles", autoreset="same-step"
    )
    games.reset(seed=5)
    rng = np.random.default_rng(0)
    obs = {name: np.zeros(box.shape, np.uint8) for name, box in games.observation_space.items()}  # type: ignore[attr-defined]
    reward = np.zeros(LANES, np.float32)
    ends = np.zeros(LANES, np.bool_), np.zeros(LANES, np.bool_)
    for expected in stepped[1:]:
        info = games.step_into(rng.integers(0, 7, LANES), obs, reward, *ends)
        assert_same(expected[0], obs, "obs")
        assert_same(expected[1], reward, "reward")
        assert_same(expected[2], ends[0], "terminated")
        assert_same(expected[4], info, "info")
    games.close()


def test_only_some_lanes_are_reset() -> None:
    games = make_vector_env("1-1", num_envs=LANES, vector="sync", obs="tiles", autoreset="disabled")
    games.reset(seed=0)
    games.step(np.full(LANES, 3))
    mask = np.array([False, True, False])
    _, info = games.reset(options={"reset_mask": mask})
    assert info["steps"].tolist() == [1, 0, 1]
    games.close()


def test_what_only_the_pool_can_do_is_refused() -> None:
    with pytest.raises(ConfigError, match="give --vector async, or --vector sync"):
        make_vector_env(vector="native", backend="nes-py")
    with pytest.raises(ConfigError, match="vector is 'threads'"):
        make_vector_env(vector="threads")  # type: ignore[arg-type]
    games = make_vector_env(vector="sync", obs="tiles")
    assert not games.saves_states
    for refused in (
        lambda: games.save_state(0),
        lambda: games.load_state(b"state"),
        lambda: games.save_console(0),
        lambda: games.set_start_state(None),
    ):
        with pytest.raises(StateError, match="vector='native'"):
            refused()
    with pytest.raises(ConfigError, match="actions are 0 to 6"):
        games.step([7])
    games.close()


def test_falling_back_to_one_process_happens_only_on_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers = WorkerOptions(folder=tmp_path, replacements=0)
    # Workers look for the image themselves; this process has it already.
    games = GymVectorEnv(vector="sync", obs="tiles")
    games.close()
    options: dict[str, Any] = {"vector": "async", "obs": "tiles", "workers": workers}

    def broken(*_: Any, **__: Any) -> None:
        raise WorkerError("worker 0 was killed")

    monkeypatch.setattr("warpzone.envs.vectors.gym_vector.ProcessVectorEnv", _raising(broken))
    with pytest.raises(WorkerError, match="worker 0 was killed"):
        GymVectorEnv(**options)
    with logged("--fallback-sync: all environments run in this process"):
        games = GymVectorEnv(fallback_sync=True, **options)
    assert games.vector == "sync"
    games.reset(seed=0)
    games.close()


def _raising(broken: Any) -> type[Any]:
    """A class, since `isinstance` asks for one, that cannot be made."""
    return type("Broken", (), {"__init__": broken})


def test_nes_py_plays_in_processes() -> None:
    games = make_vector_env(
        "1-1,1-2", num_envs=2, vector="async", backend="nes-py", obs="tiles", autoreset="same-step"
    )
    _, info = games.reset(seed=0)
    assert info["stage"].tolist() == [1, 2]
    for _ in range(12):
        _, _, _, _, info = games.step([3, 3])
    assert (info["x_pos"] > 45).all()
    games.close()


@pytest.mark.parametrize("vector", ["sync", "async"])
def test_screens_can_be_looked_at(vector: Any) -> None:
    games = make_vector_env(num_envs=2, vector=vector, obs="tiles", render_mode="rgb_array")
    games.reset(seed=0)
    screens = games.render()
    assert screens is not None
    assert [screen.shape for screen in screens] == [(240, 256, 3)] * 2
    games.close()


def test_lost_worker_ends_its_episode_and_keeps_what_was_known_of_it() -> None:
    games = GymVectorEnv(num_envs=2, vector="async", obs="tiles", autoreset="same-step")
    games.reset(seed=0)
    for _ in range(10):
        _, _, _, _, before = games.step([3, 3])
    games._env.processes[1].kill()
    games._env.processes[1].join()
    with logged("worker 1 was killed by SIGKILL"):
        _, _, _, truncated, info = games.step([3, 3])
    assert truncated.tolist() == [False, True]
    assert info["progress"][1] == before["progress"][1] > 0
    assert info["final_obs"]["tiles"][1].any()
    _, _, _, _, info = games.step([3, 3])
    assert info["steps"].tolist() == [12, 1]
    games.close()
