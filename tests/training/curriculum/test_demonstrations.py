"""Demonstrations made from solutions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from tiny import tiny

from warpzone.config import ReplayOptions, TrainConfig
from warpzone.envs.actions import resolve_actions
from warpzone.errors import SolutionError
from warpzone.search.solution import read_solution
from warpzone.training.curriculum.demonstrations import demonstrate
from warpzone.training.trainer import Trainer

FOLDER = Path(__file__).parents[3] / "solutions"
SOLUTION = read_solution(FOLDER / "1-1.solution")


def config(actions: str, obs: str = "tiles") -> TrainConfig:
    base = tiny()
    return replace(base, env=replace(base.env, actions=actions, obs=obs))


def test_every_step_of_a_solution_can_be_a_demonstration(rom_path: Path) -> None:
    shown = demonstrate(SOLUTION, config("extended"))
    assert len(shown.actions) == len(SOLUTION.inputs)
    own = resolve_actions("extended")
    assert bytes(own[action] for action in shown.actions.flatten()) == SOLUTION.inputs
    assert shown.first.flatten().tolist() == [True] + [False] * (len(SOLUTION.inputs) - 1)


def test_returns_are_those_of_a_level_that_was_cleared(rom_path: Path) -> None:
    setup = config("extended")
    returns = demonstrate(SOLUTION, setup).returns.flatten()
    # The last step pays the flag and little else, those before it more from step to step.
    assert returns[-1] == pytest.approx(setup.reward.clear, abs=0.2)
    discounted = returns[:-1] - setup.learn.gamma * returns[1:]
    assert discounted.min() >= -0.01
    assert discounted.sum() > 10


def test_steps_that_the_actions_cannot_express_are_omitted(rom_path: Path) -> None:
    shown = demonstrate(SOLUTION, config("right-only"))
    own = resolve_actions("right-only")
    kept = [step for step, byte in enumerate(SOLUTION.inputs) if byte in own]
    assert 0 < len(shown.actions) == len(kept) < len(SOLUTION.inputs)
    whole = demonstrate(SOLUTION, config("extended"))
    for name, part in shown.obs.items():
        assert torch.equal(part, whole.obs[name][kept])
    assert torch.equal(shown.returns, whole.returns[kept])
    gaps = np.diff(kept, prepend=-2) != 1
    assert shown.first.flatten().tolist() == gaps.tolist()


def test_demonstrations_work_with_images(rom_path: Path) -> None:
    shown = demonstrate(SOLUTION, config("simple", "pixels"))
    assert {name: part.shape[1:] for name, part in shown.obs.items()} == {"image": (1, 4, 84, 84)}


def test_a_different_frame_skip_is_rejected(rom_path: Path) -> None:
    setup = config("simple")
    with pytest.raises(SolutionError, match=r"frame skip of 4, but env\.frame_skip is 2; solve it"):
        demonstrate(SOLUTION, replace(setup, env=replace(setup.env, frame_skip=2)))


def test_a_run_learns_from_its_solutions_only_if_replay_is_on(rom_path: Path) -> None:
    setup = tiny()
    setup = replace(setup, starts=replace(setup.starts, solutions=str(FOLDER)))
    plain = Trainer(setup)
    assert plain.replay is None
    plain.close()
    trainer = Trainer(replace(setup, replay=ReplayOptions(capacity=1000, batch_size=16)))
    trainer.begin()
    assert trainer.replay is not None
    assert trainer.replay.demonstrations is not None
    row = trainer.update()
    assert row["replay/demonstration_better_share"] > 0.5  # a new critic expects nothing
    trainer.close()
