"""The policy board: where actors find the latest weights when they begin a rollout."""

from __future__ import annotations

from typing import Any

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from warpzone.cluster.played_rollout import PlayedRollout, Policy
from warpzone.cluster.rollout_actor import RolloutActor


class PolicyBoard:
    """Names the latest policy; Ray runs it in a small process of its own.

    Rollouts wait in an actor's queue. If each came with a policy, that policy would be outdated by
    the time the actor begins to play. Weights travel only to the actors that ask for them, and only
    once to each machine.
    """

    def __init__(self, policy: list[Any]):
        """Stores the first policy.

        Args:
            policy: A list with its reference; in a list, Ray does not fetch what it refers to.
        """
        self._policy = policy

    def put(self, policy: list[Any]) -> None:
        """Replaces the policy."""
        self._policy = policy

    def latest(self) -> list[Any]:
        """Returns the policy, in a list."""
        return self._policy


class RemoteActor(RolloutActor):
    """Plays with the latest policy of a board."""

    def play(self, board: Any, steps: int, asks_knowledge: bool) -> PlayedRollout:
        """Plays a rollout; see `collect`.

        Args:
            board: Handle of the policy board.
            steps: Environment steps of the run so far.
            asks_knowledge: Whether to return what the curriculum has learned.
        """
        [reference] = ray.get(board.latest.remote())
        policy: Policy = ray.get(reference)
        return self.collect(policy, steps, asks_knowledge)


def start_board(policy: list[Any]) -> Any:
    """Starts a policy board on this machine, with which the run would end anyway.

    Args:
        policy: A list with the reference of the first policy.

    Returns:
        Ray's handle.
    """
    here = ray.get_runtime_context().get_node_id()
    place = NodeAffinitySchedulingStrategy(node_id=here, soft=False)
    board = ray.remote(PolicyBoard).options(num_cpus=0, scheduling_strategy=place)
    return board.remote(policy)
