"""Runs that start with the weights of another policy."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from small_campaign import small_config

from warpzone.config import TrainConfig
from warpzone.errors import CheckpointError, ConfigError
from warpzone.evaluation.export import export_policy
from warpzone.evaluation.trained import load_policy
from warpzone.training.session import start
from warpzone.training.trainer import Trainer


@pytest.fixture
def policy(tmp_path: Path, rom_path: Path) -> Path:
    run, _ = start(small_config(tmp_path / "runs"), "quiet")
    export_policy(run.path, tmp_path / "first.policy")
    return tmp_path / "first.policy"


def starting_from(path: Path, level: str = "1-2") -> TrainConfig:
    return small_config(level=level, init_from=str(path))


def test_a_new_run_starts_with_the_weights_of_the_policy(policy: Path) -> None:
    trainer = Trainer(starting_from(policy))
    trainer.begin()
    weights, average = trainer.model.state_dict(), trainer.average.model.state_dict()
    trainer.close()
    for name, value in load_policy(policy).model.state_dict().items():
        assert torch.equal(weights[name], value), name
        assert torch.equal(average[name], value), name


def test_of_a_folder_the_policy_of_the_level_is_taken(policy: Path) -> None:
    trainer = Trainer(starting_from(policy.parent, level="1-1"))
    trainer.begin()
    weights = trainer.model.state_dict()
    trainer.close()
    assert torch.equal(
        weights["policy.bias"], load_policy(policy).model.state_dict()["policy.bias"]
    )
    with pytest.raises(CheckpointError, match="1-2"):
        start(starting_from(policy.parent), "quiet")


def test_a_policy_of_an_earlier_encoder_gets_inputs_without_weight(
    tmp_path: Path, rom_path: Path
) -> None:
    run, _ = start(small_config(tmp_path / "runs"), "quiet")
    export_policy(run.path, tmp_path / "first.policy")
    earlier = load_policy(tmp_path / "first.policy").model.state_dict()["encoder.first.weight"]
    config = starting_from(tmp_path / "first.policy")
    trainer = Trainer(replace(config, model=replace(config.model, encoder="tiles-v2")))
    trainer.begin()
    weight = trainer.model.state_dict()["encoder.first.weight"]
    trainer.close()
    assert torch.equal(weight[:, : earlier.shape[1]], earlier)
    assert weight.shape[1] > earlier.shape[1]
    assert not weight[:, earlier.shape[1] :].any()


def test_additional_actions_start_improbable(policy: Path) -> None:
    config = starting_from(policy)
    actions = "LEFT,DOWN,NOOP,RIGHT,RIGHT+A,RIGHT+B,RIGHT+A+B"  # Two, and those of the policy.
    trainer = Trainer(replace(config, env=replace(config.env, actions=actions)))
    trainer.begin()
    bias = trainer.model.state_dict()["policy.bias"]
    trainer.close()
    assert torch.equal(bias[2:], load_policy(policy).model.state_dict()["policy.bias"])
    assert bias[:2].max() < bias[2:].min()


def test_logits_are_divided_by_the_initial_temperature(policy: Path) -> None:
    config = starting_from(policy)
    trainer = Trainer(replace(config, run=replace(config.run, init_temperature=0.5)))
    trainer.begin()
    weights = trainer.model.state_dict()
    trainer.close()
    for name, value in load_policy(policy).model.state_dict().items():
        factor = 2.0 if name.startswith("policy.") else 1.0
        assert torch.equal(weights[name], value * factor), name


def test_an_exported_policy_names_the_policy_without_its_folder(
    policy: Path, tmp_path: Path
) -> None:
    config = small_config(tmp_path / "runs", level="1-2", init_from=str(policy), name="second")
    run, _ = start(config, "quiet")
    export_policy(run.path, tmp_path / "second.policy")
    header = (tmp_path / "second.policy").read_bytes().split(b"\n")[1]
    assert json.loads(header)["config"]["run"]["init_from"] == "first.policy"
    assert str(tmp_path).encode() not in header


def test_a_resumed_run_does_not_need_the_policy_any_more(policy: Path) -> None:
    config = starting_from(policy)
    first = Trainer(config)
    first.begin()
    first.update()
    state = first.state_dict()
    first.close()
    policy.unlink()
    resumed = Trainer(config)
    resumed.load_state_dict(state)
    resumed.update()
    resumed.close()


def test_another_network_observation_or_action_set_is_refused(policy: Path) -> None:
    config = starting_from(policy)
    for changed, message in (
        (
            replace(config, model=replace(config.model, hidden=32)),
            "has model.hidden 16, but this run has 32; give --hidden 16",
        ),
        (
            replace(config, env=replace(config.env, frame_skip=2)),
            "was trained with env.frame_skip 4",
        ),
        (replace(config, env=replace(config.env, actions="RIGHT,A")), "presses NOOP.*lacks"),
    ):
        trainer = Trainer(changed)
        with pytest.raises(ConfigError, match=message):
            trainer.begin()
        trainer.close()


def test_a_missing_policy_leaves_no_run_behind(tmp_path: Path, rom_path: Path) -> None:
    config = small_config(tmp_path / "runs", init_from=str(tmp_path / "missing.policy"))
    with pytest.raises(CheckpointError, match=r"missing\.policy"):
        start(config, "quiet")
    assert not (tmp_path / "runs").exists()


def test_in_the_warm_up_only_the_value_head_learns(policy: Path) -> None:
    config = starting_from(policy)
    config = replace(config, learn=replace(config.learn, critic_warmup=64))
    trainer = Trainer(config)
    trainer.begin()
    states = []
    for _ in range(3):  # Of 32 steps each.
        states.append({name: value.clone() for name, value in trainer.model.state_dict().items()})
        trainer.update()
    trainer.close()
    for name, value in states[2].items():
        assert torch.equal(value, states[0][name]) == (not name.startswith("value.")), name
    assert not torch.equal(states[2]["policy.weight"], trainer.model.state_dict()["policy.weight"])
