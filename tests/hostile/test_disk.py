"""Disks that are full or cannot be written, and no descriptors left: one sentence each."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from cases import LONGER, SMALL
from outcome import assert_sane, run
from small_disk import fill, small_disk
from world import BOARD, POLICY, ROM, RUN, SOLUTION

WRITERS: dict[str, tuple[str, ...]] = {
    "train": ("train", *SMALL, "--no-video"),
    "resume": ("train", "--resume", RUN, *LONGER),
    "eval": ("eval", RUN, "--episodes", "1"),
    "video": ("video", SOLUTION, "-o", "v.mp4"),
    "export": ("export", RUN, "-o", "x.policy"),
    "scoreboard": ("scoreboard", BOARD),
    "scoreboard --export": ("scoreboard", BOARD, "--export", "out"),
    "campaign": ("campaign", "-o", "new", "--levels", "1-1", *SMALL),
    "report": ("report", RUN, "--no-videos"),
    "render": ("render", "--steps", "2", "-o", "x.png"),
    "rom import": ("rom", "import", ROM),
    "solve": ("solve", "--level", "1-1", "--frames", "2000000", "-o", "found"),
    "bench env": ("bench", "env", "--seconds", "0.01", "--num-envs", "1", "--json", "x.json"),
    "doctor env": ("doctor", "env", "--trials", "1", "--num-envs", "1", "-o", "x.jsonl"),
}
READERS: dict[str, tuple[str, ...]] = {
    "rom status": ("rom", "status"),
    "runs show": ("runs", "show", RUN),
    "scoreboard --verify": ("scoreboard", BOARD, "--verify", "--level", "1-2"),
}


@pytest.fixture(params=["full", "read-only"])
def bad_disk(
    request: pytest.FixtureRequest,
    pristine_world: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Path]:
    with small_disk(tmp_path, "24m") as disk:
        world = disk / "world"
        shutil.copytree(pristine_world, world)
        if request.param == "full":
            fill(disk)
        else:
            subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        monkeypatch.chdir(world)
        monkeypatch.setenv("WARPZONE_DATA_DIR", str(world / "data"))
        monkeypatch.setenv("WARPZONE_ROM", str(world / ROM))
        yield world


@pytest.mark.parametrize("name", WRITERS)
def test_a_disk_that_takes_nothing_is_one_sentence(bad_disk: Path, name: str) -> None:
    outcome = run(*WRITERS[name])
    assert_sane(outcome, bad_disk)
    assert outcome.code == 2, outcome


@pytest.mark.parametrize("name", READERS)
def test_reading_needs_no_space(bad_disk: Path, name: str) -> None:
    assert_sane(run(*READERS[name]), bad_disk)


def test_the_doctor_names_a_disk_that_takes_nothing(bad_disk: Path) -> None:
    outcome = run("doctor")
    assert_sane(outcome, bad_disk)
    assert outcome.code == 1
    assert "runs folder" in outcome.out


@contextmanager
def descriptors(spare: int) -> Iterator[None]:
    """Leaves so many descriptors to open."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = os.open(os.devnull, os.O_RDONLY)
    os.close(free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free + spare, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.mark.parametrize("spare", [0, 1, 3])
@pytest.mark.parametrize(
    "command",
    [
        ("eval", RUN, "--episodes", "1", "-o", "x"),
        ("eval", POLICY, "--episodes", "1", "-o", "x"),
        ("export", RUN, "-o", "x.policy"),
        ("runs", "show", RUN),
        ("scoreboard", BOARD),
        ("rom", "status"),
        ("render", "--steps", "2", "-o", "x.mp4"),
        ("train", "--resume", RUN, *LONGER),
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_without_descriptors_there_is_one_sentence(
    pristine_world: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: tuple[str, ...],
    spare: int,
) -> None:
    world = tmp_path / "world"
    shutil.copytree(pristine_world, world)
    monkeypatch.chdir(world)
    if spare == 0:
        run(*command)  # Imports what it needs, and is repeated in vain.
    with descriptors(spare):
        outcome = run(*command)
    assert_sane(outcome, world)
