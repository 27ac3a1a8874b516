"""Guards of the learner: unusable gradients and gradient accumulation."""

from __future__ import annotations

import math
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
import torch
from gymnasium import spaces
from torch import nn

from warpzone.algorithms.base import Algorithm, Batch, CollectedRollout, Loss, Targets
from warpzone.algorithms.gradient_step import GradientStep, LearnerError
from warpzone.algorithms.learner import Learner
from warpzone.algorithms.losses import ppo_policy_loss, value_loss
from warpzone.algorithms.returns import gae
from warpzone.config import LearnOptions
from warpzone.errors import ConfigError
from warpzone.models.actor_critic import ActorCritic, Decision, log_prob
from warpzone.models.memory import make_memory
from warpzone.models.tree import IMAGE
from warpzone.rollout.storage import RolloutStorage

STEPS, ENVS, WIDTH = 8, 6, 4


class Bytes(nn.Module):
    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        return obs.float() / 255.0


def filled_storage(state_size: int = 0) -> RolloutStorage:
    draws = torch.Generator().manual_seed(5)
    space = {IMAGE: spaces.Box(0, 255, (WIDTH,), np.uint8)}
    storage = RolloutStorage(STEPS, ENVS, space, state_size)
    for t in range(STEPS + 1):
        storage.obs_target(t)[IMAGE][:] = torch.randint(
            0, 256, (ENVS, WIDTH), generator=draws, dtype=torch.uint8
        ).numpy()
    storage.rewards.copy_(torch.randn(STEPS, ENVS, generator=draws))
    storage.actions.copy_(torch.randint(0, 3, (STEPS, ENVS), generator=draws))
    storage.log_probs.fill_(math.log(1 / 3))
    return storage


class Unnormalized(Algorithm):
    """PPO whose loss does not depend on how a rollout is split into minibatches."""

    def targets(self, rollout: CollectedRollout) -> Targets:
        return Targets(*gae(rollout.steps, rollout.gamma, self.options.gae_lambda))

    def loss(self, batch: Batch, output: Decision) -> Loss:
        log_probs = log_prob(output.logits, batch.actions)
        policy = ppo_policy_loss(log_probs, batch.log_probs, batch.advantages, 0.2)
        return Loss(policy.loss + 0.5 * value_loss(output.values, batch.returns))


def make_learner(
    options: LearnOptions, memory: str = "none", scaler: torch.amp.GradScaler | None = None
) -> Learner:
    torch.manual_seed(0)
    model = ActorCritic(Bytes(), make_memory(memory, WIDTH, 8, 4), 3, obs_name=IMAGE)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    return Learner(
        model,
        Unnormalized(options),
        GradientStep(model, optimizer, options, scaler),
        options,
        generator=torch.Generator().manual_seed(1),
        autocast=nullcontext,
    )


def weights(learner: Learner) -> torch.Tensor:
    return torch.cat([weight.detach().flatten().clone() for weight in learner.model.parameters()])


ONE_PASS = LearnOptions(epochs=1, minibatch_size=20, max_grad_norm=1e9, grad_norm_limit=1e9)


@pytest.mark.parametrize("memory", ["none", "gru"])
@pytest.mark.parametrize("grad_accumulation", [3, 4, 100])
def test_accumulating_all_minibatches_equals_one_large_one(
    memory: str, grad_accumulation: int
) -> None:
    """48 steps in parts of 20, 20 and 8, or 6 envs in parts of 2: one optimizer step."""
    size = filled_storage().steps * ENVS
    whole = make_learner(replace(ONE_PASS, minibatch_size=size), memory)
    parts = make_learner(replace(ONE_PASS, grad_accumulation=grad_accumulation), memory)
    before = weights(whole)
    for learner in (whole, parts):
        learner.learn(filled_storage(learner.model.memory.state_size), 0.01)
    assert not torch.equal(weights(whole), before)
    torch.testing.assert_close(weights(parts), weights(whole))


def test_incomplete_groups_are_applied_in_their_own_epoch() -> None:
    """Groups of two out of three minibatches: two steps per epoch, and no gradient is left."""
    learner = make_learner(replace(ONE_PASS, grad_accumulation=2, epochs=2))
    steps = 0

    def count(*_: object) -> None:
        nonlocal steps
        steps += 1

    learner.gradient.optimizer.register_step_post_hook(count)
    learner.learn(filled_storage(), 0.01)
    assert steps == 4
    assert all(weight.grad is None for weight in learner.model.parameters())


def test_the_reported_norm_is_the_mean_over_optimizer_steps() -> None:
    size = STEPS * ENVS
    whole = make_learner(replace(ONE_PASS, minibatch_size=size)).learn(filled_storage(), 0.01)
    parts = make_learner(replace(ONE_PASS, grad_accumulation=3)).learn(filled_storage(), 0.01)
    assert parts["learn/grad_norm"] == pytest.approx(whole["learn/grad_norm"], rel=1e-4)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_loss_that_is_not_finite_is_skipped_and_counted(bad: float) -> None:
    learner = make_learner(replace(ONE_PASS, minibatch_size=STEPS * ENVS, epochs=3))
    before = weights(learner)
    storage = filled_storage()
    storage.rewards[2, 1] = bad
    row = learner.learn(storage, 0.01)
    assert row["learn/skipped"] == 3
    assert torch.equal(weights(learner), before)
    learner.learn(filled_storage(), 0.01)
    assert learner.gradient.skipped == 3
    assert not torch.equal(weights(learner), before)


def test_a_gradient_above_the_limit_is_skipped() -> None:
    learner = make_learner(replace(ONE_PASS, minibatch_size=STEPS * ENVS, grad_norm_limit=1e-6))
    before = weights(learner)
    row = learner.learn(filled_storage(), 0.01)
    assert row["learn/skipped"] == 1
    assert row["learn/grad_norm"] > 1e-6
    assert torch.equal(weights(learner), before)


def test_too_many_consecutive_skips_stop_and_a_good_step_resets_the_count() -> None:
    settings = replace(ONE_PASS, minibatch_size=STEPS * ENVS, max_skipped_updates=2)
    bad = filled_storage()
    bad.rewards.fill_(math.nan)
    learner = make_learner(settings)
    for _ in range(4):
        learner.learn(bad, 0.01)
        learner.learn(bad, 0.01)
        learner.learn(filled_storage(), 0.01)
    learner.learn(bad, 0.01)
    resumed = make_learner(settings)
    resumed.load_state_dict(learner.state_dict())
    resumed.learn(bad, 0.01)
    with pytest.raises(LearnerError, match="3 consecutive gradients were unusable"):
        resumed.learn(bad, 0.01)
    assert resumed.gradient.skipped == 11


def test_float16_scales_the_loss_and_steps_as_without() -> None:
    plain = make_learner(replace(ONE_PASS, minibatch_size=STEPS * ENVS))
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    scaled = make_learner(replace(ONE_PASS, minibatch_size=STEPS * ENVS), scaler=scaler)
    for learner in (plain, scaled):
        learner.learn(filled_storage(), 0.01)
    torch.testing.assert_close(weights(scaled), weights(plain))
    assert scaled.state_dict()["scaler"]["scale"] == 1024.0
    assert plain.state_dict()["scaler"] == {}


def test_the_number_of_epochs_is_reported() -> None:
    assert (
        make_learner(replace(ONE_PASS, epochs=3)).learn(filled_storage(), 0.01)["learn/epochs"] == 3
    )


def test_a_kl_limit_needs_an_algorithm_that_reports_the_kl() -> None:
    learner = make_learner(replace(ONE_PASS, epochs=2, target_kl=0.1))
    with pytest.raises(ConfigError, match=r"Unnormalized does not report learn/approx_kl"):
        learner.learn(filled_storage(), 0.01)
