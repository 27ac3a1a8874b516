"""Scripts for gym-super-mario-bros run after their import lines are changed."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from warpzone.compat import (
    COMPLEX_MOVEMENT,
    RIGHT_ONLY,
    SIMPLE_MOVEMENT,
    JoypadSpace,
    four_tuple,
    gym_super_mario_bros,
)
from warpzone.errors import ConfigError

# The example of the package's own page, with fewer steps; only the imports differ.
GYM_SCRIPT = """
{imports}
env = gym_super_mario_bros.make('SuperMarioBros-v0')
env = JoypadSpace(env, SIMPLE_MOVEMENT)

done = True
for step in range(50):
    if done:
        state = env.reset()
    state, reward, done, info = env.step(env.action_space.sample())
    env.render()

env.close()
print(state.shape, sorted(info)[:3])
"""
GYMNASIUM_SCRIPT = """
{imports}
env = JoypadSpace(gym_super_mario_bros.make("SuperMarioBros-1-1-v0"), SIMPLE_MOVEMENT)
state, info = env.reset(seed=0)
for step in range(50):
    state, reward, terminated, truncated, info = env.step(env.action_space.sample())
    if terminated or truncated:
        state, info = env.reset()
env.close()
print(state.shape, info["world"], info["stage"])
"""


def run(script: str, imports: str) -> str:
    command = [sys.executable, "-c", script.format(imports=imports)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_script_of_gym_runs_with_one_changed_import() -> None:
    names = "JoypadSpace, SIMPLE_MOVEMENT, gym_super_mario_bros"
    printed = run(GYM_SCRIPT, f"from warpzone.compat.four_tuple import {names}")
    assert printed.startswith("(240, 256, 3) ")


def test_a_script_of_gymnasium_runs_with_one_changed_import() -> None:
    names = "JoypadSpace, SIMPLE_MOVEMENT, gym_super_mario_bros"
    assert run(GYMNASIUM_SCRIPT, f"from warpzone.compat import {names}") == "(240, 256, 3) 1 1\n"


def test_action_lists_are_those_of_the_package() -> None:
    assert RIGHT_ONLY == [["NOOP"], ["right"], ["right", "A"], ["right", "B"], ["right", "A", "B"]]
    assert [*RIGHT_ONLY, ["A"], ["left"]] == SIMPLE_MOVEMENT
    assert COMPLEX_MOVEMENT[7:] == [
        *(["left", "A"], ["left", "B"], ["left", "A", "B"], ["down"], ["up"]),
    ]


def test_an_action_is_the_controller_byte_of_its_buttons(rom_path: object) -> None:
    joypad = JoypadSpace(gym_super_mario_bros.make("SuperMarioBros-1-1-v0"), COMPLEX_MOVEMENT)
    plain = gym_super_mario_bros.make("SuperMarioBros-1-1-v0")
    joypad.reset(seed=0)
    plain.reset(seed=0)
    for action, byte in ((3, 0x82), (4, 0x83), (9, 0x43), (10, 0x20), (0, 0)):
        left, right = joypad.step(action), plain.step(byte)
        np.testing.assert_array_equal(left[0], right[0])
        assert left[1:4] == right[1:4]
    assert joypad.get_action_meanings()[:3] == ["NOOP", "right", "right A"]
    assert joypad.action_space.n == 12


@pytest.mark.parametrize(
    ("name", "keywords", "level"),
    [
        ("SuperMarioBros-v0", {}, "1-1"),
        ("SuperMarioBros-8-4-v0", {}, "8-4"),
        ("SuperMarioBrosRandomStages-v0", {"stages": ["4-2"]}, "4-2"),
        ("SuperMarioBros2-v0", {}, "1-1"),
    ],
)
def test_old_ids_play_the_same_level(name: str, keywords: dict[str, Any], level: str) -> None:
    _, info = gym_super_mario_bros.make(name, **keywords).reset(seed=0)
    assert f"{info['world']}-{info['stage']}" == level


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("SuperMarioBros-1-1-v2", "use -v0"),
        ("SuperMarioBros-9-9-v0", "9-9"),
        ("SuperLuigi-v0", "is not an id"),
        ("SuperMarioBros2-1-1-v0", "is not an id"),
    ],
)
def test_an_id_that_cannot_be_played_is_refused(name: str, sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        gym_super_mario_bros.make(name)


def test_a_truncated_episode_is_done_with_the_old_signature(rom_path: object) -> None:
    env = four_tuple.make("SuperMarioBros-1-1-v0", max_steps=2)
    env.reset()
    env.step(0)
    _, _, done, info = env.step(0)
    assert done
    assert info["TimeLimit.truncated"]
    assert env.render(mode="rgb_array").shape == (240, 256, 3)
