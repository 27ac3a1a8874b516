"""Images: resizing is exact area averaging, the status bar goes, colors and grey are right."""

from __future__ import annotations

import hashlib
from fractions import Fraction
from functools import cache
from typing import Any

import cv2
import numpy as np
import pytest
from env_support import held_actions
from numpy.typing import NDArray

import warpzone
from warpzone import _native

ROWS, COLUMNS, HUD = 240, 256, 32
Image = NDArray[np.uint8]


def shares(source: int, target: int) -> list[dict[int, Fraction]]:
    """For each target pixel: the source pixels under it with their parts of its area."""
    length = Fraction(source, target)
    result = []
    for i in range(target):
        begin, end = i * length, (i + 1) * length
        first, last = begin.__floor__(), -((-end).__floor__())
        result.append(
            {at: (min(end, at + 1) - max(begin, at)) / length for at in range(first, last)}
        )
    return result


def resize_literally(image: Image, height: int, width: int) -> Image:
    """Area averaging in rational numbers, rounded once, halves up."""
    across = [
        [sum(share * int(row[x]) for x, share in part.items()) for part in shares(256, width)]
        for row in image
    ]
    out = np.zeros((height, width), np.uint8)
    for y, part in enumerate(shares(len(image), height)):
        for x in range(width):
            value = sum((share * across[row][x] for row, share in part.items()), Fraction())
            out[y, x] = (value + Fraction(1, 2)).__floor__()
    return out


def shares_matrix(source: int, target: int) -> tuple[NDArray[np.int64], int]:
    """The same shares as whole numbers over a common divisor, for many images."""
    divisor = source  # A share is a multiple of 1 / source: pixels are `target`, `source` long.
    matrix = np.zeros((target, source), np.int64)
    for i, part in enumerate(shares(source, target)):
        for at, share in part.items():
            scaled = share * divisor
            assert scaled.denominator == 1
            matrix[i, at] = scaled.numerator
    return matrix, divisor


def resize_exactly(image: Image, height: int, width: int) -> Image:
    vertical, rows = shares_matrix(len(image), height)
    horizontal, columns = shares_matrix(COLUMNS, width)
    # Whole numbers far below 2**53: floating-point sums of them are exact, and much faster.
    product = vertical.astype(float) @ image.astype(float) @ horizontal.T.astype(float)
    sums = product.astype(np.int64)
    total = rows * columns
    return ((2 * sums + total) // (2 * total)).astype(np.uint8)


def writer(height: int, width: int, **options: Any) -> _native.ImageWriter:
    config = _native.EnvConfig(level=["1-1"], obs="pixels", size=(height, width), **options)
    return _native.ImageWriter(config, "smb")


def noise(seed: int) -> Image:
    rng = np.random.default_rng(seed)
    image = rng.integers(0, 256, (ROWS, COLUMNS), dtype=np.uint8)
    image[rng.random(image.shape) < 0.3] = 255
    return image


@cache
def screens() -> tuple[Image, ...]:
    """Grey screens from real play."""
    env = warpzone.MarioEnv("1-1,1-2,1-4", obs="rgb", level_order="random")
    whole = writer(ROWS, COLUMNS)
    images = []
    for seed in range(4):
        env.reset(seed=seed)
        for action in held_actions(seed, 1, 12)[:, 0]:
            env.step(action)
        images.append(whole.grey(env.console))
    return tuple(images)


#: The fast path (both kinds of edge), the exact path, and sizes at and above those of the screen.
SIZES = [
    *[(84, 84), (60, 64), (120, 128), (80, 96), (96, 112), (84, 96), (64, 64), (240, 256)],
    *[(61, 83), (97, 31), (8, 8), (239, 255), (8, 256), (240, 8), (13, 200), (200, 13), (84, 85)],
    *[(241, 257), (300, 300), (480, 512), (8, 2048), (2048, 8), (720, 100)],
]
#: OpenCV averages by area only where it makes images smaller.
SMALLER = [(height, width) for height, width in SIZES if height <= ROWS and width <= COLUMNS]


def test_the_whole_number_reference_equals_the_literal_one() -> None:
    image = noise(0)
    for height, width in [(84, 84), (13, 29)]:
        literal = resize_literally(image, height, width)
        np.testing.assert_array_equal(resize_exactly(image, height, width), literal)


@pytest.mark.parametrize(("height", "width"), SIZES)
def test_resizing_equals_rational_arithmetic(height: int, width: int) -> None:
    resizer = writer(height, width)
    flat = [np.full((ROWS, COLUMNS), value, np.uint8) for value in (0, 1, 127, 254, 255)]
    for image in (*screens(), *flat, *(noise(seed) for seed in range(6))):
        expected = resize_exactly(image, height, width)
        np.testing.assert_array_equal(resizer.resize(image), expected)


def test_resizing_equals_rational_arithmetic_at_every_size() -> None:
    rng = np.random.default_rng(0)
    image = noise(9)
    for _ in range(80):
        height, width = int(rng.integers(8, 500)), int(rng.integers(8, 500))
        got = writer(height, width).resize(image)
        expected = resize_exactly(image, height, width)
        np.testing.assert_array_equal(got, expected, err_msg=f"{height} x {width}")


def test_halves_are_rounded_up_on_the_fast_path() -> None:
    """Sums that lie right on a border: every mean of four pixels, halves among them."""
    image = np.zeros((ROWS, COLUMNS), np.uint8)
    values = np.arange(120 * 128) % 1021
    for part in range(4):
        block = np.clip((values + part) // 4, 0, 255).reshape(120, 128)
        image[part // 2 :: 2, part % 2 :: 2] = block
    resizer = writer(120, 128)
    np.testing.assert_array_equal(resizer.resize(image), resize_exactly(image, 120, 128))


@pytest.mark.parametrize(("height", "width"), SMALLER)
def test_resizing_is_within_one_of_opencv(height: int, width: int) -> None:
    resizer = writer(height, width)
    for image in screens():
        other = cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA)
        difference = np.abs(resizer.resize(image).astype(int) - other.astype(int))
        assert difference.max() <= 1


def play_to(level: str, steps: int = 20, **options: Any) -> warpzone.MarioEnv:
    env = warpzone.MarioEnv(level, **options)
    env.reset(seed=0)
    for _ in range(steps):
        env.step(1)
    return env


def test_mask_blackens_the_status_bar_and_nothing_else() -> None:
    env = play_to("1-1")
    kept = writer(ROWS, COLUMNS).grey(env.console)
    masked = writer(ROWS, COLUMNS, hud="mask").grey(env.console)
    assert kept[:HUD].any()
    assert not masked[:HUD].any()
    np.testing.assert_array_equal(masked[HUD:], kept[HUD:])


def test_crop_removes_the_status_bar_before_resizing() -> None:
    env = play_to("1-1")
    grey = writer(ROWS, COLUMNS).grey(env.console)
    cropped = writer(84, 84, hud="crop").resize(grey)
    np.testing.assert_array_equal(cropped, resize_exactly(grey[HUD:], 84, 84))


@pytest.mark.parametrize("hud", ["keep", "mask", "crop"])
@pytest.mark.parametrize("size", [(0, 0), (61, 83)])
def test_color_images_are_the_screen_resized(hud: str, size: tuple[int, int]) -> None:
    env = play_to("1-1", obs="rgb", hud=hud, size=size)
    obs = env.step(1)[0]
    screen = env.console.screen.copy()
    if hud == "mask":
        screen[:HUD] = 0
    if hud == "crop":
        screen = screen[HUD:]
    height, width = size if size != (0, 0) else screen.shape[:2]
    for channel in range(3):
        expected = resize_exactly(screen[:, :, channel], height, width)
        np.testing.assert_array_equal(obs[:, :, channel], expected)


def test_grey_is_the_brightness_of_the_colors() -> None:
    env = play_to("1-1")
    red, green, blue = np.moveaxis(env.console.screen.astype(float), 2, 0)
    grey = writer(ROWS, COLUMNS).grey(env.console).astype(float)
    assert np.abs(0.299 * red + 0.587 * green + 0.114 * blue - grey).max() <= 1


def test_the_newest_image_comes_last_and_the_stack_moves_on() -> None:
    env = warpzone.MarioEnv("1-1", size=60)
    before, _ = env.reset(seed=0)
    assert (before == before[0]).all()
    for _ in range(6):
        after = env.step(3)[0]
        np.testing.assert_array_equal(after[:-1], before[1:])
        assert (after[-1] != after[-2]).any()
        before = after


def test_max_pool_takes_the_brighter_of_the_last_two_frames() -> None:
    pooled = warpzone.MarioEnv("1-1", max_pool=True, stack=1, size=(240, 256), frame_skip=4)
    frames = warpzone.MarioEnv("1-1", stack=1, size=(240, 256), frame_skip=1)
    pooled.reset(seed=0)
    frames.reset(seed=0)
    for _ in range(8):
        four = [frames.step(3)[0] for _ in range(4)]
        np.testing.assert_array_equal(pooled.step(3)[0], np.maximum(four[2], four[3]))


#: SHA-256 (first 16 digits) of the observation after 13 steps to the right from a level's start.
GOLDEN = {
    "1-1": "fee6090630059d3d",
    "1-2": "9b4fae4d56e0df7d",
    "2-2": "87477a21d00c1ad8",
    "4-4": "aa94c195aa94f0ec",
    "5-1": "04770e9f4d359493",
    "8-3": "235cbf77c8d5c153",
}


@pytest.mark.parametrize("level", GOLDEN)
def test_golden_images_have_not_changed(level: str) -> None:
    env = play_to(level, steps=12)
    obs = env.step(1)[0]
    assert hashlib.sha256(obs.tobytes()).hexdigest()[:16] == GOLDEN[level]


def test_color_images_are_pooled_per_channel() -> None:
    options: dict[str, Any] = {"obs": "rgb", "size": (60, 64)}
    pooled = warpzone.MarioEnv("1-1", max_pool=True, frame_skip=4, **options)
    frames = warpzone.MarioEnv("1-1", frame_skip=1, obs="rgb")
    pooled.reset(seed=0)
    frames.reset(seed=0)
    for _ in range(8):
        four = [frames.step(3)[0] for _ in range(4)]
        brighter = np.maximum(four[2], four[3])
        expected = [resize_exactly(brighter[:, :, channel], 60, 64) for channel in range(3)]
        np.testing.assert_array_equal(pooled.step(3)[0], np.stack(expected, axis=2))


@pytest.mark.parametrize("stack", [1, 3])
def test_channels_first_is_the_same_color_image_transposed(stack: int) -> None:
    options: dict[str, Any] = {"obs": "rgb", "size": (60, 77), "stack": stack}
    last = warpzone.MarioEnv("1-1", **options)
    first = warpzone.MarioEnv("1-1", channels="first", **options)
    assert last.observation_space.shape == (60, 77, 3 * stack)
    assert first.observation_space.shape == (3 * stack, 60, 77)
    last.reset(seed=0)
    first.reset(seed=0)
    for _ in range(5):
        expected = np.moveaxis(last.step(3)[0], 2, 0)
        obs = first.step(3)[0]
        assert obs.flags.c_contiguous
        np.testing.assert_array_equal(obs, expected)


def test_an_enlarged_image_repeats_pixels() -> None:
    env = play_to("1-1", obs="rgb", size=(2 * ROWS, 3 * COLUMNS))
    obs = env.step(1)[0]
    np.testing.assert_array_equal(obs, env.console.screen.repeat(2, axis=0).repeat(3, axis=1))


def test_shown_buttons_are_white_blocks_in_the_corner() -> None:
    env = warpzone.MarioEnv("1-1", show_buttons=True, actions=[["right", "A"]])
    first, _ = env.reset(seed=0)
    assert (first[:, :4, :32] == 0).all()
    image = env.step(0)[0][-1]
    pressed = [bool((image[:4, 4 * k : 4 * k + 4] == 255).all()) for k in range(8)]
    assert pressed == [True, *[False] * 6, True]
    plain = warpzone.MarioEnv("1-1", actions=[["right", "A"]])
    plain.reset(seed=0)
    image[:4, :32] = (without := plain.step(0)[0][-1])[:4, :32]
    np.testing.assert_array_equal(image, without)
