from itertools import pairwise

import numpy as np
import pytest

from warpzone import MarioEnv
from warpzone.evaluate.policies import SequencePolicy, make_policy
from warpzone.video.episode import Look, record_episode
from warpzone.video.overlay import draw_overlay, show_observation
from warpzone.video.recorded_env import RecordedEnv


@pytest.mark.parametrize(
    "options",
    [{}, {"sticky_prob": 0.25, "noop_max": 30}, {"obs": "rgb"}, {"max_pool": True}],
    ids=str,
)
def test_filming_changes_nothing_in_the_game(options: dict) -> None:
    plain, filmed = MarioEnv("1-1", **options), RecordedEnv("1-1", **options)
    first, _ = plain.reset(seed=5)
    second, _ = filmed.reset(seed=5)
    np.testing.assert_array_equal(first, second)
    rng = np.random.default_rng(0)
    for _ in range(60):
        action = rng.integers(7)
        first, reward, terminated, truncated, _ = plain.step(action)
        second, *rest, _ = filmed.step(action)
        np.testing.assert_array_equal(first, second)
        assert rest == [reward, terminated, truncated]
        np.testing.assert_array_equal(plain.ram(), filmed.ram())
        if terminated:
            break


def test_film_has_every_frame_of_a_step_with_its_buttons() -> None:
    env = RecordedEnv("1-1", frame_skip=4, actions=["NOOP", "RIGHT+B"])
    env.reset(seed=0)
    assert len(env.frames) == 1
    for _ in range(20):
        env.step(1)
    assert [buttons for _, buttons in env.frames] == [0x82] * 4
    pictures = [screen for screen, _ in env.frames]
    assert all((one != other).any() for one, other in pairwise(pictures))


@pytest.mark.parametrize(("fps", "pictures"), [(60, 41), (30, 21), (15, 11), (20, 14)])
def test_fewer_pictures_a_second_keep_the_speed(fps: float, pictures: int) -> None:
    shown: list[np.ndarray] = []
    env = RecordedEnv("1-1", actions=["NOOP"])
    record_episode(env, SequencePolicy("NOOP"), shown.append, steps=10, look=Look(fps=fps))
    assert len(shown) == pictures


def test_scripted_policy_clears_1_1_and_the_film_goes_on_to_the_castle() -> None:
    policy = make_policy("scripted")
    env = RecordedEnv("1-1", actions=list(policy.actions))
    shown = 0

    def count(picture: np.ndarray) -> None:
        nonlocal shown
        assert picture.shape == (264, 256, 3)
        shown += 1

    outcome = record_episode(env, policy, count)
    assert outcome.info["flag_get"]
    assert str(outcome).startswith("cleared after ")
    assert shown == 1 + 4 * outcome.info["steps"] + 240


def test_film_of_a_death_names_its_cause() -> None:
    env = RecordedEnv("1-1", actions=["RIGHT+B"])
    outcome = record_episode(env, SequencePolicy("RIGHT+B"), lambda picture: None)
    assert str(outcome).startswith("killed by an enemy after ")
    assert outcome.ended


def test_step_limit_is_told_apart_from_an_end() -> None:
    env = RecordedEnv("1-1", actions=["NOOP"])
    outcome = record_episode(env, SequencePolicy("NOOP"), lambda picture: None, steps=3)
    assert str(outcome).startswith("still running after 3 steps (0.2 s), progress 0 pixels")


def test_overlay_lights_what_is_pressed_and_leaves_the_screen_alone() -> None:
    screen = np.random.default_rng(0).integers(0, 256, (240, 256, 3)).astype(np.uint8)
    idle = draw_overlay(screen, 0, {"x": 12})
    pressed = draw_overlay(screen, 0x81, {"x": 12})
    np.testing.assert_array_equal(pressed[:240], screen)
    rows, columns = np.nonzero((idle != pressed).any(axis=2))
    assert {"right", "A"} == {
        "right" if 16 <= column <= 21 else "A" if 57 <= column <= 63 else "?" for column in columns
    }
    assert rows.min() > 240


def test_overlay_shows_its_text() -> None:
    screen = np.zeros((240, 256, 3), np.uint8)
    one, other = (draw_overlay(screen, 0, {"value": value}) for value in (1.234, 1.229))
    np.testing.assert_array_equal(one, other)  # both round to 1.23
    assert (one != draw_overlay(screen, 0, {"value": 4.0})).any()


@pytest.mark.parametrize(
    ("options", "shape"),
    [
        ({"obs": "pixels"}, (172, 172, 3)),
        ({"obs": "pixels", "stack": 1, "size": (40, 30)}, (42, 32, 3)),
        ({"obs": "rgb", "stack": 2}, (240, 256, 3)),
        ({"obs": "tiles"}, (184, 160, 3)),
    ],
    ids=str,
)
def test_every_observation_can_be_shown(options: dict, shape: tuple[int, ...]) -> None:
    env = MarioEnv("1-1", **options)
    obs, _ = env.reset(seed=0)
    view = show_observation(obs)
    assert view.shape == shape
    assert view.dtype == np.uint8
    assert view.std() > 0


def test_shown_pixels_end_with_the_newest_picture() -> None:
    stack = np.stack([np.full((84, 84), value, np.uint8) for value in (10, 20, 30, 40)])
    view = show_observation(stack)
    assert [view[40, 40, 0], view[40, 130, 0], view[130, 40, 0], view[130, 130, 0]] == [
        10,
        20,
        30,
        40,
    ]
