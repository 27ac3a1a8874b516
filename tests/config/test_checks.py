"""Invalid values are rejected with the option's name and the allowed values, from any source."""

from __future__ import annotations

import contextlib
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpzone.config import (
    EnvOptions,
    LearnOptions,
    ModelOptions,
    RunOptions,
    TrainConfig,
    from_environment,
    from_file,
    from_keywords,
    from_toml,
    make_config,
    to_toml,
    train_options,
)
from warpzone.config.kinds import Number, kind_of
from warpzone.config.option import Option
from warpzone.config.values import check_value, read_text
from warpzone.errors import ConfigError

FLOATS = [option for option in train_options() if isinstance(kind_of(option.hint), Number)]
BY_PATH = {option.path: option for option in train_options()}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[env", "file is not valid TOML"),
        ("[game]\nx = 1", r"there is no table \[game\]"),
        ("[envs]\nx = 1", r"there is no table \[envs\].*did you mean env\?"),
        ("env = 1", r"there is no table \[env\]"),
        ("[env]\nlevle = '1-1'", r"no option env\.levle; did you mean env\.level\?"),
        ("[env]\ngamma = 1", r"no option env\.gamma; did you mean learn\.gamma\?"),
        ("[env]\nnum_envs = 'many'", r"env\.num_envs is 'many'; it must be a whole number"),
        ("[env]\nnum_envs = true", r"env\.num_envs is true; it must be a whole number"),
        ("[env]\nnum_envs = 1.5", r"env\.num_envs is 1\.5; it must be a whole number"),
        ("[learn]\ngamma = 'high'", r"learn\.gamma is 'high'; it must be a finite number"),
        ("[learn]\ngamma = 1.5", r"learn\.gamma is 1\.5; it must be from 0 to 1"),
        ("[learn]\noptimizer = 'sgd'", r"learn\.optimizer is 'sgd'; it must be adam or adamw"),
        ("[run]\nprecision = 'int8'", "must be auto, float32, bfloat16 or float16"),
        ("[run]\nprecision = 'bfloat61'", r"did you mean bfloat16\?"),
        ("[run]\ncompile = 1", r"run\.compile is 1; it must be true or false"),
        ("[run]\nseed = -1", r"run\.seed is -1; it must be from 0 to 4,294,967,295"),
        ("[reward]\nmilestone_pixels = 0", r"milestone_pixels is 0; it must be from 1"),
        ("[reward]\ndistance = [1.0, 0.5, 0]", "START:END:STEPS with STEPS above 0"),
        ("[reward]\ndistance = [1.0, 0.5, -5]", "START:END:STEPS with STEPS above 0"),
        ("[reward]\ndistance = [1.0, 0.5]", "START:END:STEPS"),
        ("[env]\nsize = [84]", "2 whole numbers separated by colons"),
    ],
)
def test_an_invalid_file_is_rejected_by_name(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as refusal:
        from_toml(text, "file")
    assert str(refusal.value).startswith("file")


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("WARPZONE_TRAIN_ENV_NUM_ENVS", "many", "WARPZONE_TRAIN_ENV_NUM_ENVS is 'many'; it must"),
        ("WARPZONE_TRAIN_LEARN_OPTIMIZER", "sgd", "it must be adam or adamw"),
        ("WARPZONE_TRAIN_RUN_COMPILE", "maybe", "true or false"),
        (
            "WARPZONE_TRAIN_ENV_LEVLE",
            "1-1",
            r"does not name an option; did you mean WARPZONE_TRAIN_ENV_LEVEL\?",
        ),
        ("WARPZONE_TRAIN_XYZ", "1", "does not name an option; an example is WARPZONE_TRAIN_ENV"),
    ],
)
def test_an_invalid_variable_is_rejected_by_name(variable: str, value: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        from_environment({variable: value})


def test_a_misspelled_keyword_gets_a_suggestion() -> None:
    with pytest.raises(ConfigError, match=r"no option num_env; did you mean num_envs\?"):
        from_keywords({"num_env": 3})


@pytest.mark.parametrize("option", FLOATS, ids=lambda option: option.path)
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_nan_and_infinity_are_rejected(option: Option, value: float) -> None:
    table, _, name = option.path.partition(".")
    with pytest.raises(ConfigError, match=rf"{option.flag} is .*; it must be a finite number"):
        read_text(option, str(value), f"--{option.flag}")
    with pytest.raises(ConfigError, match="finite"):
        from_toml(f"[{table}]\n{name} = {value}", "file")
    with pytest.raises(ConfigError, match="finite"):
        from_keywords({option.keyword: value})


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (TrainConfig(env=EnvOptions(num_envs=0)), r"env\.num_envs is 0; it must be from 1"),
        (TrainConfig(learn=LearnOptions(gamma=1.5)), r"learn\.gamma is 1\.5"),
        (TrainConfig(learn=LearnOptions(clip_coef=math.nan)), r"learn\.clip_coef is nan"),
        (TrainConfig(learn=LearnOptions(optimizer="sgd")), "adam or adamw"),  # type: ignore[arg-type]
        (
            TrainConfig(learn=LearnOptions(algo="evil")),
            "no such algorithm.*available: ppo",
        ),
        (TrainConfig(model=ModelOptions(encoder="impale")), r"did you mean impala\?"),
        (TrainConfig(run=RunOptions(seed=2**63)), r"run\.seed is"),
        (
            TrainConfig(env=EnvOptions(num_envs=2), learn=LearnOptions(rollout_steps=8)),
            r"2 environments x 8 steps = 16",
        ),
        (TrainConfig(model=ModelOptions(encoder="tiles")), r"needs env\.obs 'tiles'"),
        (
            TrainConfig(env=EnvOptions(obs="tiles"), model=ModelOptions(encoder="impala")),
            r"needs env\.obs 'pixels'",
        ),
        (TrainConfig(env=EnvOptions(backend="nes-py")), "use --vector async or sync"),
    ],
)
def test_values_from_python_are_checked_as_well(config: TrainConfig, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        config.verify()


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("64", 64),
        ("500_000", 500_000),
        ("1e6", 10**6),
        ("2M", 2_000_000),
        ("2.5k", 2500),
        ("1.5e3", 1500),
        ("1G", 10**9),
        (" 7 ", 7),
    ],
)
def test_whole_numbers_are_read_as_people_write_them(text: str, number: int) -> None:
    assert read_text(BY_PATH["run.steps"], text, "--steps") == number


@pytest.mark.parametrize("text", ["", "x", "1.5", "1e-3", "1e999999999", "9" * 5000, "M", "0x10"])
def test_invalid_whole_numbers_are_rejected_quickly(text: str) -> None:
    with pytest.raises(ConfigError, match="--steps is"):
        read_text(BY_PATH["run.steps"], text, "--steps")


@given(st.text(max_size=50))
def test_any_text_for_any_option_is_a_value_or_a_config_error(text: str) -> None:
    for option in train_options():
        with contextlib.suppress(ConfigError):
            value = read_text(option, text, option.flag)
            assert check_value(option, value, option.flag) == value


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner),
        max_leaves=6,
    )
)
def test_any_data_for_any_option_is_a_value_or_a_config_error(value: Any) -> None:
    for option in train_options():
        with contextlib.suppress(ConfigError):
            checked = check_value(option, value, option.path)
            assert check_value(option, checked, option.path) == checked


@pytest.mark.parametrize("name", ["émile", "馬力歐", "🍄", "a\x7fb", 'a"b\\c', "tab\tbed", "\x01"])
def test_names_of_every_kind_survive_a_file(name: str, tmp_path: Path) -> None:
    config = make_config(environment={}, name=name)
    file = tmp_path / "config.toml"
    file.write_text(to_toml(config), encoding="utf-8")
    assert from_file(file)["run"]["name"] == name


def test_a_name_that_is_not_utf8_is_rejected() -> None:
    with pytest.raises(ConfigError, match="valid Unicode text"):
        make_config(environment={}, name="\udcff")


@pytest.mark.parametrize("path", ["/dev/zero", "nowhere.toml", "/"])
def test_devices_missing_files_and_folders_are_rejected_quickly(path: str) -> None:
    with pytest.raises(ConfigError, match=path):
        from_file(Path(path))


def test_a_file_that_is_not_text_is_rejected(tmp_path: Path) -> None:
    file = tmp_path / "options.toml"
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="is not UTF-8 text"):
        from_file(file)
