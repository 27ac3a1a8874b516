"""Training, evaluating and searching from Python."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium import spaces
from gymnasium.vector import VectorWrapper
from gymnasium.wrappers.vector import TransformReward
from torch import nn

import warpzone
from warpzone.errors import CheckpointError, ConfigError, RunCompleteError
from warpzone.evaluation.export import export_policy
from warpzone.runs.saved_config import saved_config
from warpzone.video.contact_sheet import record_contact_sheet
from warpzone.video.policy_video import record_policy

SMALL: dict[str, Any] = {
    "obs": "tiles",
    "num_envs": 4,
    "num_threads": 1,
    "torch_threads": 1,
    "rollout_steps": 8,
    "minibatch_size": 16,
    "hidden": 16,
    "steps": 64,
    "display": "quiet",
    "video_minutes": 0.0,
}


class Tiny(nn.Module):
    def __init__(self, space: spaces.Dict, size: int) -> None:
        super().__init__()
        shape = space["tiles"].shape
        assert shape is not None
        self.layers = nn.Sequential(nn.Flatten(), nn.Linear(int(np.prod(shape)), size), nn.ReLU())

    def forward(self, obs: dict[str, torch.Tensor]) -> torch.Tensor:
        return self.layers(obs["tiles"].float() / 255)


warpzone.register_encoder("tiny-api")(Tiny)


@warpzone.register_reward("coins-api")
def coins(info: Any, previous: Any) -> Any:
    return info["coins"] - previous["coins"]


@warpzone.register_wrapper("only-tiles")
class OnlyTiles(VectorWrapper[Any, Any, Any, Any, Any]):
    """Observes the middle of the grid and no features."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        shape = env.single_observation_space["tiles"].shape
        self.single_observation_space = spaces.Dict(
            {"tiles": spaces.Box(0, 255, (shape[0], shape[1] - 2, shape[2]), np.uint8)}
        )

    def reset(self, **keywords: Any) -> Any:
        obs, info = self.env.reset(**keywords)
        return self._cut(obs), info

    def step(self, actions: Any) -> Any:
        obs, *rest = self.env.step(actions)
        return (self._cut(obs), *rest)

    def _cut(self, obs: Any) -> Any:
        return {"tiles": obs["tiles"][:, :, 1:-1]}


def train(folder: Path, **options: Any) -> Any:
    return warpzone.train(**{"level": "1-1", "runs": str(folder), **SMALL, **options})


def test_importing_the_package_does_not_import_torch() -> None:
    code = (
        "import sys, os, warpzone\n"
        "assert 'torch' not in sys.modules\n"
        "assert os.environ['OMP_WAIT_POLICY'] == 'PASSIVE'\n"
        "warpzone.register_reward('x')(lambda info, previous: 0)\n"
        "assert 'torch' not in sys.modules\n"
        "assert warpzone.Algorithm.__name__ == 'Algorithm'\n"
        "assert 'torch' in sys.modules\n"
        "from warpzone.system.openmp import is_spinning\n"
        "assert not is_spinning()\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_torch_that_was_imported_first_is_noticed() -> None:
    code = (
        "import os, sys, types\n"
        "os.environ.pop('OMP_WAIT_POLICY', None)\n"
        "sys.modules['torch'] = types.ModuleType('torch')\n"
        "import warpzone\n"
        "from warpzone.system.openmp import is_spinning\n"
        "assert is_spinning()\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_public_name_exists() -> None:
    for name in warpzone.__all__:
        assert getattr(warpzone, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'trian'"):
        warpzone.trian  # type: ignore[attr-defined]  # noqa: B018


def test_the_whole_path_from_training_to_evaluation(rom_path: Path, tmp_path: Path) -> None:
    seen: list[dict[str, float]] = []
    run = train(
        tmp_path,
        encoder="tiny-api",
        reward="coins-api",
        wrap=lambda env: TransformReward(env, lambda reward: 2 * reward),
        callback=lambda row: seen.append(dict(row)),
        max_steps=5,
    )
    assert (run.steps, run.updates, run.state) == (64, 2, "finished")
    assert [row["run/steps"] for row in seen] == [32, 64]
    assert {"loss/policy", "reward/sum", "rollout/clear_rate"} <= seen[-1].keys()
    assert str(run) == f"{run.path}: finished, 64 steps, clear rate 0%"
    config = saved_config(run.path)
    assert config.run.plugins == (__name__,)
    assert config.env.wrap.startswith(f"{__name__}:")
    policy = warpzone.load_policy(run.path)
    result = warpzone.evaluate(policy, level="1-1", episodes=3, max_steps=20)
    assert len(result.episodes) == 3
    assert str(result).startswith("1-1: 0 of 3 episodes clear (0%, 95 % interval 0%-")


def test_a_callback_that_returns_false_ends_the_run(rom_path: Path, tmp_path: Path) -> None:
    run = train(tmp_path, steps=10_000, callback=lambda row: row["run/updates"] < 3)
    assert (run.updates, run.state) == (3, "interrupted")


def test_a_run_is_resumed_and_refuses_other_options(rom_path: Path, tmp_path: Path) -> None:
    first = train(tmp_path, reward="coins-api")
    with pytest.raises(RunCompleteError):
        warpzone.train(resume=first.path, display="quiet")
    with pytest.raises(ConfigError, match="preset is for new runs"):
        warpzone.train(resume=first.path, preset="cpu")
    again = warpzone.train(resume=first.path, steps=96, display="quiet")
    assert (again.path, again.updates) == (first.path, 3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"encoder": "tiny-app"}, "no such encoder is registered; did you mean tiny-api?"),
        ({"reward": "nothing"}, "reward.kind is 'nothing'"),
        ({"algo": "dqn"}, "learn.algo is 'dqn'"),
        ({"wrap": "nowhere"}, "env.wrap is 'nowhere'"),
        ({"learning_rat": 1}, "there is no option learning_rat; did you mean learning_rate?"),
        ({"plugin": ["no_such_module"]}, "--plugin 'no_such_module' was not found"),
        ({"plugin": "my_module"}, "it must be a list"),
        ({"wrap": lambda env: None}, "wrap must return a gymnasium.vector.VectorWrapper"),
    ],
)
def test_what_is_wrong_is_refused_in_one_sentence_and_leaves_nothing(
    rom_path: Path, tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError) as error:
        train(tmp_path / "runs", **options)
    assert message in str(error.value)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "runs").exists()


@pytest.fixture(scope="module")
def wrapped_run(rom_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose wrapper changes observations."""
    path: Path = train(
        tmp_path_factory.mktemp("runs"), wrap="only-tiles", encoder="tiny-api", max_steps=5
    ).path
    return path


def test_a_wrapper_that_changes_observations_is_used_to_evaluate_and_export(
    wrapped_run: Path, tmp_path: Path
) -> None:
    export_policy(wrapped_run, tmp_path / "x.policy")
    from_run, from_file = (
        warpzone.evaluate(path, episodes=2, max_steps=20)
        for path in (wrapped_run, tmp_path / "x.policy")
    )
    assert from_run.level == from_file.level == "1-1"
    policy = warpzone.load_policy(wrapped_run)
    obs, _ = warpzone.make_vec("1-1", num_envs=2, **policy.env_options).reset(seed=0)
    with pytest.raises(ConfigError, match="the observations have the shapes"):
        policy.act(obs)


def test_a_wrapper_that_changes_observations_is_used_to_record(
    wrapped_run: Path, tmp_path: Path
) -> None:
    record_contact_sheet(wrapped_run, tmp_path / "sheet.png", num_envs=2)
    record_policy(wrapped_run, tmp_path / "episode.mp4", max_seeds=1)
    assert (tmp_path / "sheet.png").stat().st_size > 0
    assert (tmp_path / "episode.mp4").stat().st_size > 0


@pytest.mark.parametrize("memory", ["none", "gru"])
def test_a_policy_acts_as_it_is_evaluated(rom_path: Path, tmp_path: Path, memory: str) -> None:
    run = train(tmp_path, memory=memory, memory_size=8)
    policy = warpzone.load_policy(run.path, seed=3)
    env = warpzone.make_vec("1-1", num_envs=4, num_threads=1, **policy.env_options)
    player = policy.trained.player(4, 3, greedy=False)
    obs, _ = env.reset(seed=0)
    first = np.ones(4, np.bool_)
    for _ in range(3):
        actions = policy.act(obs)
        assert actions.tolist() == player(obs, first).tolist()
        obs, _, terminated, truncated, _ = env.step(actions)
        first = terminated | truncated
    start = env.reset(seed=0)[0]
    policy.reset()
    again = policy.act(start)
    policy.reset()
    assert policy.act(start).tolist() == again.tolist()
    greedy = warpzone.load_policy(run.path, greedy=True)
    assert greedy.act(start).shape == (4,)


def test_what_cannot_be_loaded_or_evaluated_is_refused(rom_path: Path, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError):
        warpzone.load_policy(tmp_path / "missing.policy")
    run = train(tmp_path, level="1-1,1-2")
    policy = warpzone.load_policy(run.path)
    with pytest.raises(ConfigError, match="trained on 1-1, 1-2; specify the level"):
        warpzone.evaluate(policy, episodes=1)
    with pytest.raises(ConfigError, match="episodes is 0"):
        warpzone.evaluate(policy, "1-1", episodes=0)
    with pytest.raises(ConfigError, match="eval_temperature is 0"):
        warpzone.evaluate(policy, "1-1", eval_temperature=0.0)


def test_a_search_returns_its_solution_and_effort(rom_path: Path) -> None:
    result = warpzone.solve("1-1", frames=2_000)
    assert result.solution is None
    assert str(result).startswith("no solution found (")
    with pytest.raises(ConfigError, match="seconds is -1"):
        warpzone.solve("1-1", seconds=-1)
