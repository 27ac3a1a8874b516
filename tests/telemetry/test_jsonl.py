import gzip
import logging
import os
import shutil
from pathlib import Path

import pytest
from small_disk import fill, refuse_writes, small_disk

from warpzone.telemetry.jsonl import JsonlSink
from warpzone.telemetry.reading import read_lines, segments


def numbers(path: Path) -> list[int]:
    return [row["n"] for row in read_lines(path)]


def test_lines_are_there_before_close(tmp_path: Path) -> None:
    sink = JsonlSink(tmp_path / "a.jsonl")
    sink.write({"n": 1})
    sink.write({"n": 2})
    assert (tmp_path / "a.jsonl").read_text() == '{"n":1}\n{"n":2}\n'


def test_rotation_compresses_and_keeps_every_line_in_order(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    sink = JsonlSink(path, rotate_bytes=100)
    for n in range(100):
        sink.write({"n": n})
    names = [file.name for file in segments(path)]
    assert names[:2] == ["a-0001.jsonl.gz", "a-0002.jsonl.gz"]
    assert names[-1] == "a.jsonl"
    assert path.stat().st_size <= 100
    assert numbers(path) == list(range(100))
    assert {file.name for file in tmp_path.iterdir()} == set(names)


def test_a_rotation_that_was_killed_half_way_is_finished(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    (tmp_path / "a-0001.jsonl").write_text('{"n":1}\n')  # both forms: killed before the unlink
    (tmp_path / "a-0001.jsonl.gz").write_bytes(gzip.compress(b'{"n":1}\n'))
    (tmp_path / "a-0002.jsonl").write_text('{"n":2}\n')  # killed before compressing
    assert numbers(path) == [1, 2]
    JsonlSink(path).write({"n": 3})
    assert [file.name for file in segments(path)] == [
        "a-0001.jsonl.gz",
        "a-0002.jsonl.gz",
        "a.jsonl",
    ]
    assert numbers(path) == [1, 2, 3]
    assert not (tmp_path / "a-0001.jsonl").exists()


def test_an_incomplete_last_line_is_removed_before_appending(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"n":1}\n{"n":')
    assert numbers(path) == [1]
    JsonlSink(path).write({"n": 2})
    assert path.read_text() == '{"n":1}\n{"n":2}\n'


def test_a_deleted_folder_is_not_refilled_and_a_restored_one_is_used(tmp_path: Path) -> None:
    path = tmp_path / "run" / "a.jsonl"
    path.parent.mkdir()
    sink = JsonlSink(path)
    sink.write({"n": 1})
    shutil.rmtree(path.parent)
    sink.write({"n": 2})
    assert not path.parent.exists()
    assert sink.dropped == 1
    path.parent.mkdir()
    sink.write({"n": 3})
    assert numbers(path) == [3]


def test_a_full_disk_drops_lines_with_one_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "a.jsonl"
    sink = JsonlSink(path)
    sink.write({"n": 1})
    end_fault = refuse_writes(monkeypatch, take=3)
    for n in (2, 3, 4):
        sink.write({"n": n})
    assert path.read_text() == '{"n":1}\n'  # never half a line
    end_fault()
    sink.write({"n": 5})
    assert numbers(path) == [1, 5]
    assert sink.dropped == 3
    assert [record.levelno for record in caplog.records] == [logging.WARNING] * 2
    assert "3 lines were lost" in caplog.text


def test_lines_are_dropped_on_a_real_full_disk(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with small_disk(tmp_path) as place:
        path = place / "a.jsonl"
        sink = JsonlSink(path, rotate_bytes=20_000)
        sink.write({"n": 0})
        ballast = fill(place)
        for n in range(1, 2000):  # the page that is there already takes some
            sink.write({"n": n})
        assert 0 < sink.dropped < 1999
        assert path.read_bytes().endswith(b"\n")
        ballast.unlink()
        sink.write({"n": 5000})
        sink.close()
        kept = numbers(path)
        assert kept[-1] == 5000
        assert len(kept) + sink.dropped == 2001
        assert len([r for r in caplog.records if "are dropped" in r.message]) == 1


def test_values_that_json_cannot_represent_are_rejected(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON"):
        JsonlSink(tmp_path / "a.jsonl").write({"n": float("nan")})


def test_a_rotated_file_is_on_the_disk_before_the_plain_one_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.jsonl"
    events: list[str] = []
    real_sync, real_unlink = os.fsync, Path.unlink

    def fsync(descriptor: int) -> None:
        events.append("sync")
        real_sync(descriptor)

    def unlink(self: Path, missing_ok: bool = False) -> None:
        if self.name == "a-0001.jsonl":
            events.append("unlink")
        real_unlink(self, missing_ok=missing_ok)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(Path, "unlink", unlink)
    sink = JsonlSink(path, rotate_bytes=20)
    for n in range(3):
        sink.write({"n": n})
    assert events == ["sync", "sync", "unlink"]  # the file, its folder, and only then
    assert numbers(path) == [0, 1, 2]
