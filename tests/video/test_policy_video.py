from itertools import pairwise

import numpy as np
import pytest

from warpzone import MarioEnv
from warpzone.evaluation.policies import SequencePolicy, make_policy
from warpzone.video.episode import VideoOptions, record_episode
from warpzone.video.overlay import draw_overlay, observation_image
from warpzone.video.recorded_env import RecordedEnv


@pytest.mark.parametrize(
    "options",
    [{}, {"sticky_prob": 0.25, "noop_max": 30}, {"obs": "rgb"}, {"max_pool": True}],
    ids=str,
)
def test_recording_does_not_change_the_episode(options: dict) -> None:
    plain, recorded = MarioEnv("1-1", **options), RecordedEnv("1-1", **options)
    first, _ = plain.reset(seed=5)
    second, _ = recorded.reset(seed=5)
    np.testing.assert_array_equal(first, second)
    rng = np.random.default_rng(0)
    for _ in range(60):
        action = rng.integers(7)
        first, reward, terminated, truncated, _ = plain.step(action)
        second, *rest, _ = recorded.step(action)
        np.testing.assert_array_equal(first, second)
        assert rest == [reward, terminated, truncated]
        np.testing.assert_array_equal(plain.ram(), recorded.ram())
        if terminated:
            break


def test_every_frame_of_a_step_is_kept_with_its_buttons() -> None:
    env = RecordedEnv("1-1", frame_skip=4, actions=["NOOP", "RIGHT+B"])
    env.reset(seed=0)
    assert len(env.frames) == 1
    for _ in range(20):
        env.step(1)
    assert [buttons for _, buttons in env.frames] == [0x82] * 4
    screens = [screen for screen, _ in env.frames]
    assert all((one != other).any() for one, other in pairwise(screens))


@pytest.mark.parametrize(("fps", "expected"), [(60, 41), (30, 21), (15, 11), (20, 14)])
def test_a_lower_frame_rate_keeps_the_playback_speed(fps: float, expected: int) -> None:
    written: list[np.ndarray] = []
    env = RecordedEnv("1-1", actions=["NOOP"])
    options = VideoOptions(fps=fps)
    record_episode(env, SequencePolicy("NOOP"), written.append, steps=10, options=options)
    assert len(written) == expected


def test_scripted_policy_clears_1_1_and_the_video_continues_to_the_castle() -> None:
    policy = make_policy("scripted")
    env = RecordedEnv("1-1", actions=list(policy.actions))
    written = 0

    def count(frame: np.ndarray) -> None:
        nonlocal written
        assert frame.shape == (264, 256, 3)
        written += 1

    outcome = record_episode(env, policy, count)
    assert outcome.cleared
    assert str(outcome).startswith("clear after ")
    assert written == 1 + 4 * outcome.info["steps"] + 240


def test_what_follows_a_clear_may_be_recorded_at_another_speed() -> None:
    policy = make_policy("scripted")
    env = RecordedEnv("1-1", actions=list(policy.actions))
    frames: list[bytes] = []
    outcome = record_episode(
        env,
        policy,
        lambda frame: frames.append(frame[240:].tobytes()),
        options=VideoOptions(speed=8),
        after_clear=150,
        speed_after_clear=1.0,
    )
    assert outcome.cleared
    played = (1 + 4 * outcome.info["steps"]) / 8
    assert len(frames) == pytest.approx(played + 150, abs=1)
    assert len(set(frames[-150:])) == 1, "one caption, which no longer tells the old speed"
    assert frames[-150] != frames[-151]


def test_outcome_names_the_cause_of_death() -> None:
    env = RecordedEnv("1-1", actions=["RIGHT+B"])
    outcome = record_episode(env, SequencePolicy("RIGHT+B"), lambda frame: None)
    assert str(outcome).startswith("enemy after ")
    assert outcome.end == "enemy"


def test_outcome_distinguishes_the_step_limit_from_the_end_of_the_episode() -> None:
    env = RecordedEnv("1-1", actions=["NOOP"])
    outcome = record_episode(env, SequencePolicy("NOOP"), lambda frame: None, steps=3)
    assert str(outcome).startswith("running after 3 steps (0.2 s), progress 0 pixels")


def test_overlay_highlights_pressed_buttons_and_leaves_the_screen_unchanged() -> None:
    screen = np.random.default_rng(0).integers(0, 256, (240, 256, 3)).astype(np.uint8)
    idle = draw_overlay(screen, 0, ["x 12"])
    pressed = draw_overlay(screen, 0x81, ["x 12"])
    np.testing.assert_array_equal(pressed[:240], screen)
    rows, columns = np.nonzero((idle != pressed).any(axis=2))
    assert {"right", "A"} == {
        "right" if 16 <= column <= 21 else "A" if 57 <= column <= 63 else "?" for column in columns
    }
    assert rows.min() > 240


def test_overlay_shows_both_lines_of_its_caption() -> None:
    screen = np.zeros((240, 256, 3), np.uint8)
    images = [draw_overlay(screen, 0, lines) for lines in (["a", "b"], ["a", "c"], ["d", "b"])]
    assert (images[0][:252] == images[1][:252]).all()
    assert (images[0][252:] != images[1][252:]).any()
    assert (images[0][240:252] != images[2][240:252]).any()


@pytest.mark.parametrize(
    ("options", "shape"),
    [
        ({"obs": "pixels"}, (172, 172, 3)),
        ({"obs": "pixels", "stack": 1, "size": (40, 30)}, (42, 32, 3)),
        ({"obs": "rgb", "stack": 2}, (240, 256, 3)),
        ({"obs": "tiles"}, (214, 160, 3)),
    ],
    ids=str,
)
def test_every_kind_of_observation_has_an_image(options: dict, shape: tuple[int, ...]) -> None:
    env = MarioEnv("1-1", **options)
    obs, _ = env.reset(seed=0)
    view = observation_image(obs)
    assert view.shape == shape
    assert view.dtype == np.uint8
    assert view.std() > 0


def test_image_of_a_frame_stack_ends_with_the_newest_frame() -> None:
    stack = np.stack([np.full((84, 84), value, np.uint8) for value in (10, 20, 30, 40)])
    view = observation_image(stack)
    assert [view[40, 40, 0], view[40, 130, 0], view[130, 40, 0], view[130, 130, 0]] == [
        10,
        20,
        30,
        40,
    ]
