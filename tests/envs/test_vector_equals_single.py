"""The vector env plays as the single env does, step by step and bit by bit.

Lane i of a vector env that was reset with seed s equals the single env reset with seed s + i.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from env_support import (
    ReferenceLanes,
    assert_same_info,
    assert_same_obs,
    held_actions,
    lane_obs,
)

import warpzone
from warpzone import _native

SEED = 7


def compare(steps: int, lanes: int = 2, level: Any = "1-1", **options: Any) -> int:
    """Plays both and compares everything; returns how many episodes ended."""
    env = warpzone.make_vec(level, num_envs=lanes, num_threads=2, **options)
    reference = ReferenceLanes(lanes, level, **options)
    obs, info = env.reset(seed=SEED)
    for lane, (single_obs, single_info) in enumerate(reference.reset(SEED)):
        assert_same_obs(lane_obs(obs, lane), single_obs, f"at reset, lane {lane}")
        assert_same_info(info, lane, single_info, f"at reset, lane {lane}")
    count = int(env.single_action_space.n)  # type: ignore[attr-defined]
    ended = 0
    for number, actions in enumerate(held_actions(SEED, lanes, steps, count)):
        obs, reward, terminated, truncated, info = env.step(actions)
        for lane in range(lanes):
            where = f"at step {number}, lane {lane}"
            step = reference.step(lane, int(actions[lane]))
            assert_same_obs(lane_obs(obs, lane), step.obs, where)
            assert reward[lane] == np.float32(step.reward), where
            assert terminated[lane] == step.terminated, where
            assert truncated[lane] == step.truncated, where
            assert_same_info(info, lane, step.info, where)
            if step.final_obs is not None:
                assert info["_final_obs"][lane], where
                assert_same_obs(lane_obs(info["final_obs"], lane), step.final_obs, where)
                assert info["_final_info"][lane], where
                assert_same_info(info["final_info"], lane, step.final_info, where)
            elif "_final_obs" in info:
                assert not info["_final_obs"][lane], where
            ended += step.ended
        if env.config.autoreset == "disabled" and (terminated | truncated).any():
            compare_masked_reset(env, reference, obs, terminated | truncated)
    env.close()
    return ended


def compare_masked_reset(
    env: warpzone.MarioVectorEnv, reference: ReferenceLanes, before: Any, mask: Any
) -> None:
    obs, info = env.reset(options={"reset_mask": mask})
    for lane in range(env.num_envs):
        where = f"after a masked reset, lane {lane}"
        if mask[lane]:
            single_obs, single_info = reference.reset_lane(lane)
            assert_same_obs(lane_obs(obs, lane), single_obs, where)
            assert_same_info(info, lane, single_info, where)
        else:
            assert_same_obs(lane_obs(obs, lane), lane_obs(before, lane), where)


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"obs": "pixels"}, id="pixels"),
        pytest.param({"obs": "pixels", "stack": 1}, id="pixels-unstacked"),
        pytest.param({"obs": "pixels", "hud": "mask"}, id="pixels-masked"),
        pytest.param({"obs": "pixels", "hud": "crop"}, id="pixels-cropped"),
        pytest.param({"obs": "pixels", "show_buttons": True, "max_pool": True}, id="with-buttons"),
        pytest.param({"obs": "pixels", "size": (61, 83), "stack": 2}, id="pixels-exact-shrink"),
        pytest.param({"obs": "pixels", "size": (120, 128)}, id="pixels-halved"),
        pytest.param({"obs": "pixels", "size": (240, 256), "stack": 1}, id="pixels-full"),
        pytest.param({"obs": "pixels", "size": 8}, id="pixels-smallest"),
        pytest.param({"obs": "pixels", "size": (97, 31), "hud": "crop"}, id="pixels-odd-cropped"),
        pytest.param({"obs": "pixels", "max_pool": True}, id="pixels-max-pool"),
        pytest.param({"obs": "pixels", "max_pool": True, "hud": "mask"}, id="max-pool-masked"),
        pytest.param({"obs": "rgb"}, id="rgb"),
        pytest.param({"obs": "rgb", "size": (60, 77), "stack": 4}, id="rgb-stacked"),
        pytest.param({"obs": "rgb", "size": 84, "hud": "mask"}, id="rgb-masked"),
        pytest.param({"obs": "rgb", "hud": "crop", "stack": 2}, id="rgb-cropped"),
        pytest.param({"obs": "rgb", "size": 60, "max_pool": True}, id="rgb-max-pool"),
        pytest.param(
            {"obs": "rgb", "size": 84, "max_pool": True, "stack": 3, "channels": "first"},
            id="rgb-channels-first",
        ),
        pytest.param({"obs": "rgb", "channels": "first"}, id="rgb-channels-first-full"),
        pytest.param({"obs": "rgb", "size": (300, 400)}, id="rgb-enlarged"),
        pytest.param({"obs": "pixels", "size": (480, 512), "stack": 2}, id="pixels-doubled"),
        pytest.param({"obs": "pixels", "size": (250, 300), "hud": "crop"}, id="pixels-enlarged"),
        pytest.param({"obs": "tiles"}, id="tiles"),
        pytest.param({"obs": "tiles", "stack": 1}, id="tiles-unstacked"),
        pytest.param({"obs": "tiles", "stack": 4}, id="tiles-stacked"),
    ],
)
def test_observations_are_equal(options: dict[str, Any]) -> None:
    assert compare(30, max_steps=17, **options) > 0


@pytest.mark.parametrize("frame_skip", [1, 2, 4])
@pytest.mark.parametrize(
    "sticky",
    [
        {"sticky_prob": 0.0},
        {"sticky_prob": 0.25},
        {"sticky_prob": 0.25, "sticky": "step"},
        {"sticky_prob": 0.7, "sticky": "step"},
    ],
)
def test_frame_skip_and_sticky_actions_are_equal(frame_skip: int, sticky: dict[str, Any]) -> None:
    compare(80, frame_skip=frame_skip, size=(42, 42), max_pool=True, **sticky)


@pytest.mark.parametrize("autoreset", ["next-step", "same-step", "disabled"])
@pytest.mark.parametrize("obs", ["pixels", "tiles"])
def test_every_way_to_go_on_after_an_end_is_equal(autoreset: str, obs: str) -> None:
    ended = compare(
        60,
        lanes=3,
        autoreset=autoreset,
        obs=obs,
        max_steps=13,
        noop_max=30,
        sticky_prob=0.25,
        level="1-1,8-1",
    )
    assert ended >= 9


@pytest.mark.parametrize("autoreset", ["next-step", "same-step", "disabled"])
def test_real_deaths_end_both(autoreset: str) -> None:
    ended = compare(
        160, lanes=2, autoreset=autoreset, actions=["RIGHT+B", "RIGHT"], obs="tiles", level="1-1"
    )
    assert ended >= 2


def test_levels_drawn_at_random_are_equal() -> None:
    levels = ["1-1", "1-2", "2-2", "4-4", "7-1"]
    assert compare(60, level=levels, level_order="random", max_steps=9, obs="tiles") > 6


def test_levels_in_turn_are_equal() -> None:
    compare(40, lanes=4, level="1-2,2-2,4-4,8-4", size=32)


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"noop_max": 30}, id="noop-starts"),
        pytest.param(
            {"noop_max": 30, "game_start_prob": 0.5, "max_steps": 5}, id="starts as in a game"
        ),
        pytest.param({"power": 1}, id="big"),
        pytest.param({"random_power": 0.7, "noop_max": 5}, id="random power"),
        pytest.param({"reseed_game": True, "noop_max": 5, "level": "1-4"}, id="reseeded game"),
        pytest.param({"power": 2, "actions": "complex"}, id="fire"),
        pytest.param({"halfway": True, "level": "3-1"}, id="halfway"),
        pytest.param({"stagnation_limit": 10, "actions": ["LEFT"]}, id="stagnation"),
        pytest.param({"max_steps": 5}, id="max-steps"),
        pytest.param({"one_life": False, "stagnation_limit": 40}, id="several-lives"),
        pytest.param({"one_level": False}, id="several-levels"),
        pytest.param({"level": "game"}, id="whole-game"),
        pytest.param({"game": "lost-levels", "level": "1-1,2-1"}, id="lost-levels"),
        pytest.param({"actions": [0x80, 0x81, 0x20, 0x08]}, id="custom-actions"),
        pytest.param({"weights": {"time": 0.5, "distance": (1.0, 0.0, 40)}}, id="weights"),
    ],
)
def test_starts_ends_and_rewards_are_equal(options: dict[str, Any]) -> None:
    compare(60, size=24, stack=2, **options)


@pytest.mark.parametrize("level", ["1-1", "1-2", "game"])
@pytest.mark.parametrize("frame_skip", [1, 4])
def test_the_classic_reward_is_equal(level: str, frame_skip: int) -> None:
    compare(120, level=level, reward="classic", frame_skip=frame_skip, size=32, max_pool=True)


def test_a_start_state_is_equal() -> None:
    scout = warpzone.MarioEnv("1-1")
    scout.reset(seed=0)
    for action in [3] * 20:
        scout.step(action)
    compare(30, start_state=scout.console.save(), max_steps=11, noop_max=5, size=32)


def test_the_literal_path_is_equal() -> None:
    compare(12, exact=True, size=32)


@pytest.mark.parametrize("seed", range(12))
def test_parameters_at_random_are_equal(seed: int) -> None:
    rng = np.random.default_rng(seed)
    levels = rng.choice(_native.level_names("smb"), size=3).tolist()
    obs = str(rng.choice(["pixels", "pixels", "rgb", "tiles"]))
    compare(
        int(rng.integers(40, 90)),
        lanes=3,
        level=levels,
        level_order=str(rng.choice(["cycle", "random"])),
        obs=obs,
        size=(int(rng.integers(8, 209)), int(rng.integers(8, 257))),
        stack=int(rng.integers(1, 5)),
        frame_skip=int(rng.integers(1, 6)),
        max_pool=obs == "pixels" and bool(rng.integers(2)),
        hud=str(rng.choice(["keep", "mask", "crop"])),
        actions=str(rng.choice(["right-only", "simple", "complex", "extended"])),
        sticky_prob=float(rng.choice([0.0, 0.25, 0.9])),
        noop_max=int(rng.choice([0, 1, 30])),
        game_start_prob=float(rng.choice([0.0, 0.5, 1.0])),
        reward=str(rng.choice(["shaped", "shaped", "classic"])),
        autoreset=str(rng.choice(["next-step", "same-step", "disabled"])),
        power=int(rng.integers(3)),
        random_power=float(rng.choice([0.0, 0.5, 1.0])),
        reseed_game=bool(rng.integers(2)),
        halfway=bool(rng.integers(2)),
        max_steps=int(rng.choice([0, 7, 40])),
        stagnation_limit=int(rng.choice([0, 8])),
        one_life=[None, True, False][rng.integers(3)],
        one_level=[None, True, False][rng.integers(3)],
    )
