"""Configurations: one tree, as TOML, as variables, as presets; wrong values are named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from warpzone.commands.train import train_defaults
from warpzone.config import (
    PRESETS,
    EnvOptions,
    LearnOptions,
    ModelOptions,
    TrainConfig,
    from_environment,
    from_toml,
    preset,
    to_toml,
)
from warpzone.errors import ConfigError


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_is_valid_and_survives_a_file(name: str) -> None:
    config = preset(name)
    config.verify()
    assert from_toml(to_toml(config), TrainConfig(), "file") == config


def test_a_file_changes_only_what_it_says() -> None:
    config = from_toml('[env]\nlevel = "1-3"\n[learn]\ngamma = 1\n', TrainConfig(), "file")
    assert config.env.level == "1-3"
    assert config.learn.gamma == 1.0
    assert replace(config, env=EnvOptions(), learn=LearnOptions()) == TrainConfig()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[env", "file is no TOML"),
        ("[game]\nx = 1", r"there is no table \[game\]"),
        ("[env]\nlevle = '1-1'", r"there is no option env\.levle"),
        ("[env]\nnum_envs = 'many'", r"env\.num_envs is 'many'; it must be a whole number"),
        ("[env]\nnum_envs = true", r"env\.num_envs is True; it must be a whole number"),
        ("[learn]\ngamma = 'high'", r"learn\.gamma is 'high'; it must be a number"),
    ],
)
def test_a_wrong_file_is_refused_by_name(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        from_toml(text, TrainConfig(), "file")


def test_variables_change_options() -> None:
    config = from_environment(
        TrainConfig(),
        {
            "WARPZONE_TRAIN_ENV_NUM_ENVS": "32",
            "WARPZONE_TRAIN_LEARN_GAMMA": "0.5",
            "WARPZONE_TRAIN_RUN_COMPILE": "True",
            "WARPZONE_TRAIN_ENV_LEVEL": "2-1",
            "HOME": "/nowhere",
        },
    )
    assert (config.env.num_envs, config.learn.gamma) == (32, 0.5)
    assert config.run.compile
    assert config.env.level == "2-1"


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("WARPZONE_TRAIN_ENV_NUM_ENVS", "many"),
        ("WARPZONE_TRAIN_GAME_LEVEL", "1-1"),
        ("WARPZONE_TRAIN_ENV_LEVLE", "1-1"),
    ],
)
def test_a_wrong_variable_is_refused(variable: str, value: str) -> None:
    with pytest.raises(ConfigError):
        from_environment(TrainConfig(), {variable: value})


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (TrainConfig(env=EnvOptions(num_envs=0)), r"env\.num_envs is 0; it must be above 0"),
        (TrainConfig(learn=LearnOptions(gamma=1.5)), r"learn\.gamma is 1\.5"),
        (
            TrainConfig(env=EnvOptions(num_envs=2), learn=LearnOptions(rollout_steps=8)),
            r"2 games x 8 steps = 16",
        ),
        (TrainConfig(model=ModelOptions(encoder="tiles")), "needs env.obs 'tiles'"),
        (
            TrainConfig(env=EnvOptions(obs="tiles"), model=ModelOptions(encoder="impala")),
            "needs env.obs 'pixels'",
        ),
    ],
)
def test_values_that_do_not_fit_are_named_with_the_arithmetic(
    config: TrainConfig, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        config.verify()


def test_the_preset_a_file_and_the_observation_set_the_defaults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WARPZONE_TRAIN_ENV_NUM_ENVS", "16")
    file = tmp_path / "options.toml"
    file.write_text("[learn]\nclip_coef = 0.3\n")
    train = train_defaults(["--preset", "cpu", "--obs=tiles", "--file", str(file)])
    assert train.config.env.obs == "tiles"
    assert train.config.env.num_envs == 16
    assert train.config.learn.clip_coef == 0.3
    assert train.config.learn.learning_rate == preset("cpu-quick").learn.learning_rate


@pytest.mark.parametrize("memory", ["gru", "lstm", "transformer"])
def test_the_preset_for_pixels_can_be_given_a_memory(memory: str) -> None:
    assert train_defaults([]).config.replay.capacity > 0
    config = train_defaults(["--memory", memory]).config
    replace(config, model=replace(config.model, memory=memory)).verify()


def test_a_missing_file_is_refused_by_name() -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.toml cannot be read"):
        train_defaults(["--file", "nowhere.toml"])


def test_the_algorithm_sets_the_defaults_that_suit_it() -> None:
    ppo, vtrace = preset("gpu").learn, train_defaults(["--preset", "gpu", "--algo", "vtrace"])
    assert ppo.epochs > 1
    assert vtrace.config.learn.algo == "vtrace"
    assert vtrace.config.learn.epochs == 1
    assert vtrace.config.learn.minibatch_size < ppo.minibatch_size
    assert train_defaults(["--preset", "gpu", "--algo", "ppo"]).config == preset("gpu")
