"""Native code chooses the actions that PyTorch would choose."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from player_support import make_model

from warpzone.envs.vector import MarioVectorEnv
from warpzone.evaluation.choosing import ROUNDING, Chooser
from warpzone.evaluation.native_network import NativeNetwork, has_native_copy
from warpzone.evaluation.trained import TrainedPolicy, load_policy, policy_spaces
from warpzone.models.actor_critic import ActorCritic, Decision
from warpzone.models.memory import GruMemory
from warpzone.models.tree import to_tensors

POLICIES = sorted((Path(__file__).parents[2] / "policies").glob("*.policy"))
LEVELS = ("1-2", "2-2", "4-4", "7-1")
ENVS, STEPS = 12, 120


@pytest.fixture(scope="module", params=[file.name for file in POLICIES])
def policy(request: pytest.FixtureRequest, rom_path: Path) -> TrainedPolicy:
    return load_policy(POLICIES[0].parent / request.param)


def played(policy: TrainedPolicy, chooser: Chooser) -> Iterator[tuple[Any, Any]]:
    """Yields observations of random play, and the actions for them."""
    random = torch.Generator().manual_seed(5)
    moves = np.random.default_rng(3)
    for level in LEVELS:
        with_options = policy.env_options() | {"num_threads": 1}
        env = MarioVectorEnv(level, num_envs=ENVS, **with_options)
        obs, _ = env.reset(seed=1)
        state, first = policy.model.initial_state(ENVS), np.zeros(ENVS, np.bool_)
        for _ in range(STEPS // len(LEVELS)):
            choice = chooser.choose(obs, state, first, temperature=0.35, random=random)
            yield obs, choice.actions
            obs, *_ = env.step(moves.integers(env.single_action_space.n, size=ENVS))
        env.close()


class CountingNetwork:
    """Counts how often PyTorch is asked."""

    def __init__(self, model: ActorCritic) -> None:
        self.model, self.calls = model, 0
        self.policy = model.policy

    def step(self, *arguments: Any) -> Decision:
        self.calls += 1
        return self.model.step(*arguments)


def test_included_policies_act_as_with_pytorch(policy: TrainedPolicy) -> None:
    native = NativeNetwork(policy.model, policy_spaces(policy.config)[0])
    counting: Any = CountingNetwork(policy.model)
    by_native = [actions for _, actions in played(policy, Chooser(counting, native))]
    by_torch = [actions for _, actions in played(policy, Chooser(policy.model))]
    np.testing.assert_array_equal(by_native, by_torch)
    assert len(np.unique(by_torch)) > 2
    assert counting.calls < STEPS / 4, "otherwise it is not faster"


def test_rounding_is_far_below_its_bound(policy: TrainedPolicy) -> None:
    native = NativeNetwork(policy.model, policy_spaces(policy.config)[0])
    for obs, _ in played(policy, Chooser(policy.model)):
        with torch.inference_mode():
            expected = policy.model(to_tensors(obs)).logits
        logits, _ = native.decide(obs["tiles"], obs["features"])
        error = float((logits - expected).abs().max())
        assert error < ROUNDING / 10 * (1.0 + float(expected.abs().max()))


class Rounded:
    """A native copy whose logits are off by a given error, in the direction that hurts most."""

    def __init__(self, logits: torch.Tensor, error: float) -> None:
        self._logits = logits + torch.tensor([-error, error])

    def decide(self, tiles: Any, features: Any) -> tuple[torch.Tensor, Any]:
        return self._logits, np.zeros(len(self._logits), np.float32)


class Constant:
    """A network that always says the same."""

    def __init__(self, logits: torch.Tensor) -> None:
        self._logits, self.policy = logits, torch.nn.Linear(1, logits.shape[1])

    def step(self, obs: Any, state: torch.Tensor, first: torch.Tensor) -> Decision:
        return Decision(self._logits, torch.zeros(len(self._logits)), state)


@pytest.mark.parametrize("gap", [0.0, 1e-7, 1e-5, 1e-4, 1e-3, 1e-1])
@pytest.mark.parametrize("size", [1.0, 100.0])
@pytest.mark.parametrize("greedy", [False, True])
def test_no_rounding_within_the_bound_changes_an_action(
    gap: float, size: float, greedy: bool
) -> None:
    count = 400
    logits = torch.full((count, 2), size)
    logits[:, 0] += gap
    model: Any = Constant(logits)
    native: Any = Rounded(logits, 0.99 * ROUNDING * size)
    obs = {"tiles": np.zeros((count, 1), np.uint8), "features": np.zeros((count, 1), np.uint8)}

    def chosen(chooser: Chooser) -> Any:
        random = None if greedy else torch.Generator().manual_seed(0)
        first = np.zeros(count, np.bool_)
        state = torch.zeros(count, 0)
        return [
            chooser.choose(obs, state, first, temperature=0.5, random=random).actions
            for _ in range(20)
        ]

    np.testing.assert_array_equal(chosen(Chooser(model, native)), chosen(Chooser(model)))


def test_a_single_action_needs_no_certainty() -> None:
    logits = torch.zeros(3, 1)
    native: Any = Rounded(logits, 0.0)
    native._logits = logits
    obs = {"tiles": np.zeros((3, 1), np.uint8), "features": np.zeros((3, 1), np.uint8)}
    model: Any = Constant(logits)
    choice = Chooser(model, native).choose(
        obs, torch.zeros(3, 0), np.zeros(3, np.bool_), temperature=1.0, random=None
    )
    assert choice.actions.tolist() == [0, 0, 0]


def test_networks_that_native_code_does_not_know_stay_with_pytorch() -> None:
    assert has_native_copy(make_model(16))
    recurrent = make_model(16)
    recurrent.memory = GruMemory(recurrent.memory.size, recurrent.memory.size)
    assert not has_native_copy(recurrent)
    noisy = ActorCritic(recurrent.encoder, make_model(16).memory, 3, noisy_heads=True)
    assert not has_native_copy(noisy)
