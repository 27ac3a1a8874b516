"""Files appear whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_disk import fill, small_disk

from warpzone.system.atomic_file import WholeFile, check_writable, remove_abandoned, replacing


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


def test_temporary_names_with_impossible_process_numbers_are_harmless(tmp_path: Path) -> None:
    for number in ("0", "9999999999", "9" * 40):
        (tmp_path / f".a.{number}.tmp").touch()
    remove_abandoned(tmp_path)


def test_an_error_while_discarding_does_not_hide_the_first_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Path, missing_ok: bool = False) -> None:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(ZeroDivisionError), replacing(tmp_path / "a"):
        raise ZeroDivisionError


def test_what_can_be_written_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "there.json").write_text("old")
    check_writable(tmp_path / "there.json")
    check_writable(tmp_path / "new.json")
    assert (tmp_path / "there.json").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["there.json"]


def test_what_cannot_be_written_is_known_before_and_named(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "folder", tmp_path / "missing" / "a.json", tmp_path / ("n" * 300)):
        with pytest.raises(OSError, match=r"Errno") as caught:
            check_writable(path)
        assert caught.value.filename == str(path)


def test_a_full_disk_is_known_before(tmp_path: Path) -> None:
    with small_disk(tmp_path) as place:
        fill(place)
        with pytest.raises(OSError, match="No space left"):
            check_writable(place / "a.json")
        assert [path.name for path in place.iterdir()] == ["ballast"]
