"""The command line: help, suggestions, environment variables and hostile values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import MISSING
from pathlib import Path

import pytest

from warpzone import cli
from warpzone.commands.command import Command, Group, inherited_options, is_everyday, own_options
from warpzone.commands.evaluate import Evaluate
from warpzone.commands.parser import parse_command
from warpzone.commands.train import Train
from warpzone.errors import ConfigError


def leaves(
    commands: dict[str, type[Command] | Group], prefix: str = ""
) -> Iterator[tuple[str, type[Command]]]:
    for name, command in commands.items():
        if isinstance(command, Group):
            yield from leaves(dict(command.commands), f"{prefix}{name} ")
            if command.default is not None:
                yield prefix + name, command.default
        else:
            yield prefix + name, command


COMMANDS = dict(leaves(cli.COMMANDS))


def shown_flags(text: str) -> list[str]:
    return re.findall(r"^  (?:-\w, )?(--[\w-]+)", text, re.MULTILINE)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_examples(name: str, capsys) -> None:
    assert cli.main([*name.split(), "--help"]) == 0
    text = capsys.readouterr().out
    assert f"usage: warpzone {name}" in text
    assert f"Examples:\n  warpzone {name}" in text
    assert len(shown_flags(text)) <= 22, "20 options, --help and --help-all"


@pytest.mark.parametrize("name", ["train", "campaign", "sweep"])
def test_help_all_shows_every_option_once(name: str, capsys) -> None:
    command = COMMANDS[name]
    assert cli.main([name, "--help-all"]) == 0
    text = capsys.readouterr().out
    flags = [flag.removeprefix("--no-").removeprefix("--") for flag in shown_flags(text)]
    wanted = [option.flag for option in (*own_options(command), *inherited_options(command))]
    assert sorted(flags) == sorted([*wanted, "help"])


def test_an_everyday_option_is_one_of_at_most_twenty() -> None:
    for name in ("train", "campaign", "sweep"):
        command = COMMANDS[name]
        options = (*own_options(command), *inherited_options(command))
        assert 15 <= sum(is_everyday(command, option) for option in options) <= 20


@pytest.mark.parametrize("group", ["rom", "runs", "bench", "tools"])
def test_a_group_alone_shows_its_own_help(group: str, capsys) -> None:
    assert cli.main([group]) == 0
    text = capsys.readouterr().out
    assert f"usage: warpzone {group} COMMAND" in text
    command = cli.COMMANDS[group]
    assert isinstance(command, Group)
    assert all(f"\n  {name} " in text for name in command.commands)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["trian"], "`warpzone` has no command 'trian'; did you mean train?"),
        (["runs", "lst"], "`warpzone runs` has no command 'lst'; did you mean list?"),
        (["bench", "xyzzy"], "available commands: env, train, overlap, replay"),
        (["train", "--levle", "1-1"], "has no option --levle; did you mean --level?"),
        (["train", "--levle=1-1"], "has no option --levle; did you mean --level?"),
        (
            ["train", "--obs", "tile"],
            "--obs is 'tile'; it must be pixels, rgb or tiles; did you mean",
        ),
        (["train", "--preset", "cpu-quik"], "did you mean cpu-quick?"),
        (["train", "1-1"], "`warpzone train` does not take '1-1'"),
        (["campaign", "--level", "1-1"], "has no option --level; did you mean --levels?"),
        (["eval"], "the following arguments are required: RUN"),
        (["export", "runs/x"], "`warpzone export` needs --output"),
        (["train", "--steps"], "argument --steps: expected one argument"),
        (["train", "--resume", "x", "--preset", "cpu"], "--preset is for new runs"),
    ],
)
def test_a_mistake_gets_one_message_with_a_remedy(arguments, message: str, capsys) -> None:
    assert cli.main(arguments) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.startswith("error: ")
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        "train --seed -1",
        "train --seed 9223372036854775808",
        "train --torch-threads -1",
        "train --hidden 1e9",
        "train --replay-capacity 1e10",
        "train --num-envs 100000 --dry-run",
        "train --num-envs 65536 --rollout-steps 65536 --dry-run",
        "train --probe-frames 1e9",
        "train --file /dev/zero",
        "train --optimizer sgd",
        "train --algo evil",
        "train --precision int8",
        "train --clip-coef nan",
        "train --learning-rate inf",
        "train --reward-distance 1:0:-5",
        "train --reward-milestone-pixels 0",
        "train --actions JUMP",
        "train --start-state nowhere.state",
        "train --rom nowhere.nes",
        "train --level 9-9 --game lost-levels --held-out 1-1",
        "eval nowhere --episodes 0",
        "eval nowhere --eval-temperature nan",
        "eval nowhere --seed -1",
        "video nowhere --num-envs 1e9",
        "bench env --num-envs 1000000000",
        "bench env --seconds nan",
        "bench overlap --num-envs 0",
        "bench replay --capacity 1e12",
        "bench train --seconds 0",
        "play --scale 1e6",
        "solve --jobs 1e9",
        "solve --memory -1",
        "doctor env --trials 1e12",
        "scoreboard nowhere --goal nan",
        "campaign --goal 2",
        "campaign --rounds 0",
    ],
)
def test_hostile_values_give_one_message_and_exit_code_2(
    arguments: str, tmp_path: Path, rom_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(arguments.split()) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_of_every_command_can_come_from_a_variable(name: str) -> None:
    command = COMMANDS[name]
    prefix = f"WARPZONE_{name.replace(' ', '_').upper()}_"
    for option in own_options(command):
        if option.positional or option.default in (None, "", ()) or option.required:
            continue
        needed = [
            word
            for other in own_options(command)
            if other.required
            for word in ([f"--{other.flag}"] if not other.positional else []) + ["x"]
        ]
        value = str(option.default).lower() if option.hint is bool else str(option.default)
        if isinstance(option.default, tuple):
            value = ",".join(option.default)
        variable = prefix + option.name.upper()
        made = parse_command(command, name, needed, {variable: value, "WARPZONE_ROM": "x"})
        assert getattr(made, option.name) == option.default
        with pytest.raises(ConfigError, match=f"{variable}X does not name an option"):
            parse_command(command, name, needed, {f"{variable}X": value})


def test_a_variable_sets_an_option_and_the_command_line_wins() -> None:
    variables = {"WARPZONE_EVAL_EPISODES": "1e3", "WARPZONE_EVAL_GREEDY": "true"}
    evaluate = parse_command(Evaluate, "eval", ["runs/x"], variables)
    assert isinstance(evaluate, Evaluate)
    assert (evaluate.episodes, evaluate.greedy) == (1000, True)
    evaluate = parse_command(Evaluate, "eval", ["runs/x", "--episodes", "7"], variables)
    assert isinstance(evaluate, Evaluate)
    assert evaluate.episodes == 7


def test_train_reads_its_own_variables_and_those_of_the_tables() -> None:
    variables = {"WARPZONE_TRAIN_PRESET": "gpu", "WARPZONE_TRAIN_ENV_NUM_ENVS": "8"}
    train = parse_command(Train, "train", [], variables)
    assert isinstance(train, Train)
    assert (train.preset, train.training) == ("gpu", {})


def test_a_boolean_can_be_turned_on_and_off_whatever_its_default() -> None:
    for flag, value in (("--video", True), ("--no-video", False)):
        train = parse_command(Train, "train", [flag], {})
        assert isinstance(train, Train)
        assert train.video is value
    for flag, value in (("--show-buttons", True), ("--no-compile", False)):
        train = parse_command(Train, "train", [flag], {})
        assert isinstance(train, Train)
        name = flag.removeprefix("--no-").strip("-").replace("-", "_")
        assert [*train.training.values()] == [{name: value}]


def test_every_option_of_every_command_has_a_help_text_that_stands_alone() -> None:
    for name, command in COMMANDS.items():
        for option in own_options(command):
            assert option.help.endswith("."), f"{name} {option.name}"
            assert option.default is not True or option.off, f"{name} --no-{option.flag}"
            assert option.positional or option.flag, f"{name} {option.name}"
            assert option.default is not MISSING or option.metavar, f"{name} {option.name}"
