"""Speed, scale and frame rate of videos, and which episode is kept."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import imageio.v3 as iio
import imageio_ffmpeg
import numpy as np
import pytest
from PIL import Image

from warpzone import cli
from warpzone.envs.endings import CLEAR, END_REASONS
from warpzone.errors import ConfigError
from warpzone.evaluation.policies import SequencePolicy
from warpzone.video.choosing import choose_episode
from warpzone.video.episode import Outcome, VideoOptions, record_episode
from warpzone.video.overlay import caption_bar
from warpzone.video.recorded_env import RecordedEnv
from warpzone.video.resampling import Resampler
from warpzone.video.video_format import VideoFormat
from warpzone.video.writer import VideoWriter

SOLUTION = Path(__file__).parent.parent.parent / "solutions" / "1-1.solution"


def outcome(progress: int, cleared: bool = False) -> Outcome:
    reason = list(END_REASONS).index(CLEAR) if cleared else 0
    return Outcome({"end_reason": reason, "progress": progress, "steps": 9, "frames": 36}, 0.0)


def play(*outcomes: Outcome) -> Callable[[int], Outcome]:
    return lambda seed: outcomes[seed - 5]


def distance(one: Outcome) -> int:
    return int(one.info["progress"])


def test_the_first_episode_that_clears_is_kept() -> None:
    choice = choose_episode(play(outcome(1), outcome(2, True)), range(5, 15), distance)
    assert (choice.seed, choice.tried, choice.cleared) == (6, 2, True)
    assert choice.reason == "kept the episode of seed 6, the first that clears (2 were played)"


def test_without_a_clear_the_episode_that_gets_furthest_is_kept() -> None:
    outcomes = outcome(10), outcome(30), outcome(30), outcome(20)
    choice = choose_episode(play(*outcomes), range(5, 9), distance)
    assert choice.reason == ("kept the episode of seed 6, which gets furthest: none of 4 clears")


def test_a_single_seed_is_not_played_first() -> None:
    choice = choose_episode(play(), range(5, 6), distance)
    assert choice.reason == "kept the episode of seed 5, the only one played"


def test_trying_and_recording_report_their_progress() -> None:
    seen: list[Any] = []
    outcomes = outcome(1), outcome(2, True)
    choice = choose_episode(play(*outcomes), range(5, 8), distance, lambda *now: seen.append(now))
    on_step = choice.on_step(lambda *now: seen.append(now))
    assert on_step is not None
    on_step(3)
    assert seen == [("trying seed 5", 0, 3), ("trying seed 6", 1, 3), ("recording", 3, 9)]


@pytest.mark.parametrize(("rate", "expected"), [(1, 61), (0.5, 31), (2, 121), (0.25, 16)])
def test_a_rate_drops_or_repeats_frames(rate: float, expected: int) -> None:
    resampler = Resampler(rate)
    assert sum(resampler.copies() for _ in range(61)) == expected


@pytest.mark.parametrize(("speed", "expected"), [(0.5, 81), (2, 21), (4, 11)])
def test_speed_changes_the_number_of_frames(speed: float, expected: int) -> None:
    written: list[np.ndarray] = []
    env = RecordedEnv("1-1", actions=["NOOP"])
    options = VideoOptions(speed=speed)
    record_episode(env, SequencePolicy("NOOP"), written.append, steps=10, options=options)
    assert len(written) == expected


def test_an_impossible_speed_is_rejected() -> None:
    with pytest.raises(ConfigError, match=r"speed is 0; it must be from 0.0625 to 16"):
        VideoFormat(speed=0)


def test_a_gif_at_default_is_small_and_twice_as_fast(tmp_path: Path) -> None:
    path = tmp_path / "1-1.gif"
    assert cli.main(["video", str(SOLUTION), "-o", str(path)]) == 0
    assert path.stat().st_size < 1_500_000
    with Image.open(path) as gif:
        assert gif.size == (256, 264)
        assert gif.info["duration"] == 50


def test_speed_scale_and_fps_of_the_command_reach_the_file(tmp_path: Path) -> None:
    path = tmp_path / "1-1.mp4"
    options = ["--speed", "8", "--scale", "1", "--fps", "30"]
    assert cli.main(["video", str(SOLUTION), *options, "-o", str(path)]) == 0
    assert iio.immeta(path, plugin="FFMPEG")["fps"] == 30
    assert iio.immeta(path, plugin="FFMPEG")["size"] == (256, 264)
    assert iio.immeta(path, plugin="FFMPEG")["duration"] < 8, "50 seconds at the game's speed"


def test_a_caption_is_drawn_in_its_color() -> None:
    bar = caption_bar("1-1 seed 3 cleared", 128, (60, 200, 80))
    assert bar.shape == (13, 128, 3)
    assert (bar == (60, 200, 80)).all(axis=2).sum() > 100


def test_a_video_with_sound_plays_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "tone.mp4"
    rate = 44_100
    with VideoWriter(path, fps=30, sound_rate=rate) as video:
        for _ in range(30):
            video.write(np.zeros((32, 32, 3), np.uint8))
        video.write_sound((0.5 * np.sin(2 * np.pi * 441 * np.arange(rate) / rate)).astype("f4"))
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-i", str(path)]
    decoded = subprocess.run(
        [*command, "-f", "s16le", "-ac", "1", "-ar", str(rate), "-"],
        check=True,
        capture_output=True,
    )
    samples = np.frombuffer(decoded.stdout, "<i2") / 32768
    spectrum = np.abs(np.fft.rfft(samples))
    assert len(samples) / rate == pytest.approx(1, abs=0.1)
    assert np.argmax(spectrum) * rate / len(samples) == pytest.approx(441, abs=2)
    assert samples[rate // 4 : 3 * rate // 4].std() == pytest.approx(0.354, abs=0.02)
    assert [file.name for file in tmp_path.iterdir()] == ["tone.mp4"], "no temporary file is left"


def test_the_sound_of_every_emulated_frame_is_recorded() -> None:
    sounds: list[np.ndarray] = []
    env = RecordedEnv("1-1", actions=["RIGHT+A"])
    VideoFormat(sound=True).prepare(env)
    record_episode(
        env,
        SequencePolicy("RIGHT+A"),
        lambda _: None,
        steps=20,
        options=VideoOptions(fps=15),
        write_sound=sounds.append,
    )
    assert len(sounds) == 81
    assert np.abs(np.concatenate(sounds)).max() > 0.05


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-o", "run.gif"], "'run.gif' cannot have sound; write an .mp4 file instead"),
        (["--speed", "2", "-o", "run.mp4"], "speed is 2; a video with sound plays at speed 1"),
    ],
)
def test_sound_that_a_video_cannot_have_is_refused(
    options: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["video", str(SOLUTION), "--sound", *options]) == 2
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
