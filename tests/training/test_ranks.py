"""Several ranks train together as one would."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from tests.support.rank_child import VARIANTS, config_of, learn
from warpzone.algorithms.ranks import Ranks
from warpzone.config import DistillOptions
from warpzone.errors import ConfigError
from warpzone.training.process_ranks import has_ranks, share_of
from warpzone.training.rank_trainer import merged
from warpzone.training.trainer import Trainer

CHILD = Path(__file__).parent.parent / "support" / "rank_child.py"
ROOT = Path(__file__).parent.parent.parent
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]


class SecondOfTwo(Ranks):
    rank, size = 1, 2


def test_two_ranks_with_half_the_batch_equal_one_rank_with_the_whole_batch(
    tmp_path: Path,
) -> None:
    subprocess.run([*TORCHRUN, str(CHILD), str(tmp_path)], check=True, timeout=600, cwd=ROOT)
    for algorithm, acting in VARIANTS:
        _assert_equal(tmp_path, algorithm, acting)


def _assert_equal(folder: Path, algorithm: str, acting: str) -> None:
    before = _initial(algorithm, acting)
    one = learn(algorithm, acting, Ranks())
    first, second = (torch.load(folder / f"{algorithm}-{rank}.pt") for rank in (0, 1))
    for name, value in one["weights"].items():  # type: ignore[attr-defined]
        assert torch.equal(first["weights"][name], second["weights"][name]), name
        torch.testing.assert_close(first["weights"][name], value, rtol=0, atol=2e-5, msg=name)
    moved = (one["weights"]["policy.weight"] - before["policy.weight"]).abs().max()  # type: ignore[index]
    assert moved > 1e-3
    assert first["grad_norm"] == pytest.approx(one["grad_norm"], rel=1e-3)


def _initial(algorithm: str, acting: str) -> dict[str, torch.Tensor]:
    trainer = Trainer(config_of(algorithm, acting))
    trainer.close()
    return {name: value.clone() for name, value in trainer.model.state_dict().items()}


def test_ranks_divide_environments_and_minibatches_and_have_their_own_seeds() -> None:
    config = config_of("ppo", "auto")
    own = share_of(config, SecondOfTwo())
    assert own.env.num_envs * 2 == config.env.num_envs
    assert own.learn.minibatch_size * 2 == config.learn.minibatch_size
    assert own.run.seed - config.run.seed > config.env.num_envs
    assert share_of(config, Ranks()) == config


@pytest.mark.parametrize(("table", "option", "value"), [("env", "num_envs", 7)])
def test_ranks_that_cannot_share_equally_name_the_option(
    table: str, option: str, value: int
) -> None:
    config = config_of("ppo", "auto")
    config = replace(config, **{table: replace(getattr(config, table), **{option: value})})
    with pytest.raises(ConfigError, match=rf"{table}\.{option} is {value}.*multiple of 2"):
        share_of(config, SecondOfTwo())


def test_distillation_refuses_several_ranks() -> None:
    config = replace(config_of("ppo", "auto"), distill=DistillOptions(teachers="policies"))
    with pytest.raises(ConfigError, match=r"distill\.teachers does not work with several ranks"):
        share_of(config, SecondOfTwo())


def test_only_several_processes_of_torchrun_are_ranks() -> None:
    assert not has_ranks({})
    assert not has_ranks({"WORLD_SIZE": "1", "MASTER_ADDR": "localhost"})
    assert has_ranks({"WORLD_SIZE": "2", "MASTER_ADDR": "localhost"})


def test_metrics_of_ranks_are_means_except_for_sums() -> None:
    rows = [
        {"loss/total": 1.0, "learn/skipped": 2, "reward/sum": 5.0, "speed/steps_per_second": 10.0},
        {"loss/total": 3.0, "learn/skipped": 2, "reward/sum": 6.0, "speed/steps_per_second": 20.0},
    ]
    assert merged(rows) == {
        "loss/total": 2.0,
        "learn/skipped": 2,
        "reward/sum": 11.0,
        "speed/steps_per_second": 30.0,
    }
