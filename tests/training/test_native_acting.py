"""Native acting in training equals acting with PyTorch step by step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
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
from warpzone.errors import ConfigError, EnvError
from warpzone.rollout import collector as stepped
from warpzone.telemetry.episodes import Episode
from warpzone.training.trainer import Trainer

ENVS, STEPS = 6, 80
#: Between float32 sums of the same terms in another order.
TOLERANCE = 1e-5


@pytest.fixture(autouse=True)
def _game(rom_path: Path) -> None:
    """All of these play the real game."""


def small(acting: str = "auto", **tables: Any) -> TrainConfig:
    config = TrainConfig(
        env=EnvOptions(obs="tiles", num_envs=ENVS, num_threads=1, stagnation_limit=4, max_steps=8),
        model=ModelOptions(hidden=32),
        learn=LearnOptions(rollout_steps=STEPS, minibatch_size=160, epochs=2, progress_gamma=0.95),
        run=RunOptions(
            steps=10**6,
            torch_threads=1,
            device="cpu",
            acting=acting,  # type: ignore[arg-type]
            # Where the processor computes in bfloat16, 'auto' would choose it without native code.
            precision="float32" if acting == "torch" else "auto",
        ),
    )
    return replace(config, **tables)


def begun(config: TrainConfig, **options: Any) -> Trainer:
    trainer = Trainer(config, **options)
    trainer.begin()
    return trainer


def replaying(actions: torch.Tensor) -> Callable[..., torch.Tensor]:
    """Replaces the sampling of actions."""
    rows = iter(actions.clone())
    return lambda *_: next(rows)


def comparable(episode: Episode) -> dict[str, Any]:
    row = dict(episode.as_row())
    del row["time"]
    return row


def test_a_native_rollout_equals_step_by_step_collection_of_the_same_actions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    native, torch_ = begun(small("native")), begun(small("torch"))
    rollout = native.source.take().storage
    monkeypatch.setattr(stepped, "sample", replaying(rollout.actions))
    reference = torch_.source.take().storage
    for name in ("actions", "rewards", "terminated", "truncated", "first", "overridden"):
        assert torch.equal(getattr(rollout, name), getattr(reference, name)), name
    assert torch.equal(rollout.discount_exponents, reference.discount_exponents)
    assert rollout.discount_exponents.any()
    for name in ("log_probs", "values", "next_values"):
        torch.testing.assert_close(
            getattr(rollout, name), getattr(reference, name), rtol=0, atol=TOLERANCE
        )
    # Truncated without progress: no future, whatever the critic says.
    assert (rollout.next_values == 0.0).sum() == (reference.next_values == 0.0).sum() > 3
    ended = [comparable(episode) for episode in native.episodes.flush()]
    assert ended == [comparable(episode) for episode in torch_.episodes.flush()]
    assert {row["end"] for row in ended} >= {"stagnation", "step_limit"}
    assert native.guidance.meter.take() == torch_.guidance.meter.take()
    assert native.player.parts.returns.state_dict() == torch_.player.parts.returns.state_dict()
    native.close()
    torch_.close()


def test_the_learner_computes_the_same_from_lists_and_dense_observations(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trainers = [begun(small(acting)) for acting in ("native", "torch")]
    rollout = trainers[0].source.take().storage
    monkeypatch.setattr(stepped, "sample", replaying(rollout.actions))
    reference = trainers[1].source.take().storage
    rows = [
        trainer.learner.learn(storage, 0.01)
        for trainer, storage in zip(trainers, (rollout, reference), strict=True)
    ]
    for name in ("loss/policy", "loss/value", "learn/entropy", "learn/grad_norm"):
        assert rows[0][name] == pytest.approx(rows[1][name], abs=1e-3), name
    for first, second in zip(*(t.model.parameters() for t in trainers), strict=True):
        torch.testing.assert_close(first, second, rtol=0, atol=2e-3)
    for trainer in trainers:
        trainer.close()


def test_weights_do_not_depend_on_the_number_of_threads() -> None:
    results = []
    for threads in (1, 2):
        config = small("native", starts=StartOptions(share=0.5))
        trainer = begun(replace(config, env=replace(config.env, num_threads=threads)))
        for _ in range(3):
            trainer.update()
        results.append(trainer.model.state_dict())
        trainer.close()
    for name, value in results[0].items():
        assert torch.equal(value, results[1][name]), name


def with_env(**options: Any) -> dict[str, Any]:
    return {"env": replace(small().env, **options)}


def with_run(**options: Any) -> dict[str, Any]:
    return {"run": replace(small().run, **options)}


@pytest.mark.parametrize(
    ("tables", "reason"),
    [
        (with_env(obs="pixels"), "env.obs is 'pixels'"),
        (with_env(vector="sync", num_envs=2), "env.vector is 'sync'"),
        ({"model": ModelOptions(hidden=32, memory="gru")}, "model.memory is 'gru'"),
        (with_run(precision="bfloat16"), "run.precision is 'bfloat16'"),
        (with_run(acting="torch"), "run.acting is 'torch'"),
    ],
    ids=["pixels", "sync", "memory", "bfloat16", "torch"],
)
def test_pytorch_acts_where_native_code_does_not_apply_and_the_log_says_why(
    tables: dict[str, Any], reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("INFO"):
        trainer = begun(small(**tables))
    assert not trainer.acting.native
    assert f"actions are chosen by PyTorch: {reason}" in caplog.text
    trainer.close()


def test_tiles_are_played_by_native_code_by_default(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO"):
        trainer = begun(small())
    assert trainer.acting.native
    assert "actions are chosen by native code" in caplog.text
    assert trainer.precision == "float32"
    trainer.close()


def test_wrappers_and_observers_of_steps_are_left_to_pytorch() -> None:
    wrapped = Trainer(small(), wrap=gym.wrappers.vector.RecordEpisodeStatistics)
    assert wrapped.acting.reason == "the environments are wrapped"
    wrapped.close()
    observed = Trainer(small(), observers=[lambda *_: None])
    assert observed.acting.reason == "steps are observed one by one"
    observed.close()


def test_requested_native_acting_that_does_not_apply_is_rejected() -> None:
    config = small("native", model=ModelOptions(hidden=32, memory="gru"))
    with pytest.raises(ConfigError, match=r"run\.acting is 'native'.*model\.memory is 'gru'"):
        Trainer(config)


def test_queued_starts_are_followed_even_where_they_run_out() -> None:
    # Episodes of five steps: the queue runs dry in every rollout.
    config = small("native", starts=StartOptions(share=1.0))
    config = replace(
        config,
        env=replace(config.env, level="1-1..1-4", level_order="curriculum", max_steps=5),
    )
    trainer = begun(config)
    assert trainer.policy is not None
    player, begun_at_places = trainer.policy.player, 0
    for _ in range(4):
        trainer.update()
        for env_id in range(ENVS):
            start = trainer.starts.begun(env_id)
            number, level = player.present_start(env_id)
            assert start.level == level
            assert len(player.waiting_starts(env_id)) == 1 + STEPS // 32
            assert start.place is None or number >= 0
        ends = [episode.start for episode in trainer.take_episodes()]
        begun_at_places += ends.count("snapshot")
        assert len(ends) >= ENVS * STEPS // 5
    assert begun_at_places > 2 * ENVS
    trainer.close()


def test_a_run_that_acted_with_pytorch_resumes_with_native_code_and_back() -> None:
    config = small("torch", starts=StartOptions(share=0.5))
    before = begun(config)
    before.update()
    for acting in ("native", "torch"):
        after = Trainer(replace(config, run=replace(config.run, acting=acting)))  # type: ignore[arg-type]
        after.load_state_dict(before.state_dict())
        assert np.array_equal(after.env.ram(), before.env.ram())
        for name, value in before.model.state_dict().items():
            assert torch.equal(value, after.model.state_dict()[name]), name
        for weight, state in after.optimizer.state.items():
            assert state["exp_avg"].stride() == weight.stride()
        after.update()
        before.close()
        before = after
    before.close()


def test_replay_keeps_dense_observations_beside_the_lists() -> None:
    replay = ReplayOptions(capacity=2 * ENVS * STEPS, batch_size=16, learning_starts=8)
    trainer = begun(small("native", replay=replay))
    for _ in range(2):
        row = trainer.update()
    assert row["replay/pushed"] == 2 * ENVS * STEPS
    assert "loss/imitation_policy" in row
    obs, _ = trainer.env.observe()
    for name, part in obs.items():
        assert np.array_equal(trainer.storage.obs(0)[name], part)
    trainer.close()


def test_non_finite_weights_abort_the_update_and_keep_a_state() -> None:
    trainer = begun(small("native", starts=StartOptions(share=0.5)))
    trainer.update()
    with torch.no_grad():
        bias = trainer.model.policy.bias.clone()
        trainer.model.policy.bias[0] = torch.nan
    with pytest.raises(EnvError, match="logits are NaN or infinite"):
        trainer.update()
    trainer.abandon_update()
    with torch.no_grad():
        trainer.model.policy.bias.copy_(bias)
    trainer.state_dict()
    trainer.update()
    trainer.close()


def test_time_is_split_into_stepping_and_choosing() -> None:
    trainer = begun(small("native"))
    row = trainer.update()
    stepping, choosing = row["speed/emulation_seconds"], row["speed/inference_seconds"]
    assert stepping > 0
    assert choosing > 0
    assert stepping + choosing <= row["speed/rollout_seconds"]
    trainer.close()
