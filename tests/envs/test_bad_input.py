"""Wrong input is answered with one sentence that says what is wrong; nothing crashes or changes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import warpzone
from warpzone import _native
from warpzone.envs.vectors.make import make_vector_env
from warpzone.errors import ClosedError, ConfigError, RomError, StateError, WarpzoneError

LANES = 3


@pytest.fixture(scope="module")
def env() -> warpzone.MarioVectorEnv:
    made = warpzone.make_vec("1-1", num_envs=LANES, num_threads=2)
    made.reset(seed=0)
    return made


def refusal(call: Callable[[], Any], *kinds: type[Exception]) -> str:
    """The one sentence that `call` is refused with."""
    with pytest.raises(kinds or (ConfigError,)) as raised:
        call()
    text = str(raised.value)
    assert text
    assert "\n" not in text, "one sentence, no dump"
    assert "incompatible function arguments" not in text
    assert "Traceback" not in text
    return text


@pytest.mark.parametrize(
    ("actions", "part"),
    [
        ([0, 0], "shape (2,)"),
        ([0] * 4, "shape (4,)"),
        (0, "shape ()"),
        ([[0, 0, 0]], "shape (1, 3)"),
        ([], "float64"),
        ([0, 0, 7], "action 7 of env 2 does not exist; actions are 0 to 6"),
        ([0, -1, 0], "action -1 of env 1"),
        (np.array([0, 0, 2**40]), "env 2"),
        (np.array([2**63, 0, 0], np.uint64), "env 0"),
        (np.array([0, 0, -(2**40)]), "env 2"),
        ([0.0, 1.0, 2.0], "integers, not float64"),
        (np.array([0, np.nan, 0]), "float64"),
        (np.array([0, np.inf, 0], np.float32), "float32"),
        (np.array([True, False, True]), "bool"),
        (np.array([1 + 2j] * 3), "complex128"),
        (["0", "1", "2"], "integers"),
        ("012", "integers"),
        (None, "integers"),
        ([0, None, 0], "integers"),
        ([[0], [0, 1], 0], "3 integers"),
        (np.array(["2020-01-01"] * 3, "datetime64[D]"), "datetime64"),
        ({"a": 1}, "integers"),
    ],
)
def test_wrong_actions_are_refused_and_no_lane_moves(
    env: warpzone.MarioVectorEnv, actions: Any, part: str
) -> None:
    before = env.ram()
    assert part in refusal(lambda: env.step(actions))
    assert part in refusal(lambda: env.step_into(actions, *buffers()))
    np.testing.assert_array_equal(env.ram(), before)


def buffers() -> list[Any]:
    return [
        np.zeros((LANES, 4, 84, 84), np.uint8),
        np.zeros(LANES, np.float32),
        np.zeros(LANES, np.bool_),
        np.zeros(LANES, np.bool_),
    ]


@pytest.mark.parametrize(
    "dtype", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]
)
def test_actions_of_every_whole_type_are_taken(env: warpzone.MarioVectorEnv, dtype: Any) -> None:
    env.step(np.ones(LANES, dtype))
    env.step(np.ones((LANES, 2), dtype)[:, 0])
    env.step(np.ones(LANES, np.dtype(dtype).newbyteorder()))


def read_only(array: Any) -> Any:
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    ("place", "array"),
    [
        (0, np.zeros((LANES - 1, 4, 84, 84), np.uint8)),
        (0, np.zeros((LANES, 4, 84, 84), np.int8)),
        (0, np.zeros((LANES, 4, 84, 84), np.float32)),
        (0, np.zeros((LANES, 4, 84, 85), np.uint8)[..., :84]),
        (0, np.asfortranarray(np.zeros((LANES, 4, 84, 84), np.uint8))),
        (0, np.zeros((LANES * 2, 4, 84, 84), np.uint8)[::2]),
        (0, read_only(np.zeros((LANES, 4, 84, 84), np.uint8))),
        (0, None),
        (0, [0] * 10),
        (0, {"tiles": np.zeros(3, np.uint8)}),
        (0, {}),
        (0, "obs"),
        (1, np.zeros(LANES, np.float64)),
        (1, np.zeros(LANES + 1, np.float32)),
        (1, np.zeros(LANES * 2, np.float32)[::2]),
        (1, read_only(np.zeros(LANES, np.float32))),
        (1, None),
        (1, [0.0] * LANES),
        (2, np.zeros(LANES, np.float32)),
        (2, np.zeros(LANES, np.int64)),
        (2, np.zeros(LANES - 1, np.bool_)),
        (2, [False] * LANES),
        (2, np.zeros(1, f"S{LANES}")),
        (3, np.zeros(LANES, np.int8)),
        (2, None),
        (3, np.zeros(LANES * 2, np.bool_)[::2]),
        (3, read_only(np.zeros(LANES, np.bool_))),
        (3, np.zeros(0, np.bool_)),
    ],
)
def test_buffers_that_cannot_be_written_are_refused_not_copied(
    env: warpzone.MarioVectorEnv, place: int, array: Any
) -> None:
    arrays = buffers()
    arrays[place] = array
    before = env.ram()
    refusal(lambda: env.step_into([0] * LANES, *arrays))
    np.testing.assert_array_equal(env.ram(), before)


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"num_envs": 0}, "num_envs is 0"),
        ({"num_envs": -4}, "num_envs is -4"),
        ({"num_envs": 10**9}, "at most"),
        ({"num_envs": 2.5}, "num_envs is 2.5"),
        ({"num_envs": "16"}, "num_envs is '16'"),
        ({"num_envs": None}, "num_envs is None"),
        ({"num_threads": 0}, "num_threads is 0"),
        ({"num_threads": 1.0}, "num_threads is 1.0"),
        ({"render_mode": "human"}, "render_mode is 'human'"),
        ({"frameskip": 4}, "did you mean 'frame_skip'?"),
        ({"levels": ["1-1"]}, "did you mean 'level'?"),
        ({"level": "9-1"}, 'unknown level "9-1"; levels are 1-1 to 8-4'),
        ({"level": "1-5"}, "1-5"),
        ({"level": ""}, "unknown level"),
        ({"level": []}, "at least one level"),
        ({"level": 11}, "level is 11"),
        ({"level": None}, "level is None"),
        ({"level": [1, 2]}, "level 1 is not text"),
        ({"level": "5-1", "game": "lost-levels"}, "1-1 to 4-4"),
        ({"level_order": "shuffle"}, "one of 'cycle', 'random'"),
        ({"obs": "ram"}, "one of 'pixels', 'rgb', 'tiles'"),
        ({"obs": 3}, "obs is 3"),
        ({"size": 7}, "from 8 to 2048"),
        ({"size": (84, 2049)}, "width is 2049; it must be from 8 to 2048"),
        ({"size": (2049, 84), "hud": "crop"}, "height is 2049; it must be from 8 to 2048"),
        ({"size": (84, 84, 3)}, "a pair"),
        ({"size": 84.0}, "a pair"),
        ({"size": "84"}, "a pair"),
        ({"stack": 17}, "from 0 to 16"),
        ({"stack": -1}, "from 0 to 16"),
        ({"stack": 4.0}, "stack is 4.0; it must be an integer"),
        ({"stack": 2**70}, "an integer"),
        ({"frame_skip": 0}, "from 1 to 60"),
        ({"frame_skip": 61}, "from 1 to 60"),
        ({"max_pool": "yes"}, "True or False"),
        ({"max_pool": True, "obs": "tiles"}, "max_pool is True; it must be False when obs is"),
        ({"channels": "middle", "obs": "rgb"}, "one of 'last', 'first'"),
        ({"channels": "first"}, "channels is 'first'; it must be 'last' unless obs is 'rgb'"),
        ({"channels": "first", "obs": "tiles"}, "'last' unless obs is 'rgb'"),
        ({"sticky": "always"}, "one of 'frame', 'step'"),
        ({"sticky": 1}, "sticky is 1"),
        ({"hud": "off"}, "one of 'keep', 'mask', 'crop'"),
        ({"show_buttons": True, "obs": "rgb"}, "False unless obs is 'pixels'"),
        ({"actions": "hard"}, "right-only, simple, whole-game, complex, extended"),
        ({"actions": "NOOP,RIGHT+C"}, "'C' is not a button"),
        ({"actions": "RIGHT+C"}, "'C' is not a button"),
        ({"actions": []}, "empty"),
        ({"actions": None}, "actions: None"),
        ({"actions": 7}, "actions: 7"),
        ({"actions": ["RIGHT+C"]}, "'C' is not a button"),
        ({"actions": [["A", 3]]}, "3 is not a button"),
        ({"actions": [256]}, "256 is not a controller byte"),
        ({"actions": [-1]}, "-1 is not a controller byte"),
        ({"actions": [1.5]}, "1.5 is not a combination"),
        ({"actions": [None]}, "None is not a combination"),
        ({"actions": [0] * 257}, "from 1 to 256"),
        ({"sticky_prob": 1.0}, "below 1"),
        ({"sticky_prob": -0.1}, "at least 0"),
        ({"sticky_prob": float("nan")}, "sticky_prob is nan"),
        ({"sticky_prob": "often"}, "a number"),
        ({"noop_max": 1001}, "from 0 to 1000"),
        ({"noop_max": -1}, "from 0 to 1000"),
        ({"game_start_prob": 1.5}, "from 0 to 1"),
        ({"game_start_prob": float("nan")}, "from 0 to 1"),
        ({"reward": "sparse"}, "one of 'shaped', 'classic'"),
        ({"autoreset": "off"}, "one of 'next-step', 'same-step', 'disabled'"),
        ({"power": 3}, "from 0 to 2"),
        ({"random_power": 1.5}, "from 0 to 1"),
        ({"random_power": float("nan")}, "from 0 to 1"),
        ({"reseed_game": 1.5}, "True or False"),
        ({"start_random_steps": -1}, "from 0 to 1000"),
        ({"halfway": "yes"}, "True or False"),
        ({"max_steps": -1}, "from 0 to"),
        ({"stagnation_limit": 10**8}, "from 0 to"),
        ({"one_life": "no"}, "True, False or None"),
        ({"exact": None}, "True or False"),
        ({"start_state": "text"}, "bytes"),
        ({"game": "smb3"}, "smb, lost-levels"),
        ({"rom": 5}, "rom is 5"),
        ({"weights": 5}, "weights are 5"),
        ({"weights": {1: 2}}, "weights are"),
        ({"weights": {"speed": 1}}, "'speed' is not a reward weight; choose from scale, "),
        ({"weights": {"distance": float("inf")}}, "finite"),
        ({"weights": {"distance": 10**400}}, "distance is"),
        ({"weights": {"distance": (1, 2)}}, "(start, end, steps)"),
        ({"weights": {"distance": (1, float("nan"), 3)}}, "finite"),
        ({"weights": {"score": "x"}}, "a number"),
        (
            {"weights": {"distance": (1, 2, -3)}},
            "annealed over -3 steps; give 0 or more",
        ),
        ({"weights": {"milestone_pixels": 1.5}}, "milestone_pixels is 1.5"),
        ({"weights": {"milestone_pixels": 0}}, "milestone_pixels is 0; it must be at least 1"),
        ({"weights": {"milestone_pixels": -8}}, "milestone_pixels is -8; it must be at least 1"),
        ({"weights": {"early_steps": -1}}, "early_steps is -1; it must be at least 0"),
    ],
)
def test_wrong_parameters_are_named_with_what_is_allowed(
    options: dict[str, Any], part: str
) -> None:
    assert part in refusal(lambda: warpzone.make_vec(**options))
    if not {"num_envs", "num_threads"} & set(options):
        assert part in refusal(lambda: warpzone.MarioEnv(**options))


def test_the_pool_refuses_an_unknown_game(rom_path: Path) -> None:
    image, config = rom_path.read_bytes(), _native.EnvConfig()
    message = refusal(lambda: _native.Pool(image, "smb3", config, 1, 1))
    assert message == "game is 'smb3'; it must be 'smb' or 'lost-levels'"


@pytest.mark.parametrize("make", [warpzone.make_vec, warpzone.MarioEnv])
def test_a_missing_image_and_a_wrong_state_have_errors_of_their_own(make: Any) -> None:
    assert "no.nes" in refusal(lambda: make(rom="/no.nes"), RomError)

    def begin() -> None:
        make(start_state=b"12345").reset(seed=0)

    assert "only 5 bytes" in refusal(begin, StateError)


@pytest.mark.parametrize(
    ("seed", "part"),
    [
        (-1, "seeds go from 0"),
        (2**64, "seeds go from 0"),
        ([1, 2], "seed has 2 items; for 3 environments it must have 3"),
        ([1, 2, -3], "seeds go from 0"),
        (1.5, "seed is 1.5"),
        ("abc", "seed is 'abc'"),
        ([1, 2, 3.5], "an integer"),
        ({"a": 1}, "an integer"),
    ],
)
def test_wrong_seeds_are_refused(env: warpzone.MarioVectorEnv, seed: Any, part: str) -> None:
    before = env.ram()
    assert part in refusal(lambda: env.reset(seed=seed))
    np.testing.assert_array_equal(env.ram(), before)


@pytest.mark.parametrize(
    "mask", [[1, 0, 1], [True], np.ones((3, 1), np.bool_), "yes", 1, [None] * 3, np.ones(3)]
)
def test_wrong_reset_masks_are_refused(env: warpzone.MarioVectorEnv, mask: Any) -> None:
    assert "3 booleans" in refusal(lambda: env.reset(options={"reset_mask": mask}))
    assert "dict" in refusal(lambda: env.reset(options=mask))


def test_unknown_reset_options_are_refused(env: warpzone.MarioVectorEnv) -> None:
    before = env.ram()
    wrong = {"reset_masks": np.ones(LANES, np.bool_)}
    assert "'reset_masks' is not a reset option" in refusal(lambda: env.reset(options=wrong))
    np.testing.assert_array_equal(env.ram(), before)
    single = warpzone.MarioEnv("1-1")
    assert "the only one is 'state'" in refusal(lambda: single.reset(options={"level": "1-2"}))
    assert "bytes" in refusal(lambda: single.reset(options={"state": "text"}))


@pytest.mark.parametrize("lanes", [[3], [-1], [0, 99], "x", 1.5, [0.5], [None], 3])
def test_lanes_that_do_not_exist_are_refused_before_anything_is_done(
    env: warpzone.MarioVectorEnv, lanes: Any
) -> None:
    blob = env.save_state(2)
    env.step([1, 2, 3])
    before = env.ram(), env.levels()
    refusal(lambda: env.load_state(blob, lanes))
    refusal(lambda: env.set_level("8-4", lanes))
    refusal(lambda: env.set_start_state(blob, lanes))
    refusal(lambda: env.set_route([(0, 0, 0)], lanes))
    refusal(lambda: env.set_step_limit(5, lanes))
    np.testing.assert_array_equal(env.ram(), before[0])
    assert env.levels() == before[1]


def test_wrong_states_levels_and_routes_are_refused(env: warpzone.MarioVectorEnv) -> None:
    for blob in ("text", None, 5, [1, 2]):
        assert "bytes" in refusal(lambda blob=blob: env.load_state(blob))
    for blob in (b"", b"x", bytes(100_000)):
        refusal(lambda blob=blob: env.load_state(blob), StateError)
        refusal(lambda blob=blob: env.set_start_state(blob), StateError)
    for level in ("0-1", "1-1,1-2", 11, None):
        refusal(lambda level=level: env.set_level(level))
    for way in ([(1, 2)], "abc", 5, [5], [(1.5, 2, 3)], [(2**20, 0, 0)], [(1, 2**31 - 1, 0)]):
        refusal(lambda way=way: env.set_route(way))
    refusal(lambda: env.set_route([(1, -(2**31), 2**31 - 1)]))
    refusal(lambda: env.set_route([(1, 2**40, 0)]))
    for steps in (-1, 1.5, "many", None, 2**40):
        assert "step limit" in refusal(lambda steps=steps: env.set_step_limit(steps))


@pytest.mark.parametrize(
    "action", [7, -1, 2**80, 1.0, float("nan"), "1", None, [1], np.array([1]), np.array(1.0), {}]
)
def test_the_single_environment_refuses_wrong_actions(action: Any) -> None:
    env = warpzone.MarioEnv("1-1")
    env.reset(seed=0)
    before = env.ram()
    assert "does not exist; actions are 0 to 6" in refusal(lambda: env.step(action))
    np.testing.assert_array_equal(env.ram(), before)
    env.step(np.array(1))


def test_the_single_environment_wants_a_reset_first() -> None:
    env = warpzone.MarioEnv("1-1", max_steps=1)
    assert "reset" in refusal(lambda: env.step(0), gym.error.ResetNeeded)
    env.reset(seed=0)
    env.step(0)
    assert "reset" in refusal(lambda: env.step(0), gym.error.ResetNeeded)


def test_a_closed_environment_says_so() -> None:
    env = warpzone.make_vec("1-1", num_envs=1, render_mode="rgb_array")
    env.reset(seed=0)
    blob = env.save_state(0)
    env.close()
    env.close()
    calls: list[Callable[[], Any]] = [
        lambda: env.step([0]),
        lambda: env.step_into([0], *buffers()),
        env.reset,
        env.observe,
        env.ram,
        env.render,
        env.levels,
        env.reward_weights,
        lambda: env.save_state(0),
        lambda: env.load_state(blob),
        lambda: env.set_level("1-2"),
        lambda: env.set_start_state(blob),
        lambda: env.set_route(None),
        lambda: env.set_step_limit(0),
        lambda: env.set_reward_weights(time=1.0),
        lambda: env.native_seconds,
    ]
    for call in calls:
        assert "closed; create a new one" in refusal(call, ClosedError)


@pytest.mark.parametrize("render_mode", [None, "rgb_array"])
def test_a_closed_single_environment_says_so(render_mode: Any) -> None:
    env = warpzone.MarioEnv("1-1", obs="tiles", render_mode=render_mode)
    env.reset(seed=0)
    env.close()
    env.close()
    for call in (lambda: env.step(0), env.reset, env.render, env.ram):
        assert "closed; create a new one" in refusal(call, ClosedError)


def test_a_closed_vector_of_gymnasium_says_so() -> None:
    env = make_vector_env("1-1", num_envs=1, vector="sync", obs="tiles", render_mode="rgb_array")
    env.reset(seed=0)
    env.close()
    env.close()
    for call in (lambda: env.step([0]), env.reset, env.render):
        assert "closed; create a new one" in refusal(call, ClosedError)


def test_every_error_is_a_warpzone_error_and_what_python_would_raise() -> None:
    assert issubclass(ConfigError, ValueError)
    assert issubclass(StateError, ValueError)
    assert issubclass(ClosedError, RuntimeError)
    for kind in (ConfigError, StateError, RomError, ClosedError):
        assert issubclass(kind, WarpzoneError)
