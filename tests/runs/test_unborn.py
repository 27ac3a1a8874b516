"""Only folders that a run wrote, and nothing of value, are ever removed."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from small_campaign import small_config

from warpzone.config import to_toml
from warpzone.errors import RunError
from warpzone.runs.checkpoint import CheckpointMeta
from warpzone.runs.checkpoint_store import CheckpointStore
from warpzone.runs.directory import RunDirectory
from warpzone.runs.lock import run_lock
from warpzone.runs.unborn import discard_unborn


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return RunDirectory.create(tmp_path, "1-1", to_toml(small_config()))


def everything(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}


def test_a_run_that_was_killed_before_its_first_checkpoint_is_removed(run: RunDirectory) -> None:
    run.metrics.write_text("{}\n")
    run.heartbeat.write_text("{}\n")
    run.log.write_text("started\n")
    run.stalls.mkdir()
    (run.stalls / "stall-1.txt").write_text("a thread")
    (run.events / "events.out.tfevents.1.host.2.0").write_bytes(b"")
    (run.checkpoints / ".update-00000001.pt.4194305.tmp.pt").write_bytes(b"half")
    (run.path / "lock.json").write_text('{"pid": 1}')
    discard_unborn(run.path)
    assert not run.path.exists()
    discard_unborn(run.path)  # Nothing is there, and nothing is wrong with that.


def test_a_folder_without_files_is_removed(tmp_path: Path) -> None:
    (tmp_path / "1-1" / "checkpoints").mkdir(parents=True)
    discard_unborn(tmp_path / "1-1")
    assert not (tmp_path / "1-1").exists()


@pytest.mark.parametrize(
    "name",
    ["thesis.tex", "checkpoints/notes.md", "videos/wedding.mp4", "deep/er/file", ".hidden"],
)
def test_a_foreign_file_is_named_and_nothing_is_removed(run: RunDirectory, name: str) -> None:
    path = run.path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("precious")
    before = everything(run.path)
    with pytest.raises(RunError, match=f"holds .*{name}.*nothing was removed"):
        discard_unborn(run.path)
    assert path.read_text() == "precious"
    assert everything(run.path) == before


@pytest.mark.parametrize("config", [None, 'title = "somebody else\'s"\n', "[half", "\xff"])
def test_files_named_like_ours_beside_a_foreign_configuration_stay(
    tmp_path: Path, config: str | None
) -> None:
    folder = tmp_path / "1-1"
    folder.mkdir()
    (folder / "log.txt").write_text("of another program")
    if config is not None:
        (folder / "config.toml").write_text(config, encoding="latin-1")
    with pytest.raises(RunError, match=r"log\.txt"):
        discard_unborn(folder)
    assert (folder / "log.txt").exists()


def test_the_state_of_a_failed_run_is_kept(run: RunDirectory) -> None:
    state = {"model": torch.ones(3)}
    path = CheckpointStore(run.checkpoints).save_failed(state, CheckpointMeta(96, 3))
    with pytest.raises(RunError, match=r"failed-00000003\.pt"):
        discard_unborn(run.path)
    assert path.exists()


def test_links_are_never_followed_or_removed(run: RunDirectory, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "log.txt").write_text("precious")
    (run.path / "stalls").symlink_to(elsewhere)
    with pytest.raises(RunError, match="stalls"):
        discard_unborn(run.path)
    link = tmp_path / "link"
    link.symlink_to(elsewhere)
    with pytest.raises(RunError, match="link exists, but is not the folder of a run"):
        discard_unborn(link)
    assert (elsewhere / "log.txt").exists()


def test_a_run_that_trains_at_this_moment_stays(run: RunDirectory) -> None:
    with run_lock(run.path), pytest.raises(RunError, match="in use"):
        discard_unborn(run.path)
    assert run.config.exists()
