"""APPO corrects for older policies like V-trace, and limits an update like PPO."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from warpzone.algorithms.base import Batch, CollectedRollout, Targets
from warpzone.algorithms.build import make_algorithm
from warpzone.algorithms.returns import Steps
from warpzone.algorithms.vtrace import BEFORE, RHO
from warpzone.config import LearnOptions
from warpzone.models.actor_critic import Decision, log_prob

STEPS, ENVS, ACTIONS = 6, 3, 4


def make_decision(logits: Tensor) -> Decision:
    return Decision(logits, torch.zeros(logits.shape[:-1]), torch.zeros(0))


def make_rollout(logits: Tensor, older: Tensor) -> CollectedRollout:
    """A rollout that the policy of `older` collected, for the current policy of `logits`."""
    generator = torch.Generator().manual_seed(1)
    shape = (STEPS, ENVS)
    actions = torch.randint(ACTIONS, shape, generator=generator)
    rewards, values, following = (torch.randn(shape, generator=generator) for _ in range(3))
    never = torch.zeros(shape, dtype=torch.bool)
    return CollectedRollout(
        Steps(rewards, values, following, never, never),
        torch.full(shape, 0.9),
        actions,
        log_prob(older, actions),
        lambda: make_decision(logits),
    )


def make_batch(actions: Tensor, log_probs: Tensor, advantages: Tensor) -> Batch:
    """A minibatch of which only the policy learns."""
    return Batch(
        obs={},
        state=torch.zeros(0),
        first=torch.zeros(actions.shape, dtype=torch.bool),
        actions=actions,
        log_probs=log_probs,
        advantages=advantages,
        returns=torch.zeros(actions.shape),
        mask=None,
        ent_coef=0.0,
        extra={},
    )


def gradient(algorithm: str, logits: Tensor, rollout: CollectedRollout, moved: Tensor) -> Tensor:
    """Gradient of the loss with respect to logits that have moved since the update began."""
    made = make_algorithm(LearnOptions(algo=algorithm))
    targets: Targets = made.targets(rollout)
    now = (logits + moved).requires_grad_()
    batch = make_batch(rollout.actions, rollout.log_probs, targets.advantages)
    batch = replace(batch, extra=targets.extra)
    made.loss(batch, make_decision(now)).total.backward()
    assert now.grad is not None
    return now.grad


def test_the_first_step_of_an_update_is_that_of_vtrace_however_old_the_rollout_is() -> None:
    generator = torch.Generator().manual_seed(0)
    logits, older = (torch.randn(STEPS, ENVS, ACTIONS, generator=generator) for _ in range(2))
    rollout, still = make_rollout(logits, older), torch.zeros(())
    expected = gradient("vtrace", logits, rollout, still)
    assert torch.allclose(gradient("appo", logits, rollout, still), expected, atol=1e-6)
    assert not torch.allclose(gradient("ppo", logits, rollout, still), expected, atol=1e-3)


@pytest.mark.parametrize("algorithm", ["appo", "vtrace"])
def test_equal_advantages_do_not_push_the_policy_away_from_the_older_one(algorithm: str) -> None:
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(STEPS, ENVS, ACTIONS, generator=generator, requires_grad=True)
    actions = torch.randint(ACTIONS, (STEPS, ENVS), generator=generator)
    before = log_prob(logits.detach(), actions)
    rho = torch.rand(STEPS, ENVS, generator=generator)
    batch = make_batch(actions, before - rho.log(), torch.ones(STEPS, ENVS))
    batch = replace(batch, extra={BEFORE: before, RHO: rho})
    made = make_algorithm(LearnOptions(algo=algorithm))
    made.loss(batch, make_decision(logits)).total.backward()
    assert logits.grad is not None
    assert torch.all(logits.grad == 0)


def test_steps_end_where_the_policy_has_moved_too_far_since_the_update_began() -> None:
    logits = torch.zeros(STEPS, ENVS, ACTIONS)
    rollout = make_rollout(logits, logits)
    made = make_algorithm(LearnOptions(algo="appo"))
    advantages = made.targets(rollout).advantages
    good = advantages > advantages.mean()
    # Every action of this rollout is now more likely by far than the clipping range allows.
    moved = 3.0 * torch.nn.functional.one_hot(rollout.actions, ACTIONS)
    found = gradient("appo", logits, rollout, moved).abs().sum(dim=-1)
    assert torch.all(found[good] == 0), "better actions are not made more likely still"
    assert torch.all(found[~good] > 0), "worse actions are still made less likely"
