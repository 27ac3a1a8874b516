"""Runs that need a plug-in, through every command that loads them."""

from __future__ import annotations

import contextlib
import io
import sys
from pathlib import Path

import pytest

from warpzone import cli, registry
from warpzone.registry import algorithms, encoders, rewards, wrappers
from warpzone.runs.checkpoint_store import find_latest
from warpzone.runs.saved_config import saved_config

PLUGIN = """
import numpy as np
import torch
import warpzone
from torch import nn


class Tiny(nn.Module):
    def __init__(self, space, size):
        super().__init__()
        self.layer = nn.Linear(int(np.prod(space["tiles"].shape)), size)

    def forward(self, obs):
        return torch.relu(self.layer(obs["tiles"].flatten(1).float() / 255))


warpzone.register_encoder("tiny")(Tiny)


@warpzone.register_reward("coins")
def coins(info, previous):
    return info["coins"] - previous["coins"]


@warpzone.register_algorithm("mine")
class Mine(warpzone.Algorithm):
    def targets(self, rollout):
        rewards = rollout.steps.rewards
        return warpzone.Targets(rewards, rewards, metrics={"custom/reward": float(rewards.mean())})

    def loss(self, batch, output):
        value = (output.values - batch.returns).square().mean()
        return warpzone.Loss(value, {"loss/value": value, "custom/twice": 2 * value})


@warpzone.register_wrapper("plain")
def plain(env):
    return env
"""
FLAGS = (
    *("--obs=tiles", "--num-envs=4", "--num-threads=1", "--rollout-steps=8", "--hidden=16"),
    *("--minibatch-size=16", "--device=cpu", "--torch-threads=1", "--display=plain"),
    *("--log-every=1", "--max-steps=5"),
)
NAMES = ("--encoder=tiny", "--reward=coins", "--algo=mine")


def run_command(folder: Path, *arguments: str, **variables: str) -> tuple[int, str]:
    """Runs a command in a folder, without plug-ins of earlier commands; returns code and errors."""
    registries = [encoders, algorithms, rewards, wrappers]
    errors = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stderr(errors):
        patch.chdir(folder)
        patch.setattr(sys, "path", list(sys.path))
        patch.setattr(registry, "_imported", set())
        for one in registries:
            patch.setattr(one, "_items", dict(one._items))
        for name, value in variables.items():
            patch.setenv(name, value)
        code = cli.main(arguments)
        sys.modules.pop("my_plugin", None)
    return code, errors.getvalue()


def works(folder: Path, *arguments: str, **variables: str) -> None:
    code, errors = run_command(folder, *arguments, **variables)
    assert code == 0, errors


def fails(folder: Path, *arguments: str) -> str:
    code, errors = run_command(folder, *arguments)
    assert code == 2, errors
    assert "Traceback" not in errors
    return errors


@pytest.fixture(scope="module")
def folder(rom_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a plug-in, a run that uses it, and its policy as a file."""
    place = tmp_path_factory.mktemp("user")
    (place / "my_plugin.py").write_text(PLUGIN)
    works(
        *(place, "train", "--plugin", "my_plugin", *NAMES, *FLAGS, "--steps=64", "--no-video"),
        "--name=own",
    )
    works(place, "export", "--plugin", "my_plugin.py", "runs/own", "-o", "own.policy")
    return place


def test_the_run_its_checkpoints_and_its_policy_file_name_the_plugin(folder: Path) -> None:
    assert saved_config(folder / "runs/own").run.plugins == ("my_plugin",)
    checkpoint = find_latest(folder / "runs/own")
    assert checkpoint is not None
    assert '"my_plugin"' in checkpoint.with_suffix(".json").read_text()
    assert b'"my_plugin"' in (folder / "own.policy").read_bytes()


def test_metrics_of_the_algorithm_are_written(folder: Path) -> None:
    metrics = (folder / "runs/own/metrics.jsonl").read_text()
    assert '"custom/reward"' in metrics
    assert '"custom/twice"' in metrics


@pytest.mark.parametrize(
    "arguments",
    [
        ("train", "--resume", "runs/own", "--steps", "96", "--no-video"),
        ("eval", "runs/own", "--episodes", "1"),
        ("eval", "own.policy", "--episodes", "1"),
        ("video", "runs/own", "-o", "x.mp4"),
        ("video", "own.policy", "--contact-sheet", "-o", "x.png"),
        ("export", "runs/own", "-o", "x.policy"),
        ("scoreboard", "board", "--episodes", "1", "--add", "own.policy"),
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_loading_without_the_plugin_says_which_one_to_give(
    folder: Path, arguments: tuple[str, ...]
) -> None:
    error = fails(folder, *arguments)
    assert "is registered; it comes from my_plugin: import it, or give --plugin my_plugin" in error


@pytest.mark.parametrize(
    "arguments",
    [
        ("train", "--resume", "runs/own", "--steps=96", "--no-video", "--plugin=my_plugin"),
        ("eval", "--plugin", "my_plugin", "runs/own", "--episodes", "1"),
        ("eval", "own.policy", "--episodes", "1", "--plugin", "./my_plugin.py"),
        ("video", "runs/own", "-o", "own.mp4", "--plugin=my_plugin"),
        ("report", "runs/own", "--plugin", "my_plugin", "-o", "own.html"),
        ("scoreboard", "board", "--episodes=1", "--plugin=my_plugin", "--add", "own.policy"),
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_every_command_works_with_the_plugin(folder: Path, arguments: tuple[str, ...]) -> None:
    works(folder, *arguments)


def test_a_variable_names_plugins_as_well(folder: Path) -> None:
    works(folder, "eval", "own.policy", "--episodes", "1", WARPZONE_EVAL_PLUGIN="my_plugin")
    works(
        *(folder, "train", *NAMES, *FLAGS, "--steps=32", "--no-video", "--name=variable"),
        WARPZONE_TRAIN_RUN_PLUGINS="my_plugin",
    )


def test_a_file_never_imports_a_plugin_but_names_it(folder: Path) -> None:
    error = fails(folder, "train", "--file", "runs/own/config.toml", "--name", "copy")
    assert "it comes from my_plugin" in error
    assert not (folder / "runs/copy").exists()


def test_a_campaign_trains_and_measures_with_the_plugin(folder: Path) -> None:
    options = ("--steps-per-level=32", "--episodes=1", "-o", "campaign")
    works(folder, "campaign", "--levels=1-1", "--plugin=my_plugin", *NAMES, *FLAGS, *options)
    assert (folder / "campaign/scoreboard.json").exists()


def test_misspelt_names_get_suggestions(folder: Path) -> None:
    error = fails(folder, "train", "--plugin", "my_plugin", "--encoder", "tinny", *FLAGS)
    assert "no such encoder is registered; did you mean tiny?" in error
