from pathlib import Path

import imageio.v3 as imageio
import numpy as np
import pytest
from PIL import Image
from small_disk import fill, small_disk

from warpzone.errors import ConfigError, VideoError
from warpzone.video.ffmpeg import Ffmpeg
from warpzone.video.image import ImageWriter, contact_sheet
from warpzone.video.writer import VideoWriter, enlarge, gif_durations


def frames(count: int, height: int = 20, width: int = 30) -> list[np.ndarray]:
    """Returns uniformly grey frames, each brighter than the previous one."""
    return [np.full((height, width, 3), 8 * (index + 1), np.uint8) for index in range(count)]


def write_then_fail(path: Path) -> None:
    with VideoWriter(path) as video:
        video.write(frames(1)[0])
        raise KeyboardInterrupt


def write_all(path: Path, *images: np.ndarray) -> None:
    with VideoWriter(path) as video:
        for image in images:
            video.write(image)


def test_mp4_has_all_frames_in_order_and_even_sizes(tmp_path: Path) -> None:
    path = tmp_path / "video.mp4"
    with VideoWriter(path, fps=30, scale=3) as video:
        for frame in frames(12, height=21, width=31):
            video.write(frame)
    decoded = imageio.imread(path, plugin="FFMPEG")
    assert decoded.shape == (12, 64, 94, 3)  # 63 x 93, padded to even sizes
    brightness = decoded[:, 10:50, 10:80].mean(axis=(1, 2, 3))
    np.testing.assert_allclose(brightness, [8 * (index + 1) for index in range(12)], atol=4)
    assert imageio.immeta(path, plugin="FFMPEG")["fps"] == 30
    assert imageio.immeta(path, plugin="FFMPEG")["codec"] == "h264"


def test_gif_keeps_colors_exactly_and_enlarges_without_blur(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    palette = rng.integers(0, 256, (40, 3)).astype(np.uint8)
    frame = palette[rng.integers(0, 40, (24, 32))]
    path = tmp_path / "video.gif"
    with VideoWriter(path, fps=25, scale=2) as video:
        video.write(frame)
        video.write(frame[::-1].copy())
    with Image.open(path) as gif:
        assert gif.n_frames == 2
        np.testing.assert_array_equal(np.asarray(gif.convert("RGB")), enlarge(frame, 2))
        gif.seek(1)
        np.testing.assert_array_equal(np.asarray(gif.convert("RGB")), enlarge(frame[::-1], 2))


def test_fast_gif_drops_frames_and_keeps_its_length(tmp_path: Path) -> None:
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


def test_gif_durations_are_multiples_of_10_ms_without_drift() -> None:
    durations = gif_durations(15, 15)
    assert sum(durations) == 1000
    assert {duration % 10 for duration in durations} == {0}
    assert set(durations) == {60, 70}


@pytest.mark.parametrize("name", ["video.mp4", "video.gif"])
def test_failure_inside_the_block_keeps_the_old_file_and_leaves_no_partial_file(
    tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    path.write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt):
        write_then_fail(path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_file_appears_only_when_complete(tmp_path: Path) -> None:
    path = tmp_path / "video.mp4"
    with VideoWriter(path) as video:
        for frame in frames(5):
            video.write(frame)
        assert not path.exists()
    assert list(tmp_path.iterdir()) == [path]


def test_video_without_frames_raises_and_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(VideoError, match="there are no frames"), VideoWriter(tmp_path / "v.mp4"):
        pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (np.zeros((8, 8), np.uint8), "shape"),
        (np.zeros((8, 8, 3), np.float32), "float32"),
        (np.zeros((9, 8, 3), np.uint8), "the first frame had"),
    ],
)
def test_invalid_frames_are_rejected(tmp_path: Path, frame: np.ndarray, message: str) -> None:
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
def test_invalid_options_are_named(options: dict, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        VideoWriter(**options)


def test_missing_folder_is_named_before_anything_is_played(tmp_path: Path) -> None:
    video = VideoWriter(tmp_path / "none" / "v.mp4")
    with pytest.raises(VideoError, match="none does not exist"):
        video.__enter__()


def test_a_full_disk_is_known_before_anything_is_played(tmp_path: Path) -> None:
    with small_disk(tmp_path) as place:
        fill(place)
        with pytest.raises(VideoError, match="No space left"):
            VideoWriter(place / "v.mp4").__enter__()


def test_ffmpegs_own_reason_is_given_and_no_broken_video_stays(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    noise = [rng.integers(0, 256, (240, 256, 3)).astype(np.uint8) for _ in range(60)]
    with small_disk(tmp_path) as place:
        with pytest.raises(VideoError, match=r"ffmpeg cannot write the video: .*No space left"):
            write_all(place / "v.mp4", *noise)
        assert list(place.iterdir()) == []


def test_an_ffmpeg_that_is_killed_is_an_error(tmp_path: Path) -> None:
    ffmpeg = Ffmpeg(tmp_path / "v.mp4", (32, 32), 30)
    ffmpeg.write(np.zeros((32, 32, 3), np.uint8))
    ffmpeg._process.kill()
    with pytest.raises(VideoError, match="it was ended by SIGKILL"):
        ffmpeg.finish()


@pytest.mark.parametrize(
    "name", ["concat:a|b.mp4", "%d.mp4", "-y.mp4", "\x1b[31m.mp4", "\U0001f344.mp4"]
)
def test_names_mean_nothing_to_ffmpeg(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_all(Path(name), *frames(2))
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_png_is_the_last_frame(tmp_path: Path) -> None:
    path = tmp_path / "image.png"
    with ImageWriter(path, scale=2) as writer:
        for frame in frames(3):
            writer.write(frame)
    np.testing.assert_array_equal(np.asarray(Image.open(path)), enlarge(frames(3)[-1], 2))


def test_contact_sheet_arranges_frames_row_by_row() -> None:
    sheet = contact_sheet(frames(5, height=10, width=20))
    assert sheet.shape == (24, 68, 3)  # two rows of three, four pixels apart
    assert [sheet[5, 5, 0], sheet[5, 29, 0], sheet[5, 53, 0]] == [8, 16, 24]
    assert [sheet[19, 5, 0], sheet[19, 29, 0], sheet[19, 53, 0]] == [32, 40, 0]


def test_contact_sheet_contains_only_every_nth_frame(tmp_path: Path) -> None:
    path = tmp_path / "sheet.png"
    with ImageWriter(path, every=10) as writer:
        for frame in frames(31, height=10, width=20):
            writer.write(frame)
    assert Image.open(path).size == (44, 24)  # frames 0, 10, 20 and 30
