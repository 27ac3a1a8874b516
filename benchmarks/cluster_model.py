"""Where the bottleneck of a cluster is, for 1 to 1,000 nodes, from measured costs.

    python benchmarks/cluster_model.py                    # table for the costs below
    python benchmarks/cluster_model.py --actor 5000 --learner 40000

A closed formula gives the throughput as the smallest of four limits: actors, learner, network and
object store. A discrete-event simulation of the protocol (two rollouts in flight per actor, weights
fetched once per version and node, one learner) checks the formula and gives the lag.
"""

from __future__ import annotations

import argparse
import heapq
import random
from bisect import bisect_right
from dataclasses import dataclass, replace

NODES = (1, 2, 4, 8, 16, 32, 64, 125, 250, 500, 1000)
IN_FLIGHT = 2


@dataclass(frozen=True)
class Costs:
    """Costs of one kind of run.

    The defaults of actors, learner and bytes were measured for tiles with the preset cpu-quick and
    APPO, per second of CPU time of one core (benchmarks/cluster_efficiency.py). Network and object
    store are assumptions.

    Attributes:
        actor: Environment steps per second and actor.
        learner: Environment steps per second that one learner learns from.
        rollout_steps: Environment steps per rollout.
        rollout_bytes: Bytes of a rollout.
        weight_bytes: Bytes of the weights.
        network: Bytes per second of the learner's network interface, each way.
        store: Bytes per second that the learner copies out of the object store.
        actors_per_node: Actors on each node.
        jitter: Standard deviation of an actor's time per rollout, as a fraction.
        cores: Cores that all actors and the learner share, for local nodes on one machine; 0 means
            that each has a core of its own. Only the formula knows it.
    """

    actor: float = 23_100.0
    learner: float = 14_300.0
    rollout_steps: int = 4_096
    rollout_bytes: float = 14.1e6
    weight_bytes: float = 3.47e6
    network: float = 1.25e9
    store: float = 2.0e9
    actors_per_node: int = 16
    jitter: float = 0.1
    cores: float = 0.0


@dataclass(frozen=True)
class Prediction:
    """Throughput of a cluster.

    Attributes:
        steps_per_second: Environment steps per second.
        bottleneck: What limits it.
        lag: Mean age of a rollout's policy, in updates.
        learners: Ranks with which learning would no longer be the bottleneck.
    """

    steps_per_second: float
    bottleneck: str
    lag: float
    learners: int


def predict(costs: Costs, nodes: int) -> Prediction:
    """Returns the throughput of a cluster from the smallest of its limits."""
    actors = nodes * costs.actors_per_node
    # The learner receives every rollout, and sends weights to each actor that begins one.
    rollouts_in = costs.network / costs.rollout_bytes
    versions_out = costs.network / costs.weight_bytes
    limits = {
        "actors": actors * costs.actor,
        "learner": 1.0
        / (1.0 / costs.learner + costs.rollout_bytes / costs.rollout_steps / costs.store),
        "network (rollouts)": rollouts_in * costs.rollout_steps,
        "network (weights)": versions_out * costs.rollout_steps,
    }
    if costs.cores:
        limits["cores"] = costs.cores / (1.0 / costs.actor + 1.0 / limits["learner"])
    bottleneck = min(limits, key=lambda name: limits[name])
    others = min(value for name, value in limits.items() if name != "learner")
    lag = _lag(actors, saturated=bottleneck not in ("actors", "cores"))
    learners = max(1, -(-int(others) // int(limits["learner"])))
    return Prediction(limits[bottleneck], bottleneck, lag, learners)


def _lag(actors: int, *, saturated: bool) -> float:
    """Returns the mean lag: updates between the start of a rollout and learning from it.

    While an actor plays, every other actor finishes one rollout, and its own last one is learned
    from. If the learner is the bottleneck, all rollouts in flight but one wait for it instead.
    """
    return float(IN_FLIGHT * actors - 1 if saturated else actors)


def simulate(costs: Costs, nodes: int, updates: int = 2_000, seed: int = 0) -> Prediction:
    """Plays the protocol event by event."""
    chance = random.Random(seed)
    actors = nodes * costs.actors_per_node
    learn = costs.rollout_steps / costs.learner + costs.rollout_bytes / costs.store
    receive = costs.rollout_bytes / costs.network
    send = costs.weight_bytes / costs.network
    finished: list[tuple[float, int, float]] = []  # End, actor, begin.
    free = [0.0] * actors

    def submit(actor: int, now: float) -> None:
        begun = max(now, free[actor])
        play = costs.rollout_steps / costs.actor * max(0.1, chance.gauss(1.0, costs.jitter))
        free[actor] = begun + play
        heapq.heappush(finished, (free[actor], actor, begun))

    for actor in range(actors):
        for _ in range(IN_FLIGHT):
            submit(actor, 0.0)
    published = [0.0]  # When each version became available.
    now = link_in = link_out = 0.0
    lags, middle = 0, 0.0
    holders: dict[int, int] = {}  # Version that each node has.
    for version in range(updates):
        ended, actor, begun = heapq.heappop(finished)
        link_in = max(link_in, ended) + receive
        now = max(now, link_in) + learn
        if version >= updates // 2:
            lags += version - (bisect_right(published, begun) - 1)
        else:
            middle = now
        node = actor // costs.actors_per_node
        if holders.get(node) != version + 1:
            holders[node] = version + 1
            link_out = max(link_out, now) + send
        published.append(now)
        submit(actor, max(now, link_out))
    measured = updates - updates // 2
    speed = measured * costs.rollout_steps / (now - middle)
    guess = predict(costs, nodes)
    return replace(guess, steps_per_second=speed, lag=lags / measured)


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    defaults = Costs()
    for name, value in vars(defaults).items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(value), default=value)
    costs = Costs(**vars(parser.parse_args()))
    print(
        "| nodes | actors | steps/s (formula) | steps/s (simulation) | bottleneck | lag | "
        "ranks needed |"
    )
    print("|---|---|---|---|---|---|---|")
    for nodes in NODES:
        updates = max(2_000, 20 * nodes * costs.actors_per_node)
        guess, played = predict(costs, nodes), simulate(costs, nodes, updates)
        print(
            f"| {nodes:,} | {nodes * costs.actors_per_node:,} | {guess.steps_per_second:,.0f} | "
            f"{played.steps_per_second:,.0f} | {guess.bottleneck} | {played.lag:,.0f} | "
            f"{guess.learners:,} |"
        )


if __name__ == "__main__":
    main()
