"""Reading JSON Lines files, intact and damaged."""

import gzip
import json
import threading
from pathlib import Path

import pytest

from warpzone.telemetry.jsonl import JsonlSink
from warpzone.telemetry.reading import (
    finite,
    last_line,
    read_episodes,
    read_lines,
    read_rows,
)


def numbers(path: Path) -> list[int]:
    return [row["n"] for row in read_lines(path)]


def lines(*rows: object) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_the_last_line_is_found_behind_rotation_and_torn_ends(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    assert last_line(path) is None
    sink = JsonlSink(path, rotate_bytes=60)
    for n in range(20):
        sink.write({"n": n})
    sink.close()
    with path.open("a") as file:
        file.write('{"n":')
    assert last_line(path) == {"n": 19}
    path.unlink()
    assert last_line(path) is not None


def test_the_last_line_of_a_long_file_is_found(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(lines(*({"n": n, "text": "x" * 1000} for n in range(500))))
    found = last_line(path)
    assert found is not None
    assert found["n"] == 499


def test_rows_repeated_after_a_resume_replace_the_old_ones(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    written = [(1, 10), (1, 20), (1, 20), (1, 30), (2, 20), (2, 30), (2, 40)]
    path.write_text(lines(*({"run/session": s, "run/steps": steps} for s, steps in written)))
    found = [(row["run/session"], row["run/steps"]) for row in read_rows(path)]
    assert found == [(1, 10), (2, 20), (2, 30), (2, 40)]


def test_episodes_repeated_after_a_kill_replace_the_old_ones(tmp_path: Path) -> None:
    path = tmp_path / "episodes.jsonl"
    written = [(1, 1), (1, 2), (1, 2), (1, 4), (2, 2), (2, 2), (2, 3)]
    path.write_text(lines(*({"session": s, "update": update} for s, update in written)))
    found = [(row["session"], row["update"]) for row in read_episodes(path)]
    assert found == [(1, 1), (2, 2), (2, 2), (2, 3)]


def test_reading_while_writing_and_rotating_never_loses_a_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    sink = JsonlSink(path, rotate_bytes=2000)
    stop = threading.Event()
    written = 0

    def write() -> None:
        nonlocal written
        while not stop.wait(0.0005):
            sink.write({"n": written})
            written += 1

    thread = threading.Thread(target=write)
    thread.start()
    try:
        for _ in range(40):
            before = written
            found = numbers(path)
            assert found == list(range(len(found)))
            assert len(found) >= before
    finally:
        stop.set()
        thread.join()


def damages_of(path: Path) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    list(read_lines(path, lambda file, reason: found.append((file.name, reason))))
    return found


def rotated(tmp_path: Path, content: bytes) -> Path:
    (tmp_path / "a-0001.jsonl.gz").write_bytes(content)
    path = tmp_path / "a.jsonl"
    path.write_text('{"n":9}\n')
    return path


@pytest.mark.parametrize(
    "spoil",
    [
        lambda good: good[:-12],
        lambda good: good[:-8] + bytes(4) + good[-4:],
        lambda good: b"not gzip at all",
        lambda good: good + b"garbage",
        lambda good: good[:20] + b"\xff" * 20 + good[40:],
    ],
    ids=["torn", "checksum", "no-gzip", "tail", "middle"],
)
def test_a_damaged_archive_is_reported_and_the_rest_is_read(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, spoil: object
) -> None:
    good = gzip.compress(lines(*({"n": n} for n in range(9))).encode())
    path = rotated(tmp_path, spoil(good))  # type: ignore[operator]
    assert numbers(path)[-1] == 9
    assert "a-0001.jsonl.gz is damaged" in caplog.text
    assert damages_of(path)[0][0] == "a-0001.jsonl.gz"
    assert last_line(path) == {"n": 9}


def test_reading_stops_at_the_size_limit_of_an_archive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("warpzone.telemetry.reading._MAX_BYTES", 1000)
    monkeypatch.setattr("warpzone.telemetry.reading.ROTATE_BYTES", 500)
    path = rotated(tmp_path, gzip.compress(bytes(1_000_000)))
    assert damages_of(path)[0] == ("a-0001.jsonl.gz", "it holds more than 1,000 bytes")


@pytest.mark.parametrize(
    "bad",
    [b"garbage", b"[]", b"\xff\xfe", b"[" * 100_000, b"1" * 10_000, b'{"n": 1'],
    ids=["text", "list", "no-utf8", "deep", "huge-number", "half"],
)
def test_a_bad_line_is_skipped_and_its_file_reported(tmp_path: Path, bad: bytes) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"n":1}\n' + bad + b'\n{"n":2}\n')
    assert damages_of(path) == [("a.jsonl", "1 line is not a JSON object")]
    assert numbers(path) == [1, 2]
    assert last_line(path) == {"n": 2}


def test_a_line_that_is_being_written_is_not_reported_as_damage(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"n":1}\n{"n":')
    assert damages_of(path) == []


@pytest.mark.parametrize(
    "value", ["12", None, True, [], float("nan"), float("inf"), 10**400, {"a": 1}]
)
def test_only_finite_numbers_are_numbers(value: object) -> None:
    assert finite({"n": value}, "n") is None
    assert finite({"n": 3}, "n") == 3
    assert finite({}, "n") is None
