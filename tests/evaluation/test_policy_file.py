"""Policies as small files: what is in them, and what is refused."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from small_campaign import small_config

from warpzone import cli
from warpzone.errors import CheckpointError
from warpzone.evaluation import trained
from warpzone.evaluation.export import export_policy, forget_unused_inputs
from warpzone.evaluation.policy_file import read_policy_facts, read_policy_file
from warpzone.evaluation.policy_folder import choose_policy, is_policy_folder, policies_by_level
from warpzone.evaluation.trained import checkpoint_of, load_policy
from warpzone.runs import checkpoint
from warpzone.training import session


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, rom_path: Path) -> Path:
    runs = tmp_path_factory.mktemp("runs")
    return session.start(small_config(runs, name="few"), "quiet")[0].path


@pytest.fixture(scope="module")
def policy(run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("policies") / "1-1.policy"
    export_policy(run, path)
    return path


def test_a_policy_has_the_averaged_weights_in_half_precision(run: Path, policy: Path) -> None:
    state = checkpoint.load(checkpoint_of(run)).state
    file = read_policy_file(policy)
    assert file.weights.keys() == state["average"]["weights"].keys()
    zeros = 0
    for number, (name, weight) in enumerate(state["average"]["weights"].items()):
        moments = state["optimizer"]["state"][number]["exp_avg_sq"]
        used = moments.ne(0).any(0) if weight.ndim == 2 else torch.tensor(1)
        assert torch.equal(file.weights[name], weight.half().float() * used), name
        zeros += int((used == 0).sum())
    assert zeros > 0
    assert file.config.env == session.saved_config(run).env
    assert (file.facts.levels, file.facts.steps, file.facts.seed) == (["1-1"], 64, 0)
    assert file.facts.checkpoint_sha256 == checkpoint.sha256_of(checkpoint_of(run))
    assert file.sha256 == hashlib.sha256(policy.read_bytes()).hexdigest()
    assert policy.stat().st_size < 0.2 * checkpoint_of(run).stat().st_size


def test_exporting_twice_gives_the_same_bytes(run: Path, policy: Path, tmp_path: Path) -> None:
    export_policy(run, tmp_path / "deep" / "again.policy")
    assert (tmp_path / "deep" / "again.policy").read_bytes() == policy.read_bytes()


def test_forgetting_unused_inputs_changes_nothing_that_was_seen() -> None:
    torch.manual_seed(0)
    model = torch.nn.Linear(5, 3)
    optimizer = torch.optim.Adam(model.parameters())
    inputs = torch.randn(8, 5) * torch.tensor([1.0, 0.0, 1.0, 0.0, 1.0])
    model(inputs).square().sum().backward()
    optimizer.step()
    before = model(inputs)
    forget_unused_inputs(model, optimizer.state_dict())
    assert torch.equal(model(inputs), before)
    assert torch.equal(model.weight.abs().sum(0) == 0, torch.tensor([False, True] * 2 + [False]))


def test_whatever_is_damaged_is_refused(policy: Path, tmp_path: Path) -> None:
    good = policy.read_bytes()
    bad = tmp_path / "bad.policy"
    places = np.random.default_rng(0).integers(0, len(good), 40)
    for place in {0, 30, 90, len(good) - 1, *places.tolist()}:
        altered = bytearray(good)
        altered[place] ^= 0x10
        bad.write_bytes(altered)
        with pytest.raises(CheckpointError, match=r"bad\.policy"):
            read_policy_file(bad)
    for length in (0, 10, 100, len(good) // 2, len(good) - 1):
        bad.write_bytes(good[:length])
        with pytest.raises(CheckpointError, match=r"bad\.policy"):
            read_policy_facts(bad)


def forged(policy: Path, folder: Path, change: dict[str, object]) -> Path:
    """A policy with another header and the checksum that goes with it."""
    magic, line, packed = policy.read_bytes().split(b"\n", 2)
    rest = json.dumps(json.loads(line) | change).encode() + b"\n" + packed
    sha256 = hashlib.sha256(rest).hexdigest().encode()
    path = folder / "bad.policy"
    path.write_bytes(b" ".join([*magic.split(b" ")[:2], sha256]) + b"\n" + rest)
    return path


FACTS = {
    "levels": ["1-1"],
    "steps": 1,
    "updates": 1,
    "minutes": 1.0,
    "seed": 0,
    "commit": "",
    "checkpoint": "",
    "checkpoint_sha256": "",
    "created": "",
}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"weights": {"encoder.first.weight": [1 << 20, 1 << 20]}}, "would take"),
        ({"weights": {"a": [10**400]}}, "would take"),
        ({"weights": {"a": [2]}}, "another length"),
        ({"weights": {"a": [0]}}, "would take 0 bytes"),
        ({"weights": {"a": [-1, -1], "b": [3]}}, "shape of 'a'"),
        ({"weights": {"a": [True, 2.5]}}, "shape of 'a'"),
        ({"weights": {"a": 3}}, "'a' is 3; it must be a list"),
        ({"steps": []}, "'steps' is not a table"),
        ({"steps": {"policy.weight": "far"}}, "'policy.weight' is"),
        ({"steps": {"policy.weight": -1.0}}, "'policy.weight' is"),
        ({"steps": {"policy.weight": 1.0}}, "another length"),
        ({"weights": []}, "'weights' is .*; it must be a table"),
        ({"facts": {}}, "it has no 'levels'"),
        ({"facts": FACTS | {"levels": ["../../x"]}}, "not a list of levels"),
        ({"facts": FACTS | {"levels": []}}, "not a list of levels"),
        ({"facts": FACTS | {"steps": "many"}}, "'steps' is \"many\""),
        ({"facts": FACTS | {"minutes": 1e999}}, "its content is wrong"),
        ({"config": []}, "'config' is"),
        ({"config": {"env": {}, "model": 3}}, "'model' is 3"),
        ({"config": {"env": {"flavour": 1}, "model": {}}}, r"no option env\.flavour"),
    ],
)
def test_content_that_was_made_up_is_refused(
    policy: Path, tmp_path: Path, change: dict[str, object], reason: str
) -> None:
    with pytest.raises(CheckpointError, match=reason):
        read_policy_file(forged(policy, tmp_path, change))


def test_a_policy_that_does_not_fit_its_configuration_is_refused(
    policy: Path, tmp_path: Path
) -> None:
    config = json.loads(policy.read_bytes().split(b"\n", 2)[1])["config"]
    config["model"]["hidden"] = 24
    with pytest.raises(CheckpointError, match="does not fit the model: encoder"):
        load_policy(forged(policy, tmp_path, {"config": config}))


@pytest.mark.parametrize("hidden", [4096, 16_384])
def test_a_network_that_the_weights_cannot_fill_is_never_built(
    policy: Path, tmp_path: Path, hidden: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = json.loads(policy.read_bytes().split(b"\n", 2)[1])["config"]
    config["model"]["hidden"] = hidden
    devices: list[str] = []
    monkeypatch.setattr(
        trained, "make_model", lambda *given: devices.append(str(torch.empty(0).device)) or built
    )
    built = torch.nn.Linear(2, 2)
    with pytest.raises(CheckpointError, match="does not fit the model"):
        load_policy(forged(policy, tmp_path, {"config": config}))
    assert devices == ["meta"]
    monkeypatch.undo()
    with pytest.raises(CheckpointError, match=r"does not fit the model|cannot be built"):
        load_policy(forged(policy, tmp_path, {"config": config}))


@pytest.mark.parametrize("hidden", [0, 10**9, 10**15])
def test_a_width_that_no_network_has_is_refused(policy: Path, tmp_path: Path, hidden: int) -> None:
    config = json.loads(policy.read_bytes().split(b"\n", 2)[1])["config"]
    config["model"]["hidden"] = hidden
    with pytest.raises(CheckpointError, match=r"model\.hidden is \d+; it must be from 1 to"):
        load_policy(forged(policy, tmp_path, {"config": config}))


def test_commands_take_a_policy_and_a_folder_of_them(
    policy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "1-1.policy").write_bytes(policy.read_bytes())
    assert cli.main(["eval", str(tmp_path / "1-1.policy"), "--episodes", "2"]) == 0
    alone = json.loads((tmp_path / "1-1-evaluation.json").read_text())
    assert cli.main(["eval", str(tmp_path), "--episodes", "2"]) == 0
    together = json.loads((tmp_path / "evaluation.json").read_text())
    assert together["levels"] == alone["levels"]
    record = tmp_path / "ends.png"
    words = ["video", str(tmp_path), "--level", "1-1", "--contact-sheet", "--num-envs", "2"]
    assert cli.main([*words, "-o", str(record)]) == 0
    assert record.stat().st_size > 1000
    assert cli.main(["eval", str(tmp_path), "--level", "4-2"]) == 2
    assert "has no policy for 4-2" in capsys.readouterr().err


def test_of_several_policies_the_one_for_the_fewest_levels_plays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    levels = {"all": ["1-1", "1-2", "1-3"], "1-1": ["1-1"], "1-3": ["1-3"]}
    for name in levels:
        (tmp_path / f"{name}.policy").touch()

    class Facts:
        def __init__(self, path: Path) -> None:
            self.levels = levels[path.stem]

    monkeypatch.setattr("warpzone.evaluation.policy_folder.read_policy_facts", Facts)
    assert is_policy_folder(tmp_path)
    assert choose_policy(tmp_path, "1-1").stem == "1-1"
    assert choose_policy(tmp_path, "1-2").stem == "all"
    assert choose_policy(tmp_path, "1-1,1-3").stem == "all"
    with pytest.raises(CheckpointError, match=r"several policies .*; give --level"):
        choose_policy(tmp_path, None)


@pytest.mark.parametrize("place", [".", "policies"])
def test_the_policy_that_the_scoreboard_lists_for_a_level_plays(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    levels = {"all": ["1-1", "1-2"], "all-2": ["1-1", "1-2"], "1-1": ["1-1"]}
    (tmp_path / place).mkdir(exist_ok=True)
    for name in levels:
        (tmp_path / place / f"{name}.policy").touch()

    class Facts:
        def __init__(self, path: Path) -> None:
            self.levels = levels[path.stem]

    monkeypatch.setattr("warpzone.evaluation.policy_folder.read_policy_facts", Facts)
    listed = {"1-1": "all", "1-2": "all", "1-3": "all-2", "1-4": "gone"}
    rows = [{"level": level, "policy": f"{place}/{name}.policy"} for level, name in listed.items()]
    board = tmp_path / "scoreboard.json"
    board.write_text(json.dumps({"rows": [*rows, {"level": "2-1"}]}))
    for folder in {tmp_path, tmp_path / place}:
        assert choose_policy(folder, "1-1").stem == "all", "better than that of a single level"
        assert choose_policy(folder, "1-1,1-2").stem == "all", "it has more rows of them"
        named = {level: path.stem for level, path in policies_by_level(folder).items()}
        assert named == {"1-1": "all", "1-2": "all"}, "1-3 is not a level of all-2"
    board.write_text('{"rows": 3}')
    with pytest.raises(CheckpointError, match=r"not a scoreboard .*repair or delete it"):
        choose_policy(tmp_path, "1-1")


def test_export_says_what_is_wrong(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["export", str(run), "-o", str(tmp_path / "x.pt")]) == 2
    assert "must end with .policy" in capsys.readouterr().err
    assert cli.main(["export", str(tmp_path), "-o", str(tmp_path / "x.policy")]) == 2
    assert "is not a run" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
