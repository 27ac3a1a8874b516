"""Every option gives the same run by file, variable, command line and Python."""

from __future__ import annotations

import json
from dataclasses import MISSING
from pathlib import Path
from typing import Any

import pytest

from warpzone.commands.parser import parse_command
from warpzone.commands.train import Train
from warpzone.config import TrainConfig, from_file, make_config, resolve, to_toml, train_options
from warpzone.config.kinds import Boolean, Choice, Integer, Number, Text, Weight, kind_of
from warpzone.config.option import Option
from warpzone.config.sources import TRAIN_PREFIX, variable_name
from warpzone.config.values import show
from warpzone.registry import register_wrapper

register_wrapper("wrapper-of-this-test")(lambda env: env)

OPTIONS = {option.path: option for option in train_options()}

# Other options that an option needs to be valid.
ALONG: dict[str, dict[str, Any]] = {
    "env.obs": {},
    "env.backend": {"vector": "sync"},
    "env.num_envs": {"minibatch_size": 32},
    "learn.rollout_steps": {"minibatch_size": 32},
    "learn.minibatch_size": {"rollout_steps": 256},
    "model.encoder": {"obs": "tiles"},
    "replay.capacity": {},
}
SPECIAL: dict[str, Any] = {
    "env.level": "1-2",
    "env.actions": "NOOP,RIGHT+B,RIGHT+A+B",
    "env.size": (96, 112),
    "env.wrap": "wrapper-of-this-test",
    "env.backend": "nes-py",
    "env.vector": "sync",
    "model.encoder": "tiles",
    "learn.algo": "vtrace",
    "learn.rollout_steps": 16,
    "reward.kind": "classic",
    "reward.distance": (0.02, 0.01, 500_000),
    "replay.capacity": 65_536,
    "run.plugins": ("one_module", "folder/two.py"),
    "adaptive.thresholds": (0.2, 0.9),
    "adaptive.distance_bounds": (0.25, 3.0),
    "adaptive.entropy_bounds": (0.25, 3.0),
    "adaptive.lr_bounds": (0.25, 3.0),
}


def another_value(option: Option) -> Any:
    """Returns a valid value other than the default."""
    if option.path in SPECIAL:
        return SPECIAL[option.path]
    kind, default, limits = kind_of(option.hint), option.default, option.limits
    if isinstance(kind, Boolean):
        return not default
    if isinstance(kind, Choice):
        return next(choice for choice in kind.choices if choice != default)
    if isinstance(kind, Text):
        return "something"
    candidates: list[Any] = [default + 1, default / 2] if option.hint is float else [default + 1]
    if option.hint == Weight:
        candidates = [default / 2]
    assert isinstance(kind, Integer | Number) or option.hint == Weight, option.path
    return next(value for value in candidates if limits.allow(value) and value != default)


def by_file(values: dict[str, Any], folder: Path) -> TrainConfig:
    lines = []
    for path, value in values.items():
        table, _, name = path.partition(".")
        lines += [f"[{table}]", f"{name} = {json.dumps(value)}"]
    merged: dict[str, list[str]] = {}
    for header, line in zip(lines[::2], lines[1::2], strict=True):
        merged.setdefault(header, []).append(line)
    file = folder / "options.toml"
    file.write_text("\n".join(f"{header}\n" + "\n".join(body) for header, body in merged.items()))
    return resolve(from_file(file))


def by_variables(values: dict[str, Any]) -> TrainConfig:
    variables = {
        variable_name(TRAIN_PREFIX, OPTIONS[path]): show(value) for path, value in values.items()
    }
    return make_config(environment=variables)


def by_command_line(values: dict[str, Any]) -> TrainConfig:
    arguments = []
    for path, value in values.items():
        flag = OPTIONS[path].flag
        if isinstance(value, bool):
            arguments.append(f"--{flag}" if value else f"--no-{flag}")
        elif OPTIONS[path].repeated:
            arguments += [f"--{flag}={part}" for part in value]
        else:
            arguments.append(f"--{flag}={show(value)}")
    train = parse_command(Train, "train", arguments, environment={})
    assert isinstance(train, Train)
    return resolve(train.training)


def by_keywords(values: dict[str, Any]) -> TrainConfig:
    keywords = {OPTIONS[path].keyword: value for path, value in values.items()}
    return make_config(environment={}, **keywords)


def by_every_channel(values: dict[str, Any], folder: Path) -> list[TrainConfig]:
    return [
        by_keywords(values),
        by_file(values, folder),
        by_variables(values),
        by_command_line(values),
    ]


@pytest.mark.parametrize("path", OPTIONS)
def test_an_option_gives_the_same_run_by_every_channel(path: str, tmp_path: Path) -> None:
    option = OPTIONS[path]
    value = another_value(option)
    along = {
        next(p for p, o in OPTIONS.items() if o.keyword == keyword): given
        for keyword, given in ALONG.get(path, {}).items()
    }
    first, *others = by_every_channel({path: value, **along}, tmp_path)
    assert first.value(option) == value != option.default
    assert type(first.value(option)) is type(value)
    assert others == [first] * 3


@pytest.mark.parametrize(
    "values",
    [
        {"env.obs": "tiles"},
        {"learn.algo": "vtrace"},
        {"model.memory": "gru"},
        {"starts.solutions": "solutions"},
        {"env.obs": "tiles", "learn.algo": "vtrace", "learn.epochs": 3},
        {"model.memory": "lstm", "starts.solutions": "solutions", "starts.share": 0.1},
    ],
)
def test_options_that_depend_on_others_follow_them_by_every_channel(
    values: dict[str, Any], tmp_path: Path
) -> None:
    first, *others = by_every_channel(values, tmp_path)
    assert others == [first] * 3
    assert first != make_config(environment={})


def test_a_saved_configuration_is_read_back_unchanged(tmp_path: Path) -> None:
    values = {path: another_value(OPTIONS[path]) for path in ("reward.distance", "env.size")}
    config = by_keywords(values)
    file = tmp_path / "config.toml"
    file.write_text(to_toml(config))
    assert resolve(from_file(file)) == config


def test_later_channels_take_precedence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "options.toml"
    file.write_text("[learn]\ngamma = 0.5\nclip_coef = 0.5\nvf_coef = 0.25\n")
    variables = {"WARPZONE_TRAIN_LEARN_CLIP_COEF": "0.4", "WARPZONE_TRAIN_LEARN_VF_COEF": "0.4"}
    config = make_config("campaign", file=file, environment=variables, vf_coef=0.3)
    assert (config.learn.gamma, config.learn.clip_coef, config.learn.vf_coef) == (0.5, 0.4, 0.3)


def test_flags_and_keywords_are_unique() -> None:
    own = [item.flag for item in OPTIONS.values()]
    assert len(set(own)) == len(own)


def test_every_option_has_a_default_and_a_help_text_of_its_own() -> None:
    for option in OPTIONS.values():
        assert option.default is not MISSING, option.path
        assert option.help.endswith("."), option.path
        assert not (option.default is True and not option.off), f"--no-{option.flag} has no help"
