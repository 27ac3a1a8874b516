"""The interface of learning algorithms: targets once per rollout, a loss for each minibatch.

The learner does everything else: minibatches, epochs, autocast, gradient scaling and clipping. PPO
(`ppo.py`), APPO (`appo.py`) and V-trace (`vtrace.py`) implement this interface, and so does any
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
from warpzone.algorithms.ranks import Moments
from warpzone.algorithms.returns import Steps
from warpzone.config import LearnOptions
from warpzone.models.actor_critic import Decision, entropy
from warpzone.models.tree import Tree


@dataclass(frozen=True)
class CollectedRollout:
    """Rollout as passed to `Algorithm.targets`; tensors are [T, N], in host memory.

    Attributes:
        steps: Rewards, values, and where episodes ended.
        gamma: Discount factor of each step.
        actions: Actions taken.
        log_probs: Log-probabilities of the actions under the policy that collected the rollout.
        evaluate: Runs the current network on the whole rollout and returns its output.
    """

    steps: Steps
    gamma: Tensor
    actions: Tensor
    log_probs: Tensor
    evaluate: Callable[[], Decision]


@dataclass(frozen=True)
class Targets:
    """Learning targets of a rollout; tensors are [T, N].

    Attributes:
        advantages: Advantages for the policy.
        returns: Returns for the critic.
        extra: Additional values per step that the loss needs, available as `Batch.extra`.
        metrics: Metrics reported once per update, such as `{"learn/rho_mean": 1.0}`.
    """

    advantages: Tensor
    returns: Tensor
    extra: Tree = field(default_factory=dict)
    metrics: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Batch:
    """Steps to learn from, [T, B, ...], on the network's device.

    Without a recurrent core, a minibatch is one row of independent steps (T is 1); with one, it is
    the whole rollout of some environments.

    Attributes:
        obs: Observations by name.
        state: Recurrent state before the first step.
        first: Where episodes begin.
        actions: Actions taken.
        log_probs: Log-probabilities of the actions under the policy that collected the rollout.
        advantages: Advantages, from `Targets`.
        returns: Returns, from `Targets`.
        mask: False where the policy did not choose the action; None if it chose all actions.
        ent_coef: Current coefficient of the entropy bonus.
        extra: Additional values, from `Targets`.
        moments: Moments of the advantages over several ranks; None if there is one.
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
    moments: Moments | None = None


@dataclass(frozen=True)
class Loss:
    """Loss of a minibatch.

    Attributes:
        total: Differentiable loss that the optimizer minimizes.
        metrics: Metrics, reported as means over the update. Names of your own begin with `custom/`.
            `--target-kl` compares `learn/approx_kl`.
    """

    total: Tensor
    metrics: Mapping[str, Tensor | float] = field(default_factory=dict)


class Algorithm(ABC):
    """Base class of learning algorithms; the module docstring has an example."""

    def __init__(self, options: LearnOptions):
        """Stores the `learn` options of the run."""
        self.options = options

    @abstractmethod
    def targets(self, rollout: CollectedRollout) -> Targets:
        """Computes advantages and returns, once per rollout and without gradients."""

    @abstractmethod
    def loss(self, batch: Batch, output: Decision) -> Loss:
        """Computes the loss of a minibatch.

        Args:
            batch: Steps to learn from.
            output: Logits and values of the network for these steps.
        """


def actor_critic_loss(
    policy: PolicyLoss, batch: Batch, output: Decision, options: LearnOptions
) -> Loss:
    """Adds the value loss and the entropy bonus to a policy loss."""
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
