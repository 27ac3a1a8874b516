"""The formula of the scaling model agrees with the simulation of the protocol."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

_SCRIPT = Path(__file__).parent.parent.parent / "benchmarks" / "cluster_model.py"
_spec = importlib.util.spec_from_file_location("cluster_model", _SCRIPT)
assert _spec is not None
assert _spec.loader is not None
model = importlib.util.module_from_spec(_spec)
sys.modules["cluster_model"] = model
_spec.loader.exec_module(model)


@pytest.mark.parametrize("nodes", [1, 2, 8, 64])
@pytest.mark.parametrize("learner", [5e3, 1e5, 1e9])
def test_formula_and_simulation_agree(nodes: int, learner: float) -> None:
    costs = model.Costs(learner=learner, actors_per_node=4)
    updates = max(2_000, 20 * nodes * costs.actors_per_node)
    simulated = model.simulate(costs, nodes, updates).steps_per_second
    assert simulated == pytest.approx(model.predict(costs, nodes).steps_per_second, rel=0.05)


def test_the_bottleneck_moves_from_actors_to_the_learner_to_the_network() -> None:
    costs = model.Costs(actor=1e4, learner=3e5)
    assert model.predict(costs, 1).bottleneck == "actors"
    assert model.predict(costs, 8).bottleneck == "learner"
    fast = model.Costs(learner=1e9, network=1e8, store=1e12)
    assert model.predict(fast, 1000).bottleneck.startswith("network")


def test_a_saturated_learner_makes_rollouts_as_old_as_the_number_in_flight() -> None:
    costs = model.Costs(learner=5e3, actors_per_node=4)
    assert model.simulate(costs, 2).lag == pytest.approx(2 * 8 - 1, abs=1)


def test_with_slow_actors_a_rollout_is_as_old_as_their_number() -> None:
    costs = model.Costs(learner=1e9, actors_per_node=4)
    assert model.simulate(costs, 2).lag == pytest.approx(8, abs=1)
    assert model.predict(costs, 2).lag == 8


def test_local_nodes_share_the_cores_of_their_machine() -> None:
    costs = model.Costs(actor=1e4, learner=1e4, store=1e15, actors_per_node=1, cores=2)
    assert model.predict(costs, 1).steps_per_second == pytest.approx(1e4)
    assert model.predict(costs, 2).bottleneck in ("cores", "learner")
    fast = model.Costs(actor=1e4, learner=1e9, store=1e15, actors_per_node=1, cores=2)
    assert model.predict(fast, 4).steps_per_second == pytest.approx(2e4, rel=0.01)
