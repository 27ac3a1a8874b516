"""Trains 1-1 on two local Ray nodes; one is killed in mid-run, and another one joins later.

Every process of the first node is killed with SIGKILL after 20 updates; a new node joins after 40.
Training must continue through both, the counts of steps must be exact, and 90 % of 400 fresh
episodes (sticky actions 0.25 per frame, up to 30 no-op frames) must clear the level at the end.

    python benchmarks/cluster_nodes.py
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from warpzone.campaign.measure import measure
from warpzone.cluster.options import ClusterOptions
from warpzone.cluster.ray_session import connected_ray, set_local_variables
from warpzone.config import make_config
from warpzone.evaluation.trained import load_policy
from warpzone.runs.checkpoint_store import find_latest
from warpzone.training import session
from warpzone.training.trainer import Trainer

if TYPE_CHECKING:
    from ray.cluster_utils import Cluster

KILL_AT, JOIN_AT = 20, 40
GOAL, EPISODES, SEED = 0.9, 400, 2_000_000


class Disturbance:
    """Kills a node and adds another one; keeps what was seen."""

    def __init__(self, cluster: Cluster) -> None:
        """Adds the two nodes that the run begins with.

        Args:
            cluster: A cluster whose head has no CPUs.
        """
        self._cluster = cluster
        self._doomed = cluster.add_node(num_cpus=1)
        cluster.add_node(num_cpus=1)
        self.actors: dict[str, set[int]] = {"before": set(), "without": set(), "after": set()}

    def __call__(self, row: Mapping[str, Any]) -> None:
        """Sees the metrics of each update."""
        updates = row["run/updates"]
        phase = "before" if updates < KILL_AT else "without" if updates < JOIN_AT else "after"
        self.actors[phase].add(int(row["cluster/actors"]))
        if updates == KILL_AT:
            self._cluster.remove_node(self._doomed, allow_graceful=False)
            print(f"a node was killed after {row['run/steps']:,} steps", flush=True)
        if updates == JOIN_AT:
            self._cluster.add_node(num_cpus=1)
            print(f"a node joined after {row['run/steps']:,} steps", flush=True)
        if updates % 20 == 0:
            print(
                f"{row['run/steps']:,} steps, {row['cluster/actors']} actors, lag "
                f"{row['learn/policy_lag']}, clear rate {row.get('rollout/clear_rate', 0):.0%}",
                flush=True,
            )


def main() -> int:
    """Trains, and returns 1 if something is not as it should be."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=1_000_000)
    given = parser.parse_args()
    set_local_variables()  # Before Ray is imported.
    from ray.cluster_utils import Cluster

    from warpzone.cluster.remote_player import RemotePlayer

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    disturbance = Disturbance(cluster)
    make_player = partial(RemotePlayer, options=ClusterOptions(actors=2))
    with tempfile.TemporaryDirectory() as folder:
        config = make_config(
            "cpu-quick",
            algo="appo",
            runs=folder,
            seed=given.seed,
            steps=given.steps,
            log_every=1,
            torch_threads=1,
        )
        try:
            with connected_ray(cluster.address):
                run, _ = session.start(
                    config,
                    "quiet",
                    on_update=disturbance,
                    make_trainer=partial(Trainer, make_player=make_player),
                )
        finally:
            cluster.shutdown()
        rows = [json.loads(line) for line in run.metrics.read_text().splitlines()]
        latest = find_latest(run.path)
        assert latest is not None
        result = measure(load_policy(latest), config.env.level, EPISODES, SEED)
    size = config.env.num_envs * config.learn.rollout_steps
    problems = {
        "steps are not exact": any(row["run/steps"] != row["run/updates"] * size for row in rows),
        "updates are missing": [row["run/updates"] for row in rows]
        != list(range(1, len(rows) + 1)),
        "no actor was lost": rows[-1]["cluster/losses"] < 1,
        "training did not continue with one actor": 1 not in disturbance.actors["without"],
        "the new node was not used": 2 not in disturbance.actors["after"],
        f"the clear rate is {result.clear_rate:.1%}": result.clear_rate < GOAL,
    }
    failed = [problem for problem, holds in problems.items() if holds]
    last = rows[-1]
    print(
        f"seed {given.seed}: {last['run/steps']:,} steps in {len(rows):,} updates, "
        f"{last['run/elapsed'] / 60:.1f} min, {last['cluster/losses']} actors and "
        f"{last['cluster/lost_rollouts']} rollouts lost, {last['cluster/dropped_rollouts']} "
        f"dropped, {result.clear_rate:.1%} of {EPISODES} fresh episodes clear"
    )
    print("; ".join(failed) or "training continued, counts are exact, the goal is reached")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
