"""Files appear whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpzone.system.atomic_file import WholeFile, remove_abandoned, replacing


def test_a_file_takes_its_place_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "film.mp4"
    path.write_text("old")
    with replacing(path) as part:
        part.write_text("new")
        assert part.suffix == ".mp4"
        assert part.name.startswith(".")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "film.mp4"
    path.write_text("old")
    with pytest.raises(ValueError, match="no"), replacing(path) as part:  # noqa: PT012
        part.write_text("half")
        raise ValueError("no")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_block_that_writes_nothing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), replacing(tmp_path / "a.json"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_what_a_dead_process_left_is_removed_and_what_a_living_one_writes_stays(
    tmp_path: Path,
) -> None:
    own = WholeFile(tmp_path / "update-1.pt").part
    own.write_bytes(b"half")
    for name in (".update-2.pt.4194305.tmp.pt", ".latest.json.4194305.tmp.json"):
        (tmp_path / name).write_bytes(b"half")
    remove_abandoned(tmp_path)
    assert list(tmp_path.iterdir()) == [own]
