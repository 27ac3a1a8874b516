import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from small_disk import fill, refuse_writes, small_disk
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from warpzone.telemetry.jsonl import JsonlSink
from warpzone.telemetry.parquet import ParquetSnapshot, write_parquet
from warpzone.telemetry.sinks import TensorBoardSink


def scalars(folder: Path, tag: str) -> list[tuple[int, float]]:
    accumulator = EventAccumulator(str(folder))
    accumulator.Reload()
    return [(event.step, event.value) for event in accumulator.Scalars(tag)]


def events_sink(folder: Path) -> TensorBoardSink:
    (folder / "events").mkdir()
    return TensorBoardSink(folder / "events")


def test_tensorboard_reads_what_is_written(tmp_path: Path) -> None:
    sink = events_sink(tmp_path)
    sink.write({"run/steps": 100, "loss/policy": 0.5, "loss/value": None})
    sink.write({"run/steps": 200, "loss/policy": 0.25})
    sink.close()
    assert scalars(tmp_path / "events", "loss/policy") == [(100, 0.5), (200, 0.25)]


def test_tensorboard_survives_a_folder_that_is_deleted_and_restored(tmp_path: Path) -> None:
    sink = events_sink(tmp_path)
    sink.write({"run/steps": 1, "loss/policy": 1.0})
    shutil.rmtree(tmp_path / "events")
    with pytest.raises(FileNotFoundError):
        sink.write({"run/steps": 2, "loss/policy": 2.0})
    (tmp_path / "events").mkdir()
    sink.write({"run/steps": 3, "loss/policy": 3.0})
    sink.close()
    assert scalars(tmp_path / "events", "loss/policy") == [(3, 3.0)]


def test_tensorboard_survives_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sink = events_sink(tmp_path)
    sink.write({"run/steps": 1, "loss/policy": 1.0})
    end_fault = refuse_writes(monkeypatch, take=7)
    with pytest.raises(OSError, match="No space"):
        sink.write({"run/steps": 2, "loss/policy": 2.0})
    end_fault()
    sink.write({"run/steps": 3, "loss/policy": 3.0})
    sink.close()
    assert scalars(tmp_path / "events", "loss/policy") == [(1, 1.0), (3, 3.0)]


def test_the_tensorboard_sink_loads_no_torch(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib\n"
        "from warpzone.telemetry.sinks import TensorBoardSink\n"
        "from warpzone.telemetry import heartbeat, hub, resources, terminal\n"
        "TensorBoardSink(pathlib.Path(sys.argv[1])).write({'run/steps': 1})\n"
        "print('torch' in sys.modules)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "False"


def write_rows(path: Path, count: int) -> None:
    sink = JsonlSink(path, rotate_bytes=500)
    for n in range(count):
        loss = None if n == 1 else n / 2
        sink.write({"run/steps": n, "run/session": 1, "loss/policy": loss})
    sink.write({"run/steps": count, "run/session": 1, "loss/value": 1})
    sink.close()


def test_parquet_has_every_row_and_null_for_what_is_absent(tmp_path: Path) -> None:
    write_rows(tmp_path / "metrics.jsonl", 50)
    assert write_parquet(tmp_path / "metrics.jsonl", tmp_path / "metrics.parquet") == 51
    table = pq.read_table(tmp_path / "metrics.parquet")
    assert table["run/steps"].to_pylist() == list(range(51))
    assert table["loss/policy"].to_pylist()[:3] == [0.0, None, 1.0]
    assert table["loss/policy"].to_pylist()[-1] is None
    assert str(table.schema.field("run/steps").type) == "int64"
    assert str(table.schema.field("loss/value").type) == "double"


def test_snapshots_come_at_intervals_and_at_the_end(tmp_path: Path) -> None:
    now = 0.0
    source, target = tmp_path / "metrics.jsonl", tmp_path / "metrics.parquet"
    snapshot = ParquetSnapshot(source, target, interval=60, clock=lambda: now)
    write_rows(source, 3)
    snapshot.write({})
    assert not target.exists()
    now = 61.0
    snapshot.write({})
    assert pq.read_table(target).num_rows == 4
    JsonlSink(source).write({"run/steps": 9, "run/session": 1})
    snapshot.write({})
    assert pq.read_table(target).num_rows == 4
    snapshot.close()
    assert pq.read_table(target).num_rows == 5


def test_snapshots_of_a_run_that_trains_leave_its_memory_alone(tmp_path: Path) -> None:
    write_rows(tmp_path / "metrics.jsonl", 3)
    script = f"""
import sys
from pathlib import Path
from warpzone.telemetry.parquet import ParquetSnapshot
folder = Path({str(tmp_path)!r})
ParquetSnapshot(folder / "metrics.jsonl", folder / "metrics.parquet", interval=0).write({{}})
assert "pyarrow" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", script], check=True)
    assert pq.read_table(tmp_path / "metrics.parquet").num_rows == 4


def test_a_snapshot_that_fails_says_why(tmp_path: Path) -> None:
    write_rows(tmp_path / "metrics.jsonl", 3)
    target = tmp_path / "missing" / "metrics.parquet"
    snapshot = ParquetSnapshot(tmp_path / "metrics.jsonl", target, interval=0)
    with pytest.raises(OSError, match=r"metrics\.parquet was not written: .*No such file"):
        snapshot.write({})


def test_a_full_disk_leaves_the_old_snapshot(tmp_path: Path) -> None:
    with small_disk(tmp_path) as place:
        source, target = tmp_path / "metrics.jsonl", place / "metrics.parquet"
        write_rows(source, 10)
        write_parquet(source, target)
        before = target.read_bytes()
        fill(place)
        with pytest.raises(OSError, match="No space"):
            write_parquet(source, target)
        assert target.read_bytes() == before
        assert {file.name for file in place.iterdir()} == {"ballast", "metrics.parquet"}


def test_without_rows_no_file_is_written(tmp_path: Path) -> None:
    assert write_parquet(tmp_path / "metrics.jsonl", tmp_path / "metrics.parquet") == 0
    assert not (tmp_path / "metrics.parquet").exists()
