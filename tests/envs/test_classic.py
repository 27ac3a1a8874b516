"""`reward="classic"` rewards, ends and tells as gym-super-mario-bros 7.4 does, frame by frame."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from classic_package import LiteralPackage, NesOnWarpzone, real_package
from env_support import STATUS_NAMES, held_actions
from numpy.typing import NDArray

import warpzone
from warpzone.envs.actions import ACTION_SETS, resolve_actions
from warpzone.rom import locate as roms

FIELDS = (
    *("coins", "flag_get", "life", "score", "stage"),
    *("status", "time", "world", "x_pos", "y_pos"),
)
SIMPLE = resolve_actions("simple")


@pytest.fixture(autouse=True)
def _image(rom_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(NesOnWarpzone, "image", roms.load_game(roms.SMB, rom_path))


def frames(seed: int, count: int) -> NDArray[np.int64]:
    """Actions for single frames, held for a few steps of four."""
    return np.repeat(held_actions(seed, 1, count // 4)[:, 0], 4)


def compare(package: Any, level: str, actions: Any, **options: Any) -> dict[str, Any]:
    """Plays one episode on the package, the single and the vector env; returns the last info."""
    options = {"reward": "classic", "frame_skip": 1, "obs": "tiles"} | options
    single = warpzone.MarioEnv(level, **options)
    vector = warpzone.make_vec(level, num_envs=1, num_threads=1, autoreset="disabled", **options)
    single.reset(seed=0)
    vector.reset(seed=0)
    package.begin_at(single.console.save())
    for number, action in enumerate(actions):
        where = f"frame {number}"
        reward, done, info = package.step(SIMPLE[action])
        _, single_reward, terminated, truncated, single_info = single.step(action)
        assert single_reward == reward, where
        assert (terminated, truncated) == (done, False), where
        assert {name: single_info[name] for name in FIELDS} == info, where
        _, rewards, ended, _, told = vector.step([action])
        assert rewards[0] == reward, where
        assert ended[0] == done, where
        for name in FIELDS:
            value = told[name][0]
            assert (STATUS_NAMES[value] if name == "status" else value) == info[name], where
        np.testing.assert_array_equal(vector.ram()[0], single.ram(), where)
        np.testing.assert_array_equal(single.ram(), package.console.ram, where)
        if done:
            return dict(info)
    return dict(info)


@pytest.mark.parametrize("level", ["1-1", "1-2", "2-1", "2-2", "3-3", "4-4", "8-1"])
def test_a_level_is_rewarded_and_told_as_the_package_does(level: str) -> None:
    for seed in range(2):
        compare(LiteralPackage(single_stage=True), level, frames(seed, 600))


@pytest.mark.parametrize("power", [1, 2])
def test_status_names_are_the_packages(power: int) -> None:
    info = compare(LiteralPackage(single_stage=True), "1-1", frames(0, 8), power=power)
    assert info["status"] == STATUS_NAMES[power]


def to_the_flag() -> NDArray[np.int64]:
    return np.tile(np.repeat([4, 3], [32, 16]), 12)


def test_the_flag_ends_a_level(before_the_flag: bytes) -> None:
    package = LiteralPackage(single_stage=True)
    info = compare(package, "1-1", to_the_flag(), start_state=before_the_flag)
    assert info["flag_get"]
    assert package.done


def test_the_whole_game_goes_on_behind_the_flag(before_the_flag: bytes) -> None:
    package = LiteralPackage(single_stage=False)
    info = compare(package, "game", to_the_flag(), start_state=before_the_flag)
    assert (info["world"], info["stage"]) == (1, 2)
    assert not info["flag_get"], "it lasts as long as it does in the game"


def test_the_whole_game_ends_with_the_last_life() -> None:
    package = LiteralPackage(single_stage=False)
    info = compare(package, "game", [3] * 1500)
    assert package.done
    assert info["life"] == 255


def test_frame_skip_adds_the_frames_up() -> None:
    four = warpzone.MarioEnv("1-1", reward="classic", frame_skip=4)
    one = warpzone.MarioEnv("1-1", reward="classic", frame_skip=1)
    four.reset(seed=0)
    one.reset(seed=0)
    for action in held_actions(5, 1, 60)[:, 0]:
        total = 0.0
        for _ in range(4):
            _, reward, done, _, info = one.step(action)
            total += float(reward)
            if done:
                break
        _, reward, terminated, _, told = four.step(action)
        assert reward == total
        assert terminated == done
        assert {name: told[name] for name in FIELDS} == {name: info[name] for name in FIELDS}
        if done:
            break


def test_the_picture_shows_where_play_goes_on(before_the_flag: bytes) -> None:
    """Scripted moments are skipped, so the last picture drawn before them would be stale."""
    env = warpzone.MarioEnv(
        "game", reward="classic", frame_skip=1, obs="rgb", start_state=before_the_flag
    )
    env.reset(seed=0)
    for action in to_the_flag():
        before = env.console.frame_count
        obs, _, _, _, info = env.step(action)
        if env.console.frame_count > before + 1 and info["flag_get"]:
            break
    assert info["flag_get"]
    assert env.ram()[0x75C] == 1, "1-2 has begun"
    np.testing.assert_array_equal(obs, env.console.screen)
    here = env.console.save()
    env.console.run_frame(0, render=True)
    np.testing.assert_array_equal(obs, env.console.screen)
    env.console.load(here)


def test_action_sets_are_the_packages() -> None:
    package = {
        "right-only": [["NOOP"], ["right"], ["right", "A"], ["right", "B"], ["right", "A", "B"]],
        "simple": [["A"], ["left"]],
        "complex": [["left", "A"], ["left", "B"], ["left", "A", "B"], ["down"], ["up"]],
    }
    expected: list[list[str]] = []
    for name, more in package.items():
        expected = expected + more
        assert resolve_actions(name) == resolve_actions(expected)
        assert len(ACTION_SETS[name]) == len(expected)


@pytest.mark.reference
def test_the_real_package_agrees(tmp_path: Path, before_the_flag: bytes) -> None:
    """Its own code, from its wheel; only the emulator below is ours."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "-d", str(tmp_path)]
    subprocess.run([*command, "gym-super-mario-bros==7.4.0"], check=True)
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        wheel.extractall(tmp_path)
    package = real_package(tmp_path)
    for level in ["1-1", "1-2", "2-1", "4-2", "7-4"]:
        target = tuple(map(int, level.split("-")))
        for seed in range(5):
            compare(package(target=target), level, frames(seed, 1200))
    compare(package(target=(1, 1)), "1-1", to_the_flag(), start_state=before_the_flag)
    compare(package(), "game", to_the_flag(), start_state=before_the_flag)
    info = compare(package(), "game", [3] * 1500)
    assert info["life"] == 255
