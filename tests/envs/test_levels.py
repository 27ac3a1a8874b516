"""Every level starts in its own area, as Mario was asked for, and where it was asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import warpzone
from warpzone import _native
from warpzone.rom import locate as roms
from warpzone.search.solution import read_solution

SOLUTIONS = Path(__file__).parent.parent.parent / "solutions"
#: Area type * 32 + number within the type, and number of the area in its world. Levels behind an
#: entry strip (1-2, 2-2, 4-2, 7-2) begin after it.
SMB_AREAS = {
    "1-1": (0x25, 0), "1-2": (0x40, 2), "1-3": (0x26, 3), "1-4": (0x60, 4),
    "2-1": (0x28, 0), "2-2": (0x01, 2), "2-3": (0x27, 3), "2-4": (0x62, 4),
    "3-1": (0x24, 0), "3-2": (0x35, 1), "3-3": (0x20, 2), "3-4": (0x63, 3),
    "4-1": (0x22, 0), "4-2": (0x41, 2), "4-3": (0x2C, 3), "4-4": (0x61, 4),
    "5-1": (0x2A, 0), "5-2": (0x31, 1), "5-3": (0x26, 2), "5-4": (0x62, 3),
    "6-1": (0x2E, 0), "6-2": (0x23, 1), "6-3": (0x2D, 2), "6-4": (0x60, 3),
    "7-1": (0x33, 0), "7-2": (0x01, 2), "7-3": (0x27, 3), "7-4": (0x64, 4),
    "8-1": (0x30, 0), "8-2": (0x32, 1), "8-3": (0x21, 2), "8-4": (0x65, 3),
}  # fmt: skip
AREA_NUMBER, AREA_TYPE, AREA_IN_TYPE, POWER, SIZE = 0x760, 0x74E, 0x74F, 0x756, 0x754
LIVES, RANDOM, LAVA_BALL_TIMER, HIDDEN_LIFE = 0x75A, 0x7A7, 0x796, 0x75D
PLAYER_STATE, IN_CONTROL, PLAYER_Y = 0x0E, 8, 0xCE
WITHOUT_HALFWAY = {name for name in SMB_AREAS if name.endswith("-4") or name.startswith("8")}
GAMES = ["smb", "lost-levels"]


def start_all(game: str, **options: Any) -> tuple[list[str], Any, Any]:
    names = _native.level_names(game)
    env = warpzone.make_vec(names, num_envs=len(names), obs="tiles", game=game, **options)
    _, info = env.reset(seed=0)
    return names, info, env.ram()


def test_every_level_loads_its_own_area() -> None:
    names, info, ram = start_all("smb")
    assert names == list(SMB_AREAS)
    area = ram[:, AREA_TYPE].astype(int) * 32 + ram[:, AREA_IN_TYPE]
    found = dict(zip(names, zip(area, ram[:, AREA_NUMBER], strict=True), strict=True))
    assert found == SMB_AREAS
    np.testing.assert_array_equal(info["area_type"], ram[:, AREA_TYPE])


@pytest.mark.parametrize("game", GAMES)
def test_mario_obeys_at_the_start_of_every_level(game: str) -> None:
    names, info, ram = start_all(game)
    shown = [f"{w}-{s}" for w, s in zip(info["world"], info["stage"], strict=True)]
    assert shown == names
    assert info["in_control"].all()
    assert set(info["time"].tolist()) == {300, 400}
    assert info["x_pos"].tolist() == [40] * len(names)
    assert (info["life"] == 2).all()
    assert not info["score"].any()
    assert not info["status"].any()
    assert not info["progress"].any()
    assert (ram[:, LIVES] == 2).all()


def test_lost_levels_have_areas_of_their_own() -> None:
    names, info, ram = start_all("lost-levels")
    assert len(names) == 16
    assert len(set(info["area"].tolist())) == 16
    assert (ram[3::4, AREA_TYPE] == 3).all(), "the fourth of each world is a castle"


@pytest.mark.parametrize("power", [0, 1, 2])
@pytest.mark.parametrize("game", GAMES)
def test_mario_starts_with_the_asked_power(power: int, game: str) -> None:
    _, info, ram = start_all(game, power=power)
    assert (info["status"] == power).all()
    assert (ram[:, POWER] == power).all()
    assert (ram[:, SIZE] == (power == 0)).all()


def test_random_power_draws_big_and_fire_equally_often() -> None:
    env = warpzone.make_vec("1-1", num_envs=400, obs="tiles", random_power=0.5)
    _, info = env.reset(seed=3)
    counts = np.bincount(info["status"], minlength=3)
    assert abs(counts[0] - 200) < 50
    assert abs(counts[1] - 100) < 40
    assert abs(counts[2] - 100) < 40


def test_game_start_prob_is_the_share_of_starts_as_in_a_game() -> None:
    env = warpzone.make_vec("2-4", num_envs=400, obs="tiles", game_start_prob=0.5)
    env.reset(seed=3)
    late = env.ram()[:, LAVA_BALL_TIMER] == 1
    assert abs(int(late.sum()) - 200) < 50


def test_half_of_the_starts_as_in_a_game_are_halfway() -> None:
    env = warpzone.make_vec("2-1,2-4", num_envs=400, obs="tiles", game_start_prob=0.5)
    _, info = env.reset(seed=3)
    late = info["x_pos"] > 1000
    assert not late[1::2].any(), "castles have no halfway page"
    assert abs(int(late.sum()) - 50) < 25


def test_a_level_starts_as_in_a_game_with_the_rhythm_of_the_game() -> None:
    """In 2-4 the first lava ball rises 17 frames later than where the announcement is skipped."""
    console = warpzone.Console(roms.load_game())
    risen = []
    for announced in (False, True):
        _native.start(console, "smb", "2-4", 0, False, announced)
        for _ in range(_native.LEAD_FRAMES if announced else 0):
            assert console.ram[PLAYER_STATE] != IN_CONTROL
            console.run_frame(0, render=False)
        assert console.ram[PLAYER_STATE] == IN_CONTROL
        frames = 0
        while console.ram[LAVA_BALL_TIMER] == 1:
            console.run_frame(0, render=False)
            frames += 1
        risen.append(frames)
    assert risen == [0, 17]


def test_a_level_starts_as_in_a_game_without_hidden_lives_after_the_first_level() -> None:
    """The flag is set when a game begins, and 1-1 uses it up."""
    console = warpzone.Console(roms.load_game())
    flags = {}
    for level in ("1-1", "5-1"):
        for announced in (False, True):
            _native.start(console, "smb", level, 0, False, announced)
            flags[level, announced] = bool(console.ram[HIDDEN_LIFE])
    assert flags == {
        ("1-1", False): True,
        ("1-1", True): True,
        ("5-1", False): True,
        ("5-1", True): False,
    }

    solution = read_solution(SOLUTIONS / "1-1.solution")
    _native.start(console, "smb", "1-1")
    for buttons in solution.inputs:
        console.run_frames(solution.frame_skip, buttons)
    assert not console.ram[HIDDEN_LIFE]


def test_a_level_starts_as_in_a_game_with_buttons_held_already() -> None:
    """Some start with Mario in the air, and the older grid still shows the announcement."""
    env = warpzone.make_vec("4-4", num_envs=200, obs="tiles", game_start_prob=1.0)
    obs, info = env.reset(seed=3)
    assert set(np.unique(info["x_pos"])) <= set(range(38, 43))
    assert len(np.unique(env.ram()[:, PLAYER_Y])) > 2
    planes = obs["tiles"].shape[1] // 2
    older, newest = obs["tiles"][:, :planes], obs["tiles"][:, planes:]
    assert (older != newest).any(axis=(1, 2, 3)).mean() > 0.6


def test_random_registers_are_those_that_the_game_runs_through() -> None:
    registers = {_native.random_register(n) for n in range(_native.RANDOM_REGISTERS)}
    assert len(registers) == _native.RANDOM_REGISTERS
    console = warpzone.Console(roms.load_game())
    _native.start(console, "smb", "1-1")
    for _ in range(50):
        console.run_frame(0, render=False)
        assert bytes(console.ram[RANDOM : RANDOM + 7]) in registers


def test_a_reseeded_game_starts_alike_but_for_its_random_numbers() -> None:
    plain = warpzone.make_vec("1-4", num_envs=1, obs="tiles")
    reseeded = warpzone.make_vec("1-4", num_envs=64, obs="tiles", reseed_game=True)
    plain.reset(seed=0)
    reseeded.reset(seed=0)
    differs = (reseeded.ram() != plain.ram()).any(axis=0)
    assert set(np.flatnonzero(differs)) <= set(range(RANDOM, RANDOM + 7))
    assert len({bytes(row[RANDOM : RANDOM + 7]) for row in reseeded.ram()}) > 60


def test_halfway_starts_where_a_lost_life_would_go_on() -> None:
    names, start, _ = start_all("smb")
    _, halfway, _ = start_all("smb", halfway=True)
    for lane, name in enumerate(names):
        if name in WITHOUT_HALFWAY:
            assert halfway["x_pos"][lane] == start["x_pos"][lane]
        else:
            assert halfway["x_pos"][lane] >= 1000
            assert halfway["x_pos"][lane] % 256 == 40, "the start of a page"
    assert (halfway["area"] == start["area"]).all()
    assert not halfway["progress"].any()
    assert halfway["in_control"].all()


@pytest.mark.parametrize("game", GAMES)
def test_the_whole_game_begins_at_the_first_level_with_three_lives(game: str) -> None:
    env = warpzone.make_vec("game", num_envs=1, game=game)
    _, info = env.reset(seed=0)
    assert env.levels() == ["game"]
    assert (info["world"][0], info["stage"][0], info["life"][0]) == (1, 1, 2)


def test_the_whole_game_goes_on_after_a_lost_life_and_ends_with_the_last() -> None:
    env = warpzone.make_vec(
        "game", num_envs=1, obs="tiles", actions=["RIGHT+B"], autoreset="disabled", frame_skip=8
    )
    env.reset(seed=0)
    lives = []
    for _ in range(600):
        _, _, terminated, truncated, info = env.step([0])
        lives.append(int(info["life"][0]))
        if terminated[0]:
            break
    assert terminated[0]
    assert not truncated[0]
    assert info["deaths"][0] == 3
    assert info["game_over"][0]
    assert sorted(set(lives), reverse=True) == [2, 1, 0, -1]


def test_a_lane_may_play_a_level_that_was_not_configured() -> None:
    env = warpzone.make_vec("1-1", num_envs=2, obs="tiles")
    env.reset(seed=0)
    for name in SMB_AREAS:
        env.set_level(name, env_ids=[1])
        _, info = env.reset()
        assert f"{info['world'][1]}-{info['stage'][1]}" == name
        assert (info["world"][0], info["stage"][0]) == (1, 1)


@pytest.mark.parametrize("level", ["all", "1-1, 1-2 ,4-4", ["1-1", "all"], ("8-4",)])
def test_levels_are_given_in_many_ways(level: Any) -> None:
    names = warpzone.make_vec(level).config.level
    expected = {"all": 32, "1-1, 1-2 ,4-4": 3}.get(level) if isinstance(level, str) else None
    assert len(names) == (expected or (33 if "1-1" in level else 1))
    assert set(names) <= set(SMB_AREAS)
