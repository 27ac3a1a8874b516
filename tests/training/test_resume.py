"""A resumed run ends bit-identically to an uninterrupted one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from warpzone.config import (
    EnvOptions,
    LearnOptions,
    ModelOptions,
    ReplayOptions,
    RunOptions,
    StartOptions,
    TrainConfig,
)
from warpzone.errors import CheckpointError, ResumeError
from warpzone.models.weights import load_weights
from warpzone.runs import checkpoint
from warpzone.runs.checkpoint_store import find_latest
from warpzone.runs.saved_config import saved_config
from warpzone.training import session
from warpzone.training.trainer import Trainer

NUM_ENVS, STEPS = 4, 8
WAYS = Path(__file__).parent.parent.parent / "solutions"


def small(
    memory: str = "none", algo: str = "ppo", obs: str = "tiles", heads: str = "linear"
) -> TrainConfig:
    model = ModelOptions(hidden=16, memory=memory, memory_size=8, heads=heads)  # type: ignore[arg-type]
    return TrainConfig(
        env=EnvOptions(obs=obs, num_envs=NUM_ENVS, num_threads=1),  # type: ignore[arg-type]
        starts=StartOptions(share=0.5),
        model=model,
        learn=LearnOptions(algo=algo, rollout_steps=STEPS, minibatch_size=16),  # type: ignore[arg-type]
        run=RunOptions(steps=6 * NUM_ENVS * STEPS, torch_threads=1, device="cpu", log_every=1),
    )


def parameters(trainer: Trainer) -> dict[str, torch.Tensor]:
    return {name: value.clone() for name, value in trainer.model.state_dict().items()}


def assert_same(first: dict[str, torch.Tensor], second: dict[str, torch.Tensor]) -> None:
    assert first.keys() == second.keys()
    for name, value in first.items():
        assert torch.equal(value, second[name]), name


def along_ways(order: str) -> TrainConfig:
    config = small()
    env = replace(config.env, level="1-1..1-4", level_order=order, max_steps=7)
    return replace(
        config,
        env=env,
        starts=replace(config.starts, solutions=str(WAYS), share=0.8),
        replay=ReplayOptions(capacity=3 * NUM_ENVS * STEPS, batch_size=16, learning_starts=8),
    )


@pytest.mark.parametrize(
    "config",
    [
        small("none", "ppo", "tiles"),
        along_ways("curriculum"),
        along_ways("random"),
        small("none", "ppo", "tiles", heads="noisy"),
        small("lstm", "vtrace", "tiles", heads="noisy"),
        small("transformer", "ppo", "tiles"),
        small("gru", "ppo", "pixels"),
    ],
    ids=[
        "plain",
        "ways-curriculum",
        "ways-random",
        "noisy",
        "lstm-vtrace-noisy",
        "transformer",
        "gru-pixels",
    ],
)
def test_a_resumed_trainer_equals_an_uninterrupted_one(
    tmp_path: Path, rom_path: Path, config: TrainConfig
) -> None:
    unbroken = Trainer(config)
    unbroken.begin()
    for _ in range(3):
        unbroken.update()
    path = checkpoint.save(
        tmp_path, "middle", unbroken.state_dict(), checkpoint.CheckpointMeta(0, 3)
    )
    for _ in range(3):
        unbroken.update()

    resumed = Trainer(replace(config, run=replace(config.run, seed=99)))
    resumed.load_state_dict(dict(checkpoint.load(path).state))
    for _ in range(3):
        resumed.update()

    assert_same(parameters(unbroken), parameters(resumed))
    assert_same(unbroken.average.model.state_dict(), resumed.average.model.state_dict())
    assert unbroken.steps == resumed.steps == 6 * NUM_ENVS * STEPS
    assert (unbroken.env.ram() == resumed.env.ram()).all()
    unbroken.close()
    resumed.close()


def test_the_same_seed_gives_the_same_weights_and_another_does_not(rom_path: Path) -> None:
    results = []
    for seed in (1, 1, 2):
        config = small()
        trainer = Trainer(replace(config, run=replace(config.run, seed=seed)))
        trainer.begin()
        trainer.update()
        results.append(parameters(trainer))
        trainer.close()
    assert_same(results[0], results[1])
    assert any(not torch.equal(results[0][name], results[2][name]) for name in results[0])


def test_a_session_writes_a_complete_run_and_resumes_it(tmp_path: Path, rom_path: Path) -> None:
    config = small()
    config = replace(
        config, run=replace(config.run, runs=str(tmp_path), steps=2 * NUM_ENVS * STEPS)
    )
    run, stop = session.start(config, "quiet")
    assert not stop
    for path in (run.config, run.metrics, run.heartbeat, run.log, run.parquet):
        assert path.exists(), path
    assert saved_config(run.path) == config

    longer = replace(config, run=replace(config.run, steps=4 * NUM_ENVS * STEPS))
    again, _ = session.resume(run.path, longer, display="quiet")
    latest = find_latest(again.path)
    assert latest is not None
    assert checkpoint.read_meta(latest).steps == 4 * NUM_ENVS * STEPS


def test_resuming_with_another_configuration_says_what_differs(
    tmp_path: Path, rom_path: Path
) -> None:
    config = small()
    config = replace(config, run=replace(config.run, runs=str(tmp_path), steps=NUM_ENVS * STEPS))
    run, _ = session.start(config, "quiet")
    other = replace(config, learn=replace(config.learn, gamma=0.5))
    with pytest.raises(ResumeError, match=r"learn\.gamma: was 0\.97, now 0\.5"):
        session.resume(run.path, other, display="quiet")
    longer = replace(other, run=replace(other.run, steps=2 * NUM_ENVS * STEPS))
    session.resume(run.path, longer, allow_changes=True, display="quiet")
    assert saved_config(run.path).learn.gamma == 0.5


def test_a_network_of_another_shape_is_rejected_with_a_list(rom_path: Path) -> None:
    trainer = Trainer(small("gru"))
    with pytest.raises(CheckpointError, match=r"memory\.cell"):
        load_weights(trainer.model, {"policy.weight": torch.zeros(1)})
    trainer.close()
