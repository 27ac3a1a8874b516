from pathlib import Path

import imageio.v3 as imageio
import numpy as np
import pytest
from PIL import Image

from warpzone.errors import ConfigError, VideoError
from warpzone.video.image import PictureWriter, contact_sheet
from warpzone.video.writer import VideoWriter, enlarge, gif_durations


def frames(count: int, height: int = 20, width: int = 30) -> list[np.ndarray]:
    """Flat grey pictures, each brighter than the one before."""
    return [np.full((height, width, 3), 8 * (index + 1), np.uint8) for index in range(count)]


def write_then_fail(path: Path) -> None:
    with VideoWriter(path) as video:
        video.write(frames(1)[0])
        raise KeyboardInterrupt


def write_all(path: Path, *pictures: np.ndarray) -> None:
    with VideoWriter(path) as video:
        for picture in pictures:
            video.write(picture)


def test_mp4_has_all_frames_in_order_and_even_sizes(tmp_path: Path) -> None:
    path = tmp_path / "video.mp4"
    with VideoWriter(path, fps=30, scale=3) as video:
        for frame in frames(12, height=21, width=31):
            video.write(frame)
    shown = imageio.imread(path, plugin="FFMPEG")
    assert shown.shape == (12, 64, 94, 3)  # 63 x 93, each made even
    brightness = shown[:, 10:50, 10:80].mean(axis=(1, 2, 3))
    np.testing.assert_allclose(brightness, [8 * (index + 1) for index in range(12)], atol=4)
    assert imageio.immeta(path, plugin="FFMPEG")["fps"] == 30
    assert imageio.immeta(path, plugin="FFMPEG")["codec"] == "h264"


def test_gif_keeps_colours_exactly_and_enlarges_without_blur(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    palette = rng.integers(0, 256, (40, 3)).astype(np.uint8)
    picture = palette[rng.integers(0, 40, (24, 32))]
    path = tmp_path / "video.gif"
    with VideoWriter(path, fps=25, scale=2) as video:
        video.write(picture)
        video.write(picture[::-1].copy())
    with Image.open(path) as gif:
        assert gif.n_frames == 2
        np.testing.assert_array_equal(np.asarray(gif.convert("RGB")), enlarge(picture, 2))
        gif.seek(1)
        np.testing.assert_array_equal(np.asarray(gif.convert("RGB")), enlarge(picture[::-1], 2))


def test_fast_gif_leaves_out_frames_and_keeps_its_length(tmp_path: Path) -> None:
    path = tmp_path / "video.gif"
    with VideoWriter(path, fps=60) as video:
        for frame in frames(30):
            video.write(frame)
    total = 0
    with Image.open(path) as gif:
        assert gif.n_frames == 15
        for index in range(gif.n_frames):
            gif.seek(index)
            total += gif.info["duration"]
    assert total == 500


def test_gif_durations_are_whole_hundredths_that_keep_the_time() -> None:
    durations = gif_durations(15, 15)
    assert sum(durations) == 1000
    assert {duration % 10 for duration in durations} == {0}
    assert set(durations) == {60, 70}


@pytest.mark.parametrize("name", ["video.mp4", "video.gif"])
def test_failure_inside_the_block_leaves_the_old_file_and_no_part(
    tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    path.write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt):
        write_then_fail(path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_file_appears_only_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "video.mp4"
    with VideoWriter(path) as video:
        for frame in frames(5):
            video.write(frame)
        assert not path.exists()
    assert list(tmp_path.iterdir()) == [path]


def test_video_without_a_frame_is_an_error_and_no_file(tmp_path: Path) -> None:
    with pytest.raises(VideoError, match="there was no frame"), VideoWriter(tmp_path / "v.mp4"):
        pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (np.zeros((8, 8), np.uint8), "shape"),
        (np.zeros((8, 8, 3), np.float32), "float32"),
        (np.zeros((9, 8, 3), np.uint8), "the first had"),
    ],
)
def test_unfit_frames_are_refused(tmp_path: Path, frame: np.ndarray, message: str) -> None:
    with pytest.raises(VideoError, match=message):
        write_all(tmp_path / "v.mp4", np.zeros((8, 8, 3), np.uint8), frame)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"path": "v.avi"}, "must end with .mp4 or .gif"),
        ({"path": "v.mp4", "fps": 0}, "fps is 0"),
        ({"path": "v.mp4", "scale": 0}, "scale is 0"),
    ],
)
def test_wrong_options_are_named(options: dict, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        VideoWriter(**options)


def test_missing_folder_is_named_before_anything_is_played(tmp_path: Path) -> None:
    video = VideoWriter(tmp_path / "none" / "v.mp4")
    with pytest.raises(VideoError, match="none does not exist"):
        video.__enter__()


def test_png_is_the_last_frame(tmp_path: Path) -> None:
    path = tmp_path / "picture.png"
    with PictureWriter(path, scale=2) as writer:
        for frame in frames(3):
            writer.write(frame)
    np.testing.assert_array_equal(np.asarray(Image.open(path)), enlarge(frames(3)[-1], 2))


def test_sheet_shows_every_nth_frame_row_by_row() -> None:
    pictures = frames(5, height=10, width=20)
    sheet = contact_sheet(pictures)
    assert sheet.shape == (24, 68, 3)  # two rows of three, four pixels apart
    assert [sheet[5, 5, 0], sheet[5, 29, 0], sheet[5, 53, 0]] == [8, 16, 24]
    assert [sheet[19, 5, 0], sheet[19, 29, 0], sheet[19, 53, 0]] == [32, 40, 0]


def test_sheet_of_a_long_film_takes_only_every_nth(tmp_path: Path) -> None:
    path = tmp_path / "sheet.png"
    with PictureWriter(path, every=10) as writer:
        for frame in frames(31, height=10, width=20):
            writer.write(frame)
    assert Image.open(path).size == (44, 24)  # frames 0, 10, 20 and 30
