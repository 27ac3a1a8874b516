"""Save states of lanes: exact, portable between lanes and environments, refused when not right."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest
from env_support import RIGHT_RUN, assert_same_obs, held_actions, lane_obs

import warpzone
from warpzone.errors import StateError

HEADER = 4 + 4 + 8 * 5


def make(lanes: int = 2, level: Any = "1-1", **options: Any) -> warpzone.MarioVectorEnv:
    return warpzone.make_vec(level, num_envs=lanes, num_threads=1, **options)


def play(env: warpzone.MarioVectorEnv, actions: Any) -> list[Any]:
    return [env.step(row) for row in actions]


def assert_same_steps(got: list[Any], lane: int, expected: list[Any], other: int) -> None:
    for number, (one, two) in enumerate(zip(got, expected, strict=True)):
        where = f"step {number}"
        assert_same_obs(lane_obs(one[0], lane), lane_obs(two[0], other), where)
        for a, b in zip(one[1:4], two[1:4], strict=True):
            assert a[lane] == b[other], where
        for name in one[4]:
            if "final" not in name:
                np.testing.assert_array_equal(
                    one[4][name][lane], two[4][name][other], err_msg=f"{name} {where}"
                )


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({}, id="pixels"),
        pytest.param({"obs": "tiles"}, id="tiles"),
        pytest.param({"obs": "rgb", "size": 40, "stack": 2}, id="rgb"),
        pytest.param({"reward": "classic"}, id="classic"),
        pytest.param({"weights": {"distance": (1.0, 0.0, 60)}}, id="annealed"),
        pytest.param({"max_steps": 25, "noop_max": 30}, id="across-resets"),
    ],
)
def test_loading_replays_exactly_sticky_buttons_included(options: dict[str, Any]) -> None:
    env = make(sticky_prob=0.5, **options)
    env.reset(seed=3)
    actions = held_actions(1, 2, 70)
    play(env, actions[:20])
    blob = env.save_state(env_id=0)
    first = play(env, actions[20:])
    env.load_state(blob, env_ids=[0])
    again = play(env, actions[20:])
    assert_same_steps(again, 0, first, 0)


def test_a_state_moves_to_other_lanes_and_leaves_the_rest_alone() -> None:
    env = make(4, sticky_prob=0.5)
    env.reset(seed=3)
    actions = np.repeat(held_actions(2, 1, 30), 4, axis=1)
    play(env, actions[:15])
    ram = env.ram()
    env.load_state(env.save_state(env_id=3), env_ids=[0, 1])
    assert (env.ram()[[0, 1]] == ram[3]).all()
    assert (env.ram()[2] == ram[2]).all()
    steps = play(env, actions[15:])
    assert_same_steps(steps, 0, steps, 3)
    assert_same_steps(steps, 1, steps, 3)


def test_a_state_moves_to_another_environment() -> None:
    env, other = make(), make(3, level="8-1")
    env.reset(seed=3)
    other.reset(seed=99)
    actions = held_actions(2, 2, 30)
    play(env, actions[:10])
    other.load_state(env.save_state(1), env_ids=2)
    expected = play(env, actions[10:])
    got = play(other, np.column_stack([actions[10:], actions[10:, 1]]))
    assert_same_steps(got, 2, expected, 1)


def test_a_state_loads_into_an_environment_that_was_never_reset() -> None:
    env, other = make(), make(autoreset="disabled")
    env.reset(seed=3)
    play(env, held_actions(2, 2, 10))
    other.load_state(env.save_state(0))
    obs, info = other.observe()
    expected, _ = env.observe()
    np.testing.assert_array_equal(obs[1], expected[0])
    assert info["steps"].tolist() == [10, 10]
    other.step([RIGHT_RUN] * 2)


def test_keep_random_leaves_each_lane_its_own_chances() -> None:
    env = make(2, sticky_prob=0.5, actions=["NOOP", "RIGHT"], obs="tiles")
    env.reset(seed=3)
    blob = env.save_state(0)
    actions = np.tile([[0, 0], [1, 1]], (15, 1))
    env.load_state(blob)
    together = play(env, actions)
    assert all(step[4]["x_pos"][0] == step[4]["x_pos"][1] for step in together)
    env.reset(seed=3)
    env.load_state(blob, keep_random=True)
    apart = play(env, actions)
    assert any(step[4]["x_pos"][0] != step[4]["x_pos"][1] for step in apart)
    assert_same_steps(apart, 0, together, 0)


def test_a_consoles_state_begins_an_episode_there() -> None:
    single = warpzone.MarioEnv("1-1")
    single.reset(seed=0)
    for _ in range(20):
        single.step(RIGHT_RUN)
    env = make()
    env.reset(seed=0)
    env.load_state(single.console.save(), env_ids=[1])
    obs, info = env.observe()
    assert (env.ram()[1] == single.ram()).all()
    assert info["x_pos"][1] > 150
    assert info["progress"].tolist() == [0, 0]
    assert info["steps"].tolist() == [0, 0]
    assert (obs[1] == obs[1, :1]).all(), "the stack is filled with the one picture there is"
    _, reward, _, _, info = env.step([0, RIGHT_RUN])
    assert info["steps"].tolist() == [1, 1]
    assert abs(reward[1]) < 0.2, "the way to the state is not paid"


def test_a_lane_state_starts_the_single_environment() -> None:
    env = make(1)
    env.reset(seed=0)
    play(env, [[RIGHT_RUN]] * 20)
    single = warpzone.MarioEnv("1-1", start_state=env.save_state(0))
    _, info = single.reset(seed=0)
    assert info["x_pos"] == env.observe()[1]["x_pos"][0]
    _, info = warpzone.MarioEnv("2-1").reset(seed=0, options={"state": env.save_state(0)})
    assert info["world"] == 1


def altered(blob: bytes, at: int) -> bytes:
    return blob[:at] + bytes([blob[at] ^ 0x40]) + blob[at + 1 :]


def damaged_states(blob: bytes) -> dict[str, bytes]:
    rng = np.random.default_rng(0)
    states = {f"byte {at} altered": altered(blob, at) for at in range(HEADER)}
    for at in rng.integers(HEADER, len(blob), 60):
        states[f"byte {at} altered"] = altered(blob, int(at))
    for size in (0, 1, 7, HEADER - 1, HEADER, HEADER + 1, len(blob) // 2, len(blob) - 1):
        states[f"cut to {size}"] = blob[:size]
    states["padded"] = blob + b"\0"
    states["doubled"] = blob + blob
    states["sizes swapped"] = blob[:8] + blob[16:24] + blob[8:16] + blob[24:]
    states["huge sizes"] = blob[:8] + struct.pack("<Q", 2**63) * 3 + blob[32:]
    states["text"] = b"no state at all" * 30
    return states


def test_damaged_states_are_refused_with_a_reason_and_change_nothing() -> None:
    env = make(1, size=16, stack=2)
    env.reset(seed=0)
    play(env, [[RIGHT_RUN]] * 10)
    blob = env.save_state(0)
    ram, obs = env.ram(), env.observe()[0]
    for name, state in damaged_states(blob).items():
        for load in (env.load_state, env.set_start_state):
            with pytest.raises(StateError, match=r"save state(:| \w+)") as raised:
                load(state)
            assert "\n" not in str(raised.value), name
    np.testing.assert_array_equal(env.ram(), ram)
    np.testing.assert_array_equal(env.observe()[0], obs)
    env.load_state(blob)


@pytest.mark.parametrize(
    "options",
    [
        {"size": 85},
        {"stack": 3},
        {"hud": "crop"},
        {"show_buttons": True},
        {"obs": "rgb", "size": 84},
        {"obs": "tiles"},
    ],
)
def test_a_state_with_other_observations_is_refused(options: dict[str, Any]) -> None:
    env, other = make(1), make(1, **options)
    env.reset(seed=0)
    other.reset(seed=0)
    with pytest.raises(StateError, match="made with other observations"):
        other.load_state(env.save_state(0))
    other.set_start_state(env.save_state(0))  # Only the machine is taken.
    other.reset()


def test_a_state_of_another_game_is_refused() -> None:
    env, other = make(1), make(1, game="lost-levels")
    env.reset(seed=0)
    other.reset(seed=0)
    blob = env.save_state(0)
    for load in (other.load_state, other.set_start_state):
        with pytest.raises(StateError, match=r"(cartridge|ROM|game)"):
            load(blob)
    with pytest.raises(StateError, match=r"(cartridge|ROM|game)"):
        make(1, game="lost-levels", start_state=blob)


def test_levels_change_at_the_next_reset() -> None:
    env = make(3, level="1-1,1-2", max_steps=4)
    assert env.levels() == ["1-1", "1-2", "1-1"]
    env.reset(seed=0)
    env.set_level("4-4", env_ids=[1])
    env.set_level("8-1", env_ids=2)
    assert env.levels() == ["1-1", "4-4", "8-1"]
    assert env.step([0] * 3)[4]["world"].tolist() == [1, 1, 1]
    for _ in range(4):
        info = env.step([0] * 3)[4]
    assert info["steps"].tolist() == [0, 0, 0]
    assert list(zip(info["world"], info["stage"], strict=True)) == [(1, 1), (4, 4), (8, 1)]


def test_a_given_level_stays_though_others_are_drawn_at_random() -> None:
    env = make(2, level="1-1,1-2,1-3", level_order="random")
    env.reset(seed=0)
    env.set_level("8-1", env_ids=[0])
    worlds = [env.reset()[1]["world"].tolist() for _ in range(4)]
    assert worlds == [[8, 1]] * 4


def test_start_states_change_at_the_next_reset_and_can_be_taken_away() -> None:
    env = make(2)
    env.reset(seed=0)
    play(env, [[RIGHT_RUN] * 2] * 25)
    blob = env.save_state(0)
    x = int(env.observe()[1]["x_pos"][0])
    env.set_start_state(blob, env_ids=[1])
    assert env.reset()[1]["x_pos"].tolist() == [40, x]
    env.set_start_state(None)
    assert env.reset()[1]["x_pos"].tolist() == [40, 40]


def way(env: warpzone.MarioVectorEnv, steps: int) -> list[tuple[int, int, int]]:
    """Way points of a walk to the right, left alone at the lane's first reset."""
    _, info = env.reset(seed=0)
    points = []
    for _ in range(steps):
        info = env.step([RIGHT_RUN])[4]
        points.append((int(info["area"][0]), int(info["x_pos"][0]), 176))
    return points


def test_a_new_route_counts_from_the_next_reset_on() -> None:
    env = make(1, level="3-1")
    points = way(env, 25)
    env.set_route(points)
    env.reset()
    play(env, [[RIGHT_RUN]] * 25)
    along = int(env.observe()[1]["progress"][0])
    assert along > 150
    env.set_route(points[:2])  # Shorter than the waypoint that the environment has reached.
    play(env, [[RIGHT_RUN]] * 3)
    assert env.observe()[1]["progress"][0] >= along
    env.reset()
    play(env, [[RIGHT_RUN]] * 25)
    assert env.observe()[1]["progress"][0] < 20


@pytest.mark.parametrize("saved_with", [True, False])
@pytest.mark.parametrize("loaded_with", ["same", "shorter", "none"])
def test_a_state_goes_on_under_another_route_from_the_progress_it_had(
    saved_with: bool, loaded_with: str
) -> None:
    env = make(1, level="3-1")
    points = way(env, 40)
    env.set_route(points if saved_with else None)
    env.reset()
    play(env, [[RIGHT_RUN]] * 20)
    progress = int(env.observe()[1]["progress"][0])
    blob = env.save_state(0)
    other = make(1, level="3-1")
    other.set_route({"same": points, "shorter": points[-30:], "none": None}[loaded_with])
    other.load_state(blob)
    gains = [int(step[4]["progress"][0]) for step in play(other, [[RIGHT_RUN]] * 8)]
    assert progress <= gains[0] <= progress + 30, "nothing is paid twice"
    assert gains[-1] > progress + 40, "and new ground is paid"


def test_a_step_limit_cuts_episodes_from_the_next_reset_or_load_on() -> None:
    env = warpzone.make_vec("1-1", num_envs=2, num_threads=1, obs="tiles", max_steps=40)
    env.reset(seed=0)
    blob = env.save_state(1)
    env.set_step_limit(10, [0])

    def cut_after() -> list[int]:
        ends = [0, 0]
        for step in range(1, 45):
            _, _, _, truncated, _ = env.step([0, 0])
            for lane in range(2):
                if truncated[lane] and not ends[lane]:
                    ends[lane] = step
        return ends

    assert cut_after()[0] == 40
    env.reset(seed=0)
    assert cut_after() == [10, 40]
    env.load_state(blob, [0])
    assert cut_after()[0] == 10
    env.set_step_limit(0)
    env.reset(seed=0)
    assert cut_after() == [40, 40]
    env.close()


@pytest.mark.parametrize("idle", [False, True])
def test_random_steps_follow_starts_without_no_ops_only(idle: bool) -> None:
    env = warpzone.make_vec("1-1", num_envs=64, obs="tiles", start_random_steps=20)
    env.reset(seed=0)
    for _ in range(30):
        env.step(np.full(64, RIGHT_RUN))
    env.set_start_state(env.save_console(0), idle=idle)
    _, info = env.reset(seed=1)
    places = set(info["x_pos"].tolist())
    assert len(places) == 1 if idle else len(places) > 20
    assert info["in_control"].all()
    assert info["on_ground"].all()


def test_random_steps_that_would_lose_mario_are_taken_back() -> None:
    env = warpzone.make_vec("1-1", num_envs=64, obs="tiles", actions=["RIGHT"], frame_skip=60)
    env.reset(seed=0)
    env.step(np.zeros(64, int))
    state = env.save_console(0)
    env = warpzone.make_vec(
        "1-1", num_envs=64, obs="tiles", actions=["RIGHT"], frame_skip=60, start_random_steps=9
    )
    env.set_start_state(state, idle=False)
    _, info = env.reset(seed=1)
    assert not info["death"].any()
    assert info["in_control"].all()
