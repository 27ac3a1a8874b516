import json
import logging
import os
import pickle
import random
import shutil
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from small_disk import fill, refuse_writes, small_disk

from warpzone import __version__
from warpzone.errors import CheckpointError
from warpzone.models.weights import fit_compiled, keys_differ, strip_compiled
from warpzone.runs import checkpoint
from warpzone.runs.checkpoint import CheckpointMeta, load, read_meta, save
from warpzone.runs.checkpoint_tree import decode, encode

META = CheckpointMeta(
    steps=1280, updates=10, config={"env": {"level": "1-1"}}, extra={"replay": None}
)


def small_model() -> torch.nn.Module:
    return torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))


def test_a_tree_comes_back_as_it_was(tmp_path: Path) -> None:
    model = small_model()
    optimizer = torch.optim.AdamW(model.parameters())
    model(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    generator = np.random.default_rng(1)
    state = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "random": {
            "python": random.getstate(),
            "numpy": generator.bit_generator.state,
            "old_numpy": np.random.RandomState(3).get_state(legacy=False),
            "torch": torch.get_rng_state(),
        },
        "lanes": [b"\x00state\xff", b""],
        "nothing": None,
        "flag": True,
        "rate": 0.1,
        "name": "mario",
        7: [1, (2, 3)],
    }
    found = load(save(tmp_path, "a", state, META)).state
    for key, value in model.state_dict().items():
        assert torch.equal(found["model"][key], value)
    fresh = torch.optim.AdamW(model.parameters())
    fresh.load_state_dict(found["optimizer"])
    assert fresh.state_dict()["param_groups"] == optimizer.state_dict()["param_groups"]
    random.setstate(found["random"]["python"])
    expected = generator.random()
    generator.bit_generator.state = found["random"]["numpy"]
    assert generator.random() == expected
    np.random.RandomState().set_state(found["random"]["old_numpy"])
    for key in ("lanes", "nothing", "flag", "rate", "name", 7):
        assert found[key] == state[key]
        assert type(found[key]) is type(state[key])


def test_numpy_numbers_become_plain_ones() -> None:
    tree = encode({"a": np.float64(0.5), "b": np.int32(2), "c": np.bool_(True)})
    assert tree == {"a": 0.5, "b": 2, "c": True}
    assert [type(value) for value in tree.values()] == [float, int, bool]


def test_a_view_does_not_save_its_whole_storage(tmp_path: Path) -> None:
    path = save(tmp_path, "a", {"view": torch.zeros(1_000_000)[:10]}, META)
    assert path.stat().st_size < 10_000


def test_a_tensor_that_repeats_its_storage_is_saved_as_what_it_stands_for(tmp_path: Path) -> None:
    expanded = torch.arange(3.0).unsqueeze(1).expand(3, 4)
    found = load(save(tmp_path, "a", {"x": expanded}, META)).state["x"]
    assert torch.equal(found, expanded)


def test_channels_last_survives(tmp_path: Path) -> None:
    weight = torch.rand(2, 3, 4, 4).to(memory_format=torch.channels_last)
    found = load(save(tmp_path, "a", {"w": weight}, META)).state["w"]
    assert torch.equal(found, weight)
    assert found.is_contiguous(memory_format=torch.channels_last)


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"a": [{"b": object()}]}, r"state\.a\[0\]\.b is a object"),
        ({"a": {1, 2}}, "state.a is a set"),
        ({(1, 2): 3}, "the key"),
        ({"__bytes__": 3}, "meaning of its own"),
        ({"a": np.array(["text"])}, "array of <U4"),
    ],
)
def test_what_is_no_plain_data_is_refused_with_its_place(
    tmp_path: Path, state: dict[str, Any], message: str
) -> None:
    with pytest.raises(CheckpointError, match=message):
        save(tmp_path, "a", state, META)
    assert not list(tmp_path.iterdir())


def test_the_sidecar_says_what_is_inside(tmp_path: Path) -> None:
    path = save(tmp_path, "a", {"x": 1}, META)
    row = json.loads((tmp_path / "a.json").read_text())
    assert row["size"] == path.stat().st_size
    assert len(row["sha256"]) == 64
    assert row["steps"] == 1280
    assert row["updates"] == 10
    assert row["config"] == {"env": {"level": "1-1"}}
    assert row["versions"]["warpzone"] == __version__
    assert row["versions"]["torch"] == str(torch.__version__)
    assert row["created"].endswith("Z")
    assert {file.name for file in tmp_path.iterdir()} == {"a.pt", "a.json"}


def test_a_missing_or_unreadable_sidecar_is_rebuilt(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = save(tmp_path, "a", {"x": torch.ones(5)}, META)
    before = json.loads((tmp_path / "a.json").read_text())
    (tmp_path / "a.json").unlink()
    assert load(path).meta.updates == 10
    assert json.loads((tmp_path / "a.json").read_text()) == before
    assert "has been rebuilt" in caplog.text
    wrong = [
        {"serial": "last"},
        {"steps": -1},
        {"config": []},
        {"config": {"env": 3}},
        {"extra": {"clear_rate": "high"}},
    ]
    texts = ["{half", "[]", "[" * 100_000, "3", *(json.dumps(before | change) for change in wrong)]
    for text in texts:
        (tmp_path / "a.json").write_text(text)
        assert read_meta(path).steps == 1280
        assert load(path).meta.steps == 1280
        assert json.loads((tmp_path / "a.json").read_text()) == before


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    place = data.find(b"\x00\x00\x80\x3f" * 8)  # among the ones of the tensor
    assert place > 0
    data[place] ^= 1
    path.write_bytes(bytes(data))


def empty(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize("damage", [cut, flip, empty])
@pytest.mark.parametrize("sidecar", [True, False])
def test_damage_is_noticed_with_and_without_sidecar(
    tmp_path: Path, damage: Callable[[Path], None], sidecar: bool
) -> None:
    path = save(tmp_path, "a", {"x": torch.ones(5000)}, META)
    damage(path)
    if not sidecar:
        (tmp_path / "a.json").unlink()
    with pytest.raises(CheckpointError, match=r"a\.pt"):
        load(path)


def test_a_missing_checkpoint_is_named(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"gone\.pt does not exist"):
        load(tmp_path / "gone.pt")


class Attack:
    """Runs a command when it is unpickled by a careless reader."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return (os.system, (f"touch {self.target}",))


@pytest.mark.parametrize("form", ["zip", "pickle"])
def test_a_malicious_file_is_refused_and_runs_nothing(tmp_path: Path, form: str) -> None:
    target = tmp_path / "attacked"
    payload = {"format": 1, "meta": '{"steps": 1, "updates": 1}', "state": Attack(target)}
    path = tmp_path / "a.pt"
    if form == "zip":
        torch.save(payload, path)
    else:
        path.write_bytes(pickle.dumps(payload))
    with pytest.raises(CheckpointError):
        load(path)  # without sidecar
    meta = {"format": 1, "size": path.stat().st_size, "sha256": checkpoint.sha256_of(path)}
    (tmp_path / "a.json").write_text(json.dumps(meta | {"steps": 1, "updates": 1}))
    with pytest.raises(CheckpointError):
        load(path)  # with one that fits
    assert not target.exists()
    if form == "zip":
        torch.load(path, weights_only=False)
        assert target.exists()  # the attack itself works


def test_files_of_other_programs_and_versions_are_refused(tmp_path: Path) -> None:
    torch.save({"weights": torch.ones(3)}, tmp_path / "a.pt")
    with pytest.raises(CheckpointError, match="not a checkpoint of warpzone"):
        load(tmp_path / "a.pt")
    torch.save({"format": 99, "meta": "{}", "state": {}}, tmp_path / "b.pt")
    with pytest.raises(CheckpointError, match="format 99"):
        load(tmp_path / "b.pt")


def test_a_full_disk_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = save(tmp_path, "a", {"x": 1}, META)
    end_fault = refuse_writes(monkeypatch, take=100)
    with pytest.raises(CheckpointError, match=r"No space left.*earlier checkpoints are untouched"):
        save(tmp_path, "a", {"x": torch.ones(100_000)}, META)
    end_fault()
    assert load(path).state == {"x": 1}
    assert {file.name for file in tmp_path.iterdir()} == {"a.pt", "a.json"}


def test_a_really_full_disk_leaves_the_old_one(tmp_path: Path) -> None:
    with small_disk(tmp_path, "4m") as place:
        path = save(place, "a", {"x": 1}, META)
        fill(place).unlink()
        with pytest.raises(CheckpointError, match="No space left"):
            save(place, "a", {"x": torch.ones(2_000_000)}, META)
        ballast = fill(place)
        with pytest.raises(CheckpointError, match="No space left"):
            save(place, "b", {"x": 2}, META)
        assert load(path).state == {"x": 1}
        ballast.unlink()
        assert load(save(place, "b", {"x": 2}, META)).state == {"x": 2}


def test_a_copy_on_another_machine_loads(tmp_path: Path) -> None:
    save(tmp_path / "here", "a", {"x": 1}, META)
    shutil.copytree(tmp_path / "here", tmp_path / "there")
    assert load(tmp_path / "there" / "a.pt").state == {"x": 1}


def test_the_prefix_of_a_compiled_model_never_shows(tmp_path: Path) -> None:
    model = small_model()
    compiled = torch.compile(model)
    assert any(key.startswith("_orig_mod.") for key in compiled.state_dict())
    found = load(save(tmp_path, "a", {"model": compiled.state_dict()}, META)).state["model"]
    assert list(found) == list(model.state_dict())
    model.load_state_dict(found)
    compiled.load_state_dict(fit_compiled(found, compiled.state_dict()))
    parts = OrderedDict({"encoder._orig_mod.weight": 1, "head.weight": 2})
    plain = strip_compiled(parts)
    assert plain == {"encoder.weight": 1, "head.weight": 2}
    assert fit_compiled(plain, parts) == parts


def test_differing_keys_are_listed() -> None:
    assert keys_differ(["a", "_orig_mod.b"], ["b", "a"]) is None
    error = keys_differ(["a", "b"], ["b", "c"], "the encoder")
    assert str(error) == "the checkpoint does not fit the encoder; missing: a; unexpected: c"
    assert "and 80 more" in str(keys_differ([f"k{n}" for n in range(100)], []))


def test_decoding_is_the_inverse_of_encoding() -> None:
    tree = {"a": (b"x", [b"", {"b": b"y"}]), 3: "text"}
    assert decode(encode(tree)) == tree


def test_writing_needs_no_logging(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        load(save(tmp_path, "a", {"x": 1}, META))
    assert caplog.records == []
