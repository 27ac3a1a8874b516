"""Videos of runs: contact sheets, background recording, and no effect on training."""

from __future__ import annotations

import logging
import time
from dataclasses import replace
from pathlib import Path
from unittest import mock

import imageio.v3 as iio
import numpy as np
import pytest
import torch

from warpzone import cli
from warpzone.config import EnvOptions, LearnOptions, ModelOptions, RunOptions, TrainConfig
from warpzone.errors import ConfigError
from warpzone.runs import checkpoint
from warpzone.runs.checkpoint_store import find_latest
from warpzone.runs.directory import RunDirectory
from warpzone.training import session
from warpzone.video.background import BackgroundRecorder
from warpzone.video.contact_sheet import record_contact_sheet
from warpzone.video.policy_video import record_policy

CONFIG = TrainConfig(
    env=EnvOptions(obs="tiles", num_envs=4, num_threads=1, stagnation_limit=20),
    model=ModelOptions(hidden=16),
    learn=LearnOptions(rollout_steps=8, minibatch_size=16),
    run=RunOptions(steps=64, torch_threads=1, device="cpu", precision="float32", video_minutes=0.0),
)
GAP, HEIGHT, WIDTH, CAPTION = 4, 240, 256, 13


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, rom_path: Path) -> RunDirectory:
    runs = str(tmp_path_factory.mktemp("runs"))
    return session.start(replace(CONFIG, run=replace(CONFIG.run, runs=runs)), "quiet")[0]


def test_an_image_shows_how_every_episode_ended(run: RunDirectory, tmp_path: Path) -> None:
    path = record_contact_sheet(run.path, tmp_path / "ends.png", num_envs=5)
    sheet = iio.imread(path)
    assert sheet.shape == (2 * (HEIGHT + CAPTION + GAP) - GAP, 3 * (WIDTH + GAP) - GAP, 3)
    captions = sheet[HEIGHT : HEIGHT + CAPTION, :WIDTH].reshape(-1, 3)
    assert tuple(sheet[1, 1]) in {tuple(color) for color in captions}, "in the border's color"
    borders = {tuple(sheet[1, column * (WIDTH + GAP) + 1]) for column in range(3)}
    assert borders <= {(60, 200, 80), (220, 50, 50), (130, 130, 130)}
    assert not sheet[HEIGHT + CAPTION + GAP :, 2 * (WIDTH + GAP) :].any(), "the sixth cell is empty"


@pytest.mark.parametrize(("name", "shrink"), [("sheet.mp4", 1), ("sheet.gif", 2)])
def test_a_video_shows_the_environments_side_by_side(
    run: RunDirectory, tmp_path: Path, name: str, shrink: int
) -> None:
    command = ["video", str(run.path), "--contact-sheet", "--num-envs", "2"]
    assert cli.main([*command, "-o", str(tmp_path / name)]) == 0
    frames = iio.imread(tmp_path / name)
    size = HEIGHT // shrink + CAPTION, 2 * WIDTH // shrink + GAP
    assert frames.shape[1:3] == tuple(length + length % 2 * (shrink == 1) for length in size)
    assert len(frames) > 30 // shrink**2, "the final two seconds alone are that many frames"
    assert not np.array_equal(frames[0], frames[-1])


def test_an_invalid_num_envs_or_suffix_is_rejected(run: RunDirectory, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="num_envs is 0; it must be from 1 to 100"):
        record_contact_sheet(run.path, tmp_path / "a.mp4", num_envs=0)
    with pytest.raises(ConfigError, match="must end with"):
        record_contact_sheet(run.path, tmp_path / "a.avi")
    assert list(tmp_path.iterdir()) == []


def test_an_episode_can_be_recorded_as_a_gif(run: RunDirectory, tmp_path: Path) -> None:
    path = record_policy(run.path, tmp_path / "run.gif", max_seeds=1).path
    assert path.read_bytes()[:4] == b"GIF8"


def test_a_checkpoint_is_recorded_in_the_background(
    run: RunDirectory, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "warpzone")
    latest = find_latest(run.path)
    assert latest is not None
    output = tmp_path / "first.mp4"
    with BackgroundRecorder() as recorder:
        recorder.record(latest, output)
        recorder.record(latest, tmp_path / "second.mp4")
        assert "skipped second.mp4" in caplog.text
        deadline = time.monotonic() + 900
        while not output.exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        recorder.record(tmp_path / "missing.pt", tmp_path / "third.mp4")
    assert output.exists()
    assert f"recorded {output}" in caplog.text or "skipped third.mp4" in caplog.text


def test_a_cancelled_recording_leaves_no_partial_file(run: RunDirectory, tmp_path: Path) -> None:
    latest = find_latest(run.path)
    assert latest is not None
    with BackgroundRecorder() as recorder:
        recorder.record(latest, tmp_path / "video.mp4")
    assert [path.name for path in tmp_path.iterdir()] in ([], ["video.mp4"])


def test_recording_does_not_change_the_learned_weights(tmp_path: Path, rom_path: Path) -> None:
    results = []
    for minutes in (0.0, 1e-9):
        config = replace(
            CONFIG, run=replace(CONFIG.run, runs=str(tmp_path), video_minutes=minutes, steps=160)
        )
        record = mock.Mock()
        run, _ = session.start(config, "quiet", record=record)
        latest = find_latest(run.path)
        assert latest is not None
        results.append(checkpoint.load(latest).state["model"])
        assert record.call_count == (5 if minutes else 0)
        assert all(call.args[1].parent == run.videos for call in record.call_args_list)
    for name, value in results[0].items():
        assert torch.equal(value, results[1][name]), name
