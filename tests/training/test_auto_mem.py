"""A run is reduced step by step if memory runs out; other failures are raised."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from tiny import tiny

from warpzone.config import ReplayOptions, TrainConfig
from warpzone.errors import RunError
from warpzone.training import session
from warpzone.training.auto_mem import fit_memory, reductions
from warpzone.training.trainer import Trainer

CONFIG = TrainConfig(replay=ReplayOptions(capacity=20_000))


def is_out_of_memory(error: BaseException) -> bool:
    return isinstance(error, MemoryError)


def size(config: TrainConfig) -> int:
    """Returns a stand-in for the memory that a run needs."""
    rollout = config.env.num_envs * config.learn.rollout_steps
    return rollout + config.learn.minibatch_size + config.replay.capacity


def test_each_reduction_is_smaller_valid_and_printed() -> None:
    said: list[str] = []

    def attempt(config: TrainConfig) -> str:
        if size(config) > 2_000:
            raise MemoryError
        return "fits"

    config, result = fit_memory(CONFIG, attempt, is_out_of_memory, said.append)
    assert result == "fits"
    assert size(config) <= 2_000
    config.verify()
    assert said[:4] == [
        "memory ran out; retrying with --minibatch-size 512 --grad-accumulation 2",
        "memory ran out; retrying with --minibatch-size 256 --grad-accumulation 4",
        "memory ran out; retrying with --replay-capacity 10000",
        "memory ran out; retrying with --replay-capacity 5000",
    ]
    assert any("--rollout-steps 32" in line for line in said)


def test_reductions_end_at_the_smallest_and_all_are_valid() -> None:
    sizes = [size(CONFIG)]
    for config, change in reductions(CONFIG):
        config.verify()
        assert change.startswith("--")
        sizes.append(size(config))
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) == len(sizes)
    assert (config.env.num_envs, config.learn.rollout_steps) == (8, 16)


def test_a_configuration_that_fits_is_unchanged() -> None:
    config, _ = fit_memory(CONFIG, lambda _: None, is_out_of_memory, pytest.fail)
    assert config == CONFIG


def test_other_failures_are_raised_immediately() -> None:
    tries = []

    def attempt(config: TrainConfig) -> None:
        tries.append(config)
        raise ValueError("the driver is too old")

    with pytest.raises(ValueError, match="too old"):
        fit_memory(CONFIG, attempt, is_out_of_memory, pytest.fail)
    assert len(tries) == 1


def test_an_error_is_raised_if_nothing_fits() -> None:
    def attempt(config: TrainConfig) -> None:
        raise MemoryError

    without = replace(CONFIG, replay=ReplayOptions())
    with pytest.raises(RunError, match="even with the smallest rollout"):
        fit_memory(without, attempt, is_out_of_memory, lambda _: None)


def test_a_session_starts_smaller_and_saves_the_reduced_configuration(
    tmp_path: Path,
    rom_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    real = Trainer.update

    def update(self: Trainer) -> object:
        if self.storage.steps * self.storage.num_envs > 256:
            raise torch.cuda.OutOfMemoryError("CUDA out of memory")
        return real(self)

    monkeypatch.setattr(Trainer, "update", update)
    config = tiny(tmp_path, auto_mem=True)
    config = replace(
        config,
        env=replace(config.env, num_envs=16),
        learn=replace(config.learn, rollout_steps=32),
    )
    run, _ = session.start(config, "quiet")
    assert "memory ran out; retrying with --rollout-steps 16" in capsys.readouterr().out
    assert session.saved_config(run.path).learn.rollout_steps == 16
