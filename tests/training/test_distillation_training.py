"""Distillation in a run: teachers by level, taught levels, and an exact resume."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from small_campaign import small_config

from warpzone.config import DistillOptions, TrainConfig, make_config
from warpzone.envs.vector import MarioVectorEnv
from warpzone.errors import CheckpointError, ConfigError
from warpzone.evaluation.policy_file import PolicyFacts, write_policy_file
from warpzone.models.build import make_model
from warpzone.training.teachers import Teachers, with_taught_levels
from warpzone.training.trainer import Trainer

LEVELS = ["1-1", "1-2"]


def write_teacher(folder: Path, level: str, action: int, encoder: str = "auto", **env: Any) -> None:
    """A policy with random weights that prefers one action."""
    config = small_config()
    config = replace(
        config,
        env=replace(config.env, level=level, **env),
        model=replace(config.model, encoder=encoder),
    )
    with closing(MarioVectorEnv(num_threads=1, **config.env.policy_env_options())) as vector:
        space, count = vector.single_observation_space, len(vector.config.actions)
    model = make_model(config.model, space, count)
    with torch.no_grad():
        model.policy.bias[action] = 3.0
    facts = PolicyFacts([level], 1, 1, 1.0, 0, "commit", f"{level}.pt", level, "now")
    write_policy_file(folder / f"{level}.policy", config, facts, model.state_dict())


@pytest.fixture
def teachers(tmp_path: Path, rom_path: Path) -> Path:
    folder = tmp_path / "teachers"
    folder.mkdir()
    for action, level in enumerate(LEVELS):
        write_teacher(folder, level, action + 1)
    return folder


def student(teachers: Path, **env: Any) -> TrainConfig:
    config = small_config(level="1-1,1-2")
    return replace(
        config,
        env=replace(config.env, **{"level_order": "curriculum", "max_steps": 6, **env}),
        learn=replace(config.learn, optimizer="adamw", learning_rate=0.01),
        distill=DistillOptions(str(teachers), capacity=100, batches=2, batch_size=16),
    )


@pytest.mark.parametrize("acting", ["native", "torch"])
def test_states_are_labelled_by_the_teacher_of_their_level(teachers: Path, acting: str) -> None:
    config = student(teachers)
    trainer = Trainer(replace(config, run=replace(config.run, acting=acting)))
    assert trainer.acting.native == (acting == "native")
    trainer.begin()
    labelled = []
    assert trainer.distillation is not None
    original = trainer.distillation._teachers.label

    def label(obs: Any, levels: Any) -> torch.Tensor:
        targets = original(obs, levels)
        labelled.append((levels, targets))
        return targets

    trainer.distillation._teachers.label = label  # type: ignore[method-assign]
    for _ in range(4):
        trainer.update()
    trainer.close()
    levels = np.concatenate([part for part, _ in labelled])
    targets = torch.cat([part for _, part in labelled])
    assert set(levels) == {0, 1}, "episodes of six steps change levels within rollouts"
    assert torch.equal(targets.argmax(-1), torch.from_numpy(levels) + 1)
    assert targets.max() > 0.99, "probabilities at the teachers' evaluation temperature"
    assert torch.allclose(targets.sum(-1), torch.ones(len(targets)))


def test_levels_of_steps_are_those_that_were_played(teachers: Path) -> None:
    trainer = Trainer(student(teachers))
    trainer.begin()
    seen = []
    for _ in range(3):
        trainer.update()
        seen.append(trainer.storage.levels.numpy().copy())
    ended = trainer.take_episodes()
    present = [trainer.starts.begun(env).level for env in range(4)]
    trainer.close()
    assert len(ended) > 4
    numbers = np.concatenate(seen)
    for env in range(4):
        played = [
            level
            for episode in ended
            if episode.env == env
            for level in [episode.level] * episode.length
        ]
        played += [present[env]] * (len(numbers) - len(played))
        assert [LEVELS[number] for number in numbers[:, env]] == played


def test_the_student_learns_to_act_like_its_teachers(teachers: Path) -> None:
    trainer = Trainer(student(teachers))
    trainer.begin()
    rows = [trainer.update() for _ in range(15)]
    trainer.close()
    assert float(rows[-1]["distill/kl"] or 0) < 0.5 * float(rows[0]["distill/kl"] or 0)
    assert rows[-1]["distill/fill"] == 1.0


def check_exact_resume(config: TrainConfig, updates: int) -> None:
    """A run that is resumed after some updates equals one that is not interrupted."""
    unbroken, first = Trainer(config), Trainer(config)
    for trainer in (unbroken, first):
        trainer.begin()
        for _ in range(updates):
            trainer.update()
    state = first.state_dict()
    first.close()
    resumed = Trainer(config)
    resumed.load_state_dict(state)
    for trainer in (unbroken, resumed):
        for _ in range(2):
            trainer.update()
        trainer.close()
    for name, value in unbroken.model.state_dict().items():
        assert torch.equal(value, resumed.model.state_dict()[name]), name


def test_a_resumed_distillation_equals_an_unbroken_one(teachers: Path) -> None:
    check_exact_resume(student(teachers), updates=1)


def test_other_teachers_cannot_resume_a_run(teachers: Path) -> None:
    config = student(teachers)
    trainer = Trainer(config)
    trainer.begin()
    state = trainer.state_dict()
    trainer.close()
    write_teacher(teachers, "1-2", 4)
    other = Trainer(config)
    with pytest.raises(CheckpointError, match="the teachers of 1-2 are not the files"):
        other.load_state_dict(state)
    other.close()


def test_levels_without_a_teacher_are_left_out(
    teachers: Path, caplog: pytest.LogCaptureFixture
) -> None:
    config = student(teachers, level="all")
    assert with_taught_levels(config).env.level == "1-1,1-2"
    assert "no teacher for 1-3, 1-4" in caplog.text
    assert with_taught_levels(student(teachers)) == student(teachers)
    with pytest.raises(ConfigError, match="has no policy for 3-1"):
        with_taught_levels(student(teachers, level="3-1"))
    with pytest.raises(ConfigError, match="neither a policy file nor a folder"):
        with_taught_levels(student(teachers / "missing"))


def test_teachers_must_fit_the_student(teachers: Path) -> None:
    with pytest.raises(
        ConfigError, match=r"presses RIGHT\+A.*which env.actions 'NOOP,RIGHT' lacks"
    ):
        Teachers(student(teachers, actions="NOOP,RIGHT"), None)
    with pytest.raises(ConfigError, match=r"was trained with env.frame_skip 4.*this run has 2"):
        Teachers(student(teachers, frame_skip=2), None)


def test_teachers_of_an_earlier_encoder_are_converted_but_not_the_reverse(teachers: Path) -> None:
    config = student(teachers)
    later = replace(config, model=replace(config.model, encoder="tiles-v2"))
    assert Teachers(later, None).taught == LEVELS
    write_teacher(teachers, "1-2", 1, encoder="tiles-v2")
    assert Teachers(later, None).taught == LEVELS
    with pytest.raises(ConfigError, match=r"1-2\.policy has model.encoder 'tiles-v2'.*--encoder"):
        Teachers(config, None)


def test_a_teacher_with_fewer_actions_leaves_the_others_at_zero(teachers: Path) -> None:
    write_teacher(teachers, "1-1", 1, actions="RIGHT,NOOP")
    config = student(teachers)
    labels = Teachers(config, None)
    with closing(MarioVectorEnv(**config.env.policy_env_options())) as env:
        obs, _ = env.reset(seed=0)
    tensors = {name: torch.from_numpy(part.copy()) for name, part in obs.items()}
    targets = labels.label(tensors, np.array([0]))
    assert targets.argmax().item() == 0, "NOOP is the student's first action"
    assert (targets > 0).sum() == 2


def test_teachers_imply_the_options_of_distillation() -> None:
    config = make_config(teachers="policies/", level="all")
    assert (config.model.hidden, config.learn.advantage_norm) == (512, "level")
    assert (config.env.obs, config.env.num_envs) == ("tiles", 96)
    assert make_config(teachers="policies/", hidden=64, obs="tiles").model.hidden == 64
    with pytest.raises(ConfigError, match=r"model\.memory is lstm, which does not work with"):
        make_config(teachers="policies/", memory="lstm", obs="tiles")


def releasing(teachers: Path, release: float = 1.0, steps: int = 10**9, **env: Any) -> TrainConfig:
    config = student(teachers, **env)
    options = replace(config.distill, release=release, release_steps=steps)
    return replace(config, learn=replace(config.learn, advantage_norm="level"), distill=options)


def test_rewards_take_over_where_the_student_clears_often_enough(
    teachers: Path, caplog: pytest.LogCaptureFixture
) -> None:
    trainer = Trainer(releasing(teachers, release=0.5))
    trainer.begin()
    trainer.starts.clear_rate = lambda level: {"1-1": 0.5, "1-2": 0.4}[level]  # type: ignore[method-assign]
    with caplog.at_level("INFO"):
        row = trainer.update()
    assert trainer.distillation is not None
    weights = trainer.distillation.reward_weights
    trainer.close()
    assert weights is not None
    assert weights.tolist() == [1.0, 0.0]
    assert row["distill/taught_levels"] == 1
    assert "rewards take over on 1-1" in caplog.text


def test_rewards_take_over_after_a_number_of_steps(teachers: Path) -> None:
    trainer = Trainer(releasing(teachers, steps=64))
    trainer.begin()
    taught = [trainer.update()["distill/taught_levels"] for _ in range(8)]
    trainer.close()
    assert taught[0] == 2
    assert taught[-1] == 0


def test_a_level_without_a_teacher_learns_from_rewards_at_once(teachers: Path) -> None:
    config = with_taught_levels(releasing(teachers, level="1-1,1-2,1-3"))
    assert config.env.level == "1-1,1-2,1-3"
    trainer = Trainer(config)
    trainer.begin()
    for _ in range(3):
        trainer.update()
    assert trainer.distillation is not None
    weights = trainer.distillation.reward_weights
    trainer.close()
    assert weights is not None
    assert weights.tolist() == [0.0, 0.0, 1.0]


def test_taught_levels_teach_the_critic_but_not_the_policy(teachers: Path) -> None:
    config = releasing(teachers)
    learn = replace(config.learn, optimizer="adam", ent_coef=0.0, ent_coef_at_success=0.0)
    config = replace(config, learn=learn)
    trainer = Trainer(config)
    trainer.begin()
    assert trainer.distillation is not None
    trainer.distillation.learn = dict  # type: ignore[method-assign]
    before = {name: value.clone() for name, value in trainer.model.state_dict().items()}
    trainer.update()
    after = trainer.model.state_dict()
    trainer.close()
    assert torch.equal(before["policy.weight"], after["policy.weight"])
    assert not torch.equal(before["value.weight"], after["value.weight"])


def test_a_resumed_release_equals_an_unbroken_one(teachers: Path) -> None:
    check_exact_resume(releasing(teachers, steps=40), updates=3)


def test_release_needs_ppo_with_advantages_by_level(teachers: Path) -> None:
    with pytest.raises(ConfigError, match=r"learn\.advantage_norm is 'minibatch', but rewards can"):
        make_config(teachers=str(teachers), distill_release=0.8, advantage_norm="minibatch")
    with pytest.raises(ConfigError, match=r"learn\.algo is 'vtrace', but rewards can take over"):
        make_config(teachers=str(teachers), distill_release=0.8, algo="vtrace")
