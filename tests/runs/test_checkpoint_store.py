import gc
import json
import shutil
import subprocess
import sys
import weakref
from contextlib import suppress
from pathlib import Path

import pytest
import torch
from small_disk import refuse_writes

from warpzone.errors import CheckpointError, ResumeError
from warpzone.runs.checkpoint import CheckpointMeta, load
from warpzone.runs.checkpoint_store import (
    BEST,
    LATEST,
    CheckpointStore,
    find_best,
    find_latest,
    list_checkpoints,
    read_pointer,
)
from warpzone.runs.directory import RunDirectory
from warpzone.runs.resume import check_config, differences, find_resume


def save(store: CheckpointStore, update: int, best: bool = False) -> Path:
    state = {"update": update, "data": torch.full((1000,), float(update))}
    return store.save(state, CheckpointMeta(steps=update * 10, updates=update), best)


def damage(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-50])


def updates(folder: Path) -> list[int]:
    return [load(path).state["update"] for path in list_checkpoints(folder)]


def test_the_last_few_and_the_best_stay(tmp_path: Path) -> None:
    store = CheckpointStore(tmp_path, keep=2)
    for update in range(1, 7):
        save(store, update, best=update == 2)
    assert updates(tmp_path) == [6, 5, 2]
    latest, best = read_pointer(tmp_path, LATEST), find_best(tmp_path)
    assert latest is not None
    assert best is not None
    assert load(latest).state["update"] == 6
    assert load(best).state["update"] == 2
    assert len(list(tmp_path.iterdir())) == 3 * 2 + 2


def test_the_newest_good_one_is_found_and_damaged_ones_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = CheckpointStore(tmp_path)
    paths = [save(store, update) for update in (1, 2, 3)]
    assert find_latest(tmp_path) == paths[2]
    damage(paths[2])
    paths[1].with_suffix(".json").unlink()
    damage(paths[1])
    assert find_latest(tmp_path) == paths[0]
    assert "update-00000003.pt" in caplog.text
    assert "update-00000002.pt" in caplog.text


def test_all_damaged_is_an_error_and_none_at_all_is_none(tmp_path: Path) -> None:
    assert find_latest(tmp_path) is None
    damage(save(CheckpointStore(tmp_path), 1))
    with pytest.raises(CheckpointError, match=r"no checkpoint .* is intact: update-00000001.pt"):
        find_latest(tmp_path)


def test_newest_means_last_written_not_most_updates(tmp_path: Path) -> None:
    save(CheckpointStore(tmp_path), 100)
    assert save(CheckpointStore(tmp_path), 50) == find_latest(tmp_path)


def test_going_on_after_damage_never_removes_the_good_ones(tmp_path: Path) -> None:
    damaged = save(CheckpointStore(tmp_path, keep=1), 9)
    damaged.with_suffix(".json").unlink()
    damage(damaged)
    path = save(CheckpointStore(tmp_path, keep=1), 5)
    assert find_latest(tmp_path) == path


def test_the_same_update_can_be_saved_again(tmp_path: Path) -> None:
    store = CheckpointStore(tmp_path)
    save(store, 1)
    path = save(store, 1)
    assert load(path).meta.serial == 2
    assert len(list_checkpoints(tmp_path)) == 1


def test_a_full_disk_keeps_all_earlier_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = CheckpointStore(tmp_path, keep=1)
    path = save(store, 1)
    end_fault = refuse_writes(monkeypatch, take=500)
    with pytest.raises(CheckpointError, match="No space"):
        save(store, 2)
    end_fault()
    assert find_latest(tmp_path) == path
    assert find_latest(tmp_path) != save(store, 2)


def test_a_broken_or_foreign_pointer_leads_nowhere(tmp_path: Path) -> None:
    folder = tmp_path / "checkpoints"
    save(CheckpointStore(folder), 1, best=True)
    outside = tmp_path / "outside.pt"
    outside.write_bytes(b"")
    pointers = ["gone.pt", "../outside.pt", "", ".", "\0", 3, None, "n" * 5000]
    texts = ["{half", "[]", "[" * 100_000, *(json.dumps({"file": name}) for name in pointers)]
    for text in texts:
        (folder / "best.json").write_text(text)
        assert read_pointer(folder, BEST) is None


def test_files_that_no_run_wrote_are_never_pruned(tmp_path: Path) -> None:
    store = CheckpointStore(tmp_path, keep=1)
    first = save(store, 1)
    for suffix in (".pt", ".json"):
        shutil.copy(first.with_suffix(suffix), (tmp_path / "my-favourite").with_suffix(suffix))
    (tmp_path / "update-notes.json").write_text("{}")
    save(store, 2)
    save(store, 3)
    names = {path.name for path in tmp_path.iterdir()}
    assert {"my-favourite.pt", "my-favourite.json", "update-notes.json"} <= names
    assert "update-00000001.pt" not in names


def test_a_failed_save_keeps_nothing_of_the_state_alive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A replay buffer of gigabytes, kept by every failed save, ends a run on a full disk."""
    store = CheckpointStore(tmp_path)
    big = torch.ones(1000)
    freed = weakref.ref(big.untyped_storage())
    state = {"replay": big}
    refuse_writes(monkeypatch, take=100)
    gc.collect()
    gc.disable()
    try:
        with suppress(CheckpointError):  # `pytest.raises` would keep the error, and so the state.
            store.save(state, CheckpointMeta(1, 1))
        del big, state
        assert freed() is None
    finally:
        gc.enable()


def test_what_killed_processes_left_is_removed(tmp_path: Path) -> None:
    store = CheckpointStore(tmp_path)
    (tmp_path / ".update-00000001.pt.4194305.tmp").write_bytes(b"half")
    (tmp_path / "update-00000099.json").write_text("{}")
    save(store, 1)
    names = sorted(file.name for file in tmp_path.iterdir())
    assert names == ["latest.json", "update-00000001.json", "update-00000001.pt"]


def kill_many(tmp_path: Path, trials: int) -> dict[str, int]:
    script = Path(__file__).parents[1] / "support" / "checkpoint_child.py"
    result = subprocess.run(
        [sys.executable, str(script), str(tmp_path / "checkpoints"), str(trials), "1"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr[-3000:]
    counts: dict[str, int] = json.loads(result.stdout)
    return counts


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_200_kills_leave_no_unreadable_checkpoint_and_lose_nothing(tmp_path: Path) -> None:
    counts = kill_many(tmp_path, 200)
    print(counts)
    # Otherwise the kills hit nothing worth hitting.
    assert counts["updates"] > 200
    assert counts["torn"] > 20


def test_equal_configurations_have_no_difference() -> None:
    saved = {"level": "1-1", "learning": {"rate": 1e-3, "sizes": [1, 2]}}
    assert check_config(saved, {"level": "1-1", "learning": {"rate": 1e-3, "sizes": (1, 2)}}) == []


def test_another_configuration_is_refused_with_the_list() -> None:
    saved = {"level": "1-1", "learning": {"rate": 1e-3}, "total_steps": 10}
    asked = {"level": "1-1", "learning": {"rate": 1e-4, "new": 1}, "total_steps": 20}
    with pytest.raises(ResumeError) as caught:
        check_config(saved, asked, free=["total_steps"])
    text = str(caught.value)
    assert "learning.rate: was 0.001, now 0.0001" in text
    assert "learning.new: was '(not set)', now 1" in text
    assert "total_steps" not in text
    assert "--resume-with-changes" in text
    assert len(check_config(saved, asked, ["total_steps"], allow_changes=True)) == 2
    assert differences(saved, asked, ["total_steps", "learning"]) == []


def test_resume_takes_a_file_then_a_run_then_the_newest_match(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    paths = {}
    for level in ("1-1", "1-2"):
        run = RunDirectory.create(runs, f"mario-{level}", f'level = "{level}"\n')
        paths[level] = save(CheckpointStore(run.checkpoints), 3)
    assert find_resume(paths["1-1"], runs) == paths["1-1"]
    assert find_resume(runs / "mario-1-2", runs) == paths["1-2"]
    assert find_resume(None, runs, "1-1") == paths["1-1"]
    with pytest.raises(ResumeError, match="no run of level 8-4 below"):
        find_resume(None, runs, "8-4")
    with pytest.raises(ResumeError, match="does not exist"):
        find_resume(runs / "nothing", runs)
    shutil.rmtree(runs / "mario-1-1" / "checkpoints")
    with pytest.raises(ResumeError, match="no checkpoint"):
        find_resume(runs / "mario-1-1", runs)
