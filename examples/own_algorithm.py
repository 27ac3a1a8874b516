"""An algorithm of your own: advantage actor-critic (A2C) in two methods.

python examples/own_algorithm.py --steps 300000
warpzone train --plugin examples/own_algorithm.py --algo a2c --epochs 1 --obs tiles --level 1-1
"""

from __future__ import annotations

import argparse

import warpzone
from warpzone.algorithms import losses, returns
from warpzone.models.actor_critic import Decision, entropy, log_prob


@warpzone.register_algorithm("a2c")
class A2C(warpzone.Algorithm):
    """Learns from each rollout once; the learner does batches, epochs and gradient steps."""

    def targets(self, rollout: warpzone.CollectedRollout) -> warpzone.Targets:
        """What a rollout teaches, computed once and without gradients."""
        advantages, values = returns.gae(rollout.steps, rollout.gamma, self.options.gae_lambda)
        return warpzone.Targets(advantages, values)

    def loss(self, batch: warpzone.Batch, output: Decision) -> warpzone.Loss:
        """The loss of one minibatch."""
        log_probs = log_prob(output.logits, batch.actions)
        advantages = losses.normalized(batch.advantages, batch.mask)
        policy = -losses.masked_mean(log_probs * advantages, batch.mask)
        value = losses.value_loss(output.values, batch.returns, batch.mask)
        spread = losses.masked_mean(entropy(output.logits), batch.mask)
        total = policy + self.options.vf_coef * value - batch.ent_coef * spread
        metrics = {
            "loss/policy": policy,
            "loss/value": value,
            "learn/entropy": spread,
            "custom/advantage_max": batch.advantages.max(),  # Names of your own begin with custom/.
        }
        return warpzone.Loss(total, metrics)


def main() -> None:
    """Trains and evaluates."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=300_000)
    parser.add_argument("--runs", default="runs", help="folder of the run")
    arguments = parser.parse_args()
    run = warpzone.train(
        level="1-1",
        obs="tiles",
        steps=arguments.steps,
        algo="a2c",
        epochs=1,
        rollout_steps=32,
        minibatch_size=512,
        runs=arguments.runs,
        name="own-algorithm",
    )
    print(run)
    print(warpzone.evaluate(run.path, episodes=20))


if __name__ == "__main__":
    main()
