"""Training in Gymnasium's vectors and on nes-py."""

from __future__ import annotations

import os
import re
import signal
from dataclasses import replace
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tiny import STEPS, tiny

from warpzone.config import StartOptions, TrainConfig
from warpzone.errors import ConfigError
from warpzone.training.session import start
from warpzone.training.trainer import Trainer


def configured(updates: int = 2, **env: Any) -> TrainConfig:
    # Only the native vector can act in native code, which draws other random numbers.
    config = tiny(updates=updates, acting="torch")
    return replace(config, env=replace(config.env, **env))


def trained(config: TrainConfig, updates: int) -> dict[str, torch.Tensor]:
    trainer = Trainer(config)
    try:
        trainer.begin()
        for _ in range(updates):
            trainer.update()
        return {name: value.clone() for name, value in trainer.model.state_dict().items()}
    finally:
        trainer.close()


@pytest.mark.parametrize("vector", ["sync", "async"])
def test_every_vector_kind_learns_the_same(vector: str) -> None:
    options = {"sticky_prob": 0.25, "max_steps": 10}
    native = trained(configured(**options), 2)
    other = trained(configured(vector=vector, **options), 2)
    for name, value in native.items():
        assert torch.equal(value, other[name]), name


def test_resume_warns_that_environments_start_new_episodes() -> None:
    config = configured(vector="sync", backend="nes-py", num_envs=2, level="1-1")
    config = replace(config, learn=replace(config.learn, minibatch_size=8))
    first = Trainer(config)
    first.begin()
    first.update()
    state = first.state_dict()
    first.close()
    assert state["envs"] == []
    second = Trainer(config)
    with pytest.warns(UserWarning, match="cannot be saved: all of them start a new episode"):
        second.load_state_dict(state)
    assert second.steps == 2 * STEPS
    for name, value in first.model.state_dict().items():
        assert torch.equal(value, second.model.state_dict()[name])
    second.update()
    assert second.updates == 2
    second.close()


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (configured(backend="nes-py"), "use --vector async or sync"),
        (
            replace(configured(vector="async"), starts=StartOptions(share=0.5)),
            "starts.share 0.5 needs save states; use --vector native instead of async",
        ),
        (
            replace(configured(vector="sync"), starts=StartOptions(solutions="solutions")),
            "starts.solutions 'solutions' needs save states; use --vector native",
        ),
        (
            configured(vector="async", level_order="curriculum"),
            "env.level_order 'curriculum' needs save states; use --vector native",
        ),
    ],
)
def test_impossible_combinations_are_rejected(config: TrainConfig, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        config.verify()


@pytest.mark.filterwarnings("ignore")
def test_a_replaced_worker_is_recorded_in_the_log_of_the_run(tmp_path: Path) -> None:
    config = tiny(tmp_path, updates=3)
    config = replace(config, env=replace(config.env, vector="async", num_envs=2))
    killed = []

    def kill_a_worker(*_: object) -> bool:
        if not killed:
            killed.append(active_children()[0].pid)
            os.kill(killed[0], signal.SIGKILL)
        return False

    run, _ = start(config, "quiet", until=kill_a_worker)
    log = (run.path / "log.txt").read_text()
    assert re.search(r"\[env\] warning: worker \d was killed by SIGKILL .* it is replaced", log)


def test_an_episode_is_logged_with_its_own_level_where_environments_draw_levels(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Environments reset within the step, so their level is already that of the next episode."""
    config = configured(vector="sync", level="1-1,4-2,8-3", level_order="random", max_steps=1)
    config = replace(config, env=replace(config.env, num_envs=2, noop_max=0, sticky_prob=0.0))
    trainer = Trainer(config)
    played: list[tuple[int, int]] = []
    observe = trainer.episodes.observe

    def watch(info: Any, ended: Any, *rest: Any) -> None:
        played.extend((int(info["world"][i]), int(info["stage"][i])) for i in np.nonzero(ended)[0])
        observe(info, ended, *rest)

    monkeypatch.setattr(trainer.episodes, "observe", watch)
    trainer.begin()
    trainer.player.take(trainer.steps)
    logged = [episode.level for episode in trainer.episodes.flush()]
    trainer.close()
    assert logged == [f"{world}-{stage}" for world, stage in played]
    assert len(set(logged)) == 3


def test_x_comes_from_ram_on_nes_py_even_where_the_package_reports_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from gym_super_mario_bros.smb_env import SuperMarioBrosEnv

    def reports_none(self: object) -> dict[str, Any]:
        raise RuntimeError("no info")

    monkeypatch.setattr(SuperMarioBrosEnv, "_get_info", reports_none)
    config = configured(vector="sync", backend="nes-py", num_envs=1, actions="RIGHT+B")
    trainer = Trainer(replace(config, learn=replace(config.learn, minibatch_size=8)))
    trainer.begin()
    trainer.update()
    _, info = trainer.env.observe()
    trainer.close()
    assert info["x_pos"][0] > 40
    assert info["progress"][0] > 0
