"""The interface of learning algorithms: targets once per rollout, a loss for each minibatch.

The learner does everything else: minibatches, epochs, autocast, gradient scaling, clipping and
guards. PPO (`ppo.py`) and V-trace (`vtrace.py`) are written against this interface, and so is any
algorithm of your own. For example, plain advantage actor-critic (A2C):

    import warpzone
    from warpzone.algorithms import losses, returns
    from warpzone.models.actor_critic import log_prob

    @warpzone.register_algorithm("a2c")
    class A2C(warpzone.Algorithm):

        def targets(self, rollout):
            advantages, values = returns.gae(rollout.steps, rollout.gamma, self.options.gae_lambda)
            return warpzone.Targets(advantages, values)

        def loss(self, batch, output):
            log_probs = log_prob(output.logits, batch.actions)
            policy = -losses.masked_mean(log_probs * batch.advantages, batch.mask)
            value = losses.value_loss(output.values, batch.returns, batch.mask)
            return warpzone.Loss(policy + self.options.vf_coef * value, {"loss/policy": policy})

    warpzone.train(level="1-1", obs="tiles", algo="a2c", epochs=1, steps=300_000)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from torch import Tensor

from warpzone.algorithms.losses import PolicyLoss, masked_mean, value_loss
from warpzone.algorithms.returns import Steps
from warpzone.config import LearnOptions
from warpzone.models.actor_critic import Decision, entropy
from warpzone.models.tree import Tree


@dataclass(frozen=True)
class CollectedRollout:
    """A rollout as `Algorithm.targets` sees it; tensors are [T, N], in the host's memory.

    Attributes:
        steps: Rewards, values, and where episodes ended.
        gamma: Discount factor of each step.
        actions: Actions taken.
        log_probs: Their log-probabilities under the policy that collected.
        evaluate: Runs the present network on the whole rollout and returns its output.
    """

    steps: Steps
    gamma: Tensor
    actions: Tensor
    log_probs: Tensor
    evaluate: Callable[[], Decision]


@dataclass(frozen=True)
class Targets:
    """What a rollout teaches; tensors are [T, N].

    Attributes:
        advantages: For the policy.
        returns: For the critic.
        extra: Further values per step that the loss needs; it finds them in `Batch.extra`.
        metrics: Reported once per update, such as `{"learn/rho_mean": 1.0}`.
    """

    advantages: Tensor
    returns: Tensor
    extra: Tree = field(default_factory=dict)
    metrics: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Batch:
    """Steps to learn from, [T, B, ...], on the network's device.

    Without recurrent memory a minibatch is one row of independent steps (T is 1); with memory it is
    whole rollouts of some environments.

    Attributes:
        obs: Observations by name.
        state: Recurrent state before the first step.
        first: Where episodes begin.
        actions: Actions taken.
        log_probs: Their log-probabilities under the policy that collected.
        advantages: From `Targets`.
        returns: From `Targets`.
        mask: False where the policy did not choose the action; None where it chose all.
        ent_coef: Weight of the entropy bonus at this point of the run.
        extra: From `Targets`.
    """

    obs: Tree
    state: Tensor
    first: Tensor
    actions: Tensor
    log_probs: Tensor
    advantages: Tensor
    returns: Tensor
    mask: Tensor | None
    ent_coef: float
    extra: Tree


@dataclass(frozen=True)
class Loss:
    """The loss of a minibatch.

    Attributes:
        total: What the optimizer minimizes, with its graph.
        metrics: Reported as means over the update. Your own names begin with `custom/`.
            `learn/approx_kl` is what `--target-kl` compares.
    """

    total: Tensor
    metrics: Mapping[str, Tensor | float] = field(default_factory=dict)


class Algorithm(ABC):
    """Decides what a rollout teaches; see the module for an example."""

    def __init__(self, options: LearnOptions):
        """Takes the `learn` options of the run."""
        self.options = options

    @abstractmethod
    def targets(self, rollout: CollectedRollout) -> Targets:
        """Computes advantages and returns, once per rollout and without gradients."""

    @abstractmethod
    def loss(self, batch: Batch, output: Decision) -> Loss:
        """Computes the loss of a minibatch.

        Args:
            batch: The steps.
            output: Logits and values of the network for them.
        """


def actor_critic_loss(
    policy: PolicyLoss, batch: Batch, output: Decision, options: LearnOptions
) -> Loss:
    """Adds the critic's loss and the entropy bonus to a policy loss."""
    value = value_loss(output.values, batch.returns, batch.mask)
    spread = masked_mean(entropy(output.logits), batch.mask)
    metrics = {
        "loss/policy": policy.loss,
        "loss/value": value,
        "loss/entropy": -batch.ent_coef * spread,
        "learn/entropy": spread,
        "learn/approx_kl": policy.approx_kl,
    }
    if policy.clip_fraction is not None:
        metrics["learn/clip_fraction"] = policy.clip_fraction
    return Loss(policy.loss + options.vf_coef * value - batch.ent_coef * spread, metrics)
