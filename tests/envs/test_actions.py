"""Action sets, custom actions, sticky buttons and random no-op starts."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import warpzone
from warpzone.envs.actions import ACTION_SETS, BUTTONS, describe_buttons, resolve_actions
from warpzone.envs.random_stream import RandomStream

CONTROLLER = 0x6FC  # Where the game keeps the buttons that it has read (in its own bit order).
GAME_BIT = {
    "A": 0x80, "B": 0x40, "SELECT": 0x20, "START": 0x10,
    "UP": 0x08, "DOWN": 0x04, "LEFT": 0x02, "RIGHT": 0x01,
}  # fmt: skip


@pytest.mark.parametrize("name", ACTION_SETS)
def test_a_named_set_gives_the_action_space(name: str) -> None:
    env = warpzone.make_vec("1-1", num_envs=2, actions=name)
    assert env.single_action_space.n == len(ACTION_SETS[name])  # type: ignore[attr-defined]
    assert env.config.actions == resolve_actions(name)
    assert warpzone.MarioEnv("1-1", actions=name).action_space.n == len(ACTION_SETS[name])


def test_the_set_for_the_whole_game_adds_pipes_and_jumps_back_to_simple() -> None:
    added = resolve_actions("whole-game")[len(ACTION_SETS["simple"]) :]
    assert resolve_actions("whole-game")[: -len(added)] == resolve_actions("simple")
    assert added == resolve_actions("DOWN,LEFT+A+B")
    assert set(added) <= set(resolve_actions("complex"))


def test_the_sets_grow_and_have_no_combination_twice() -> None:
    sets = [resolve_actions(name) for name in ("right-only", "simple", "complex", "extended")]
    for smaller, larger in pairwise(sets):
        assert larger[: len(smaller)] == smaller
    assert len(set(sets[-1])) == len(sets[-1])
    assert BUTTONS["START"] in sets[-1]
    assert BUTTONS["DOWN"] | BUTTONS["B"] in sets[-1]


@pytest.mark.parametrize(
    ("combination", "byte"),
    [
        ("NOOP", 0),
        ("RIGHT+A", 0x81),
        ("right + a", 0x81),
        (["left", "B"], 0x42),
        ([], 0),
        (0xFF, 0xFF),
        (np.uint8(0x81), 0x81),
    ],
)
def test_combinations_are_written_in_many_ways(combination: Any, byte: int) -> None:
    assert resolve_actions([combination]) == [byte]
    assert resolve_actions([describe_buttons(byte)]) == [byte]


@pytest.mark.parametrize("button", BUTTONS)
def test_the_game_reads_the_button_that_was_pressed(button: str) -> None:
    env = warpzone.MarioEnv("1-1", actions=[button], frame_skip=1)
    env.reset(seed=0)
    env.step(0)
    # The game turns up and down off while left or right; alone, each bit arrives.
    assert env.ram()[CONTROLLER] == GAME_BIT[button]


def test_an_action_is_held_for_every_frame_of_a_step() -> None:
    four = warpzone.MarioEnv("1-1", frame_skip=4)
    one = warpzone.MarioEnv("1-1", frame_skip=1)
    four.reset(seed=0)
    one.reset(seed=0)
    for action in (1, 3, 4, 0, 6, 2):
        four.step(action)
        for _ in range(4):
            one.step(action)
        np.testing.assert_array_equal(four.ram(), one.ram())
    assert four.console.frame_count == one.console.frame_count


def test_sticky_buttons_stay_as_often_as_asked_and_frame_by_frame() -> None:
    env = warpzone.make_vec(
        "1-1", num_envs=64, actions=["LEFT", "NOOP"], frame_skip=1, sticky_prob=0.25, obs="tiles"
    )
    env.reset(seed=0)
    actions, stayed, chances, last = np.zeros(64, int), 0, 0, None
    for step in range(60):
        actions[:] = step % 2
        env.step(actions)
        pressed = (env.ram()[:, CONTROLLER] == GAME_BIT["LEFT"]).astype(int)
        if last is not None:
            wanted = 1 - actions
            differs = wanted != last
            chances += int(differs.sum())
            stayed += int((pressed[differs] == last[differs]).sum())
            assert (pressed[~differs] == last[~differs]).all()
        last = pressed
    share = stayed / chances
    assert chances > 2000
    assert abs(share - 0.25) < 4 * np.sqrt(0.25 * 0.75 / chances)


def test_sticky_buttons_follow_the_lanes_own_stream() -> None:
    """The first draw of a step decides its first frame, and so on: written down literally."""
    env = warpzone.make_vec(
        "1-1", num_envs=1, actions=["LEFT", "NOOP"], frame_skip=1, sticky_prob=0.5
    )
    env.reset(seed=11)
    stream, buttons = RandomStream(11), 0
    for step in range(50):
        wanted = GAME_BIT["LEFT"] if step % 2 == 0 else 0
        if not stream.uniform() < 0.5:
            buttons = wanted
        env.step([step % 2])
        assert env.ram()[0, CONTROLLER] == buttons


def test_sticky_by_step_repeats_the_previous_action_for_the_whole_step() -> None:
    """One draw per step, from the environment's own stream: written down literally."""
    options: dict[str, Any] = {"actions": ["LEFT", "NOOP"], "sticky_prob": 0.5, "frame_skip": 4}
    env = warpzone.make_vec("1-1", num_envs=1, sticky="step", **options)
    frames = warpzone.MarioEnv("1-1", actions=["LEFT", "NOOP"], frame_skip=1)
    env.reset(seed=11)
    frames.reset(seed=0)
    stream, action = RandomStream(11), 1
    repeated = 0
    for step in range(50):
        if stream.uniform() < 0.5:
            repeated += action != step % 2
        else:
            action = step % 2
        env.step([step % 2])
        for _ in range(4):
            frames.step(action)
        np.testing.assert_array_equal(env.ram()[0], frames.ram())
    assert repeated > 5


def test_noop_starts_are_drawn_evenly_up_to_the_limit() -> None:
    noop_max = 4
    env = warpzone.make_vec("1-1", num_envs=200, noop_max=noop_max, obs="tiles")
    still = warpzone.make_vec("1-1", num_envs=1, obs="tiles")
    env.reset(seed=0)
    still.reset(seed=0)
    frame_counter = 0x09
    waited = (env.ram()[:, frame_counter].astype(int) - still.ram()[0, frame_counter]) % 256
    counts = Counter(waited.tolist())
    assert set(counts) == set(range(noop_max + 1))
    assert min(counts.values()) > 20
    expected = [RandomStream(lane).below(noop_max + 1) for lane in range(200)]
    assert waited.tolist() == expected


def test_the_random_stream_is_splitmix() -> None:
    stream = RandomStream(1234567)
    values = [stream._next() for _ in range(3)]
    assert values == [6457827717110365317, 3203168211198807973, 9817491932198370423]
    stream = RandomStream(0)
    draws = [stream.uniform() for _ in range(1000)]
    assert 0.45 < float(np.mean(draws)) < 0.55
    assert all(0 <= draw < 1 for draw in draws)
