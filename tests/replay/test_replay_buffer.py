"""Replay returns the transitions that were added, counts them and stays within its memory."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import torch
from gymnasium import spaces

from warpzone._native import SumTree
from warpzone.config import ReplayOptions
from warpzone.models.tree import IMAGE
from warpzone.replay.buffer import PrioritizedReplay, Transitions

STACK, SIDE, ENVS = 4, 6, 3


class Game:
    """Fake environments with unique frames, stacked as real environments stack them."""

    def __init__(self, seed: int = 0, from_state: float = 0.0) -> None:
        self.random = np.random.default_rng(seed)
        self.from_state = from_state
        self.stacks = np.zeros((ENVS, STACK, SIDE, SIDE), np.uint8)
        self.first = np.ones(ENVS, bool)

    def rollout(self, steps: int, end_chance: float = 0.2) -> Transitions:
        stacks, first = [], []
        for _ in range(steps):
            newest = self.random.integers(0, 256, (ENVS, SIDE, SIDE), dtype=np.uint8)
            self.stacks = np.concatenate([self.stacks[:, 1:], newest[:, None]], 1)
            for env_id in np.flatnonzero(self.first):
                self.stacks[env_id] = newest[env_id]
                if self.random.random() < self.from_state:
                    self.stacks[env_id] = self.random.integers(0, 256, (STACK, SIDE, SIDE))
            stacks.append(self.stacks.copy())
            first.append(self.first)
            self.first = self.random.random(ENVS) < end_chance
        count = (steps, ENVS)
        return Transitions(
            {IMAGE: torch.from_numpy(np.stack(stacks))},
            torch.from_numpy(np.stack(first)),
            torch.from_numpy(self.random.integers(0, 7, count)),
            torch.from_numpy(self.random.normal(size=count).astype(np.float32)),
            torch.zeros(count),
        )


def make(capacity: int, half: bool = False, alpha: float = 0.6) -> PrioritizedReplay:
    options = ReplayOptions(capacity=capacity, half=half, alpha=alpha)
    return make_replay(options, (STACK, SIDE, SIDE), ENVS, STACK)


def make_replay(
    options: ReplayOptions, shape: tuple[int, ...], num_envs: int, stack: int
) -> PrioritizedReplay:
    space = {IMAGE: spaces.Box(0, 255, shape, np.uint8)}
    tree = SumTree(options.capacity)
    return PrioritizedReplay(options, space, tree, num_envs=num_envs, stacks={IMAGE: stack})


def pushed_rows(rollouts: list[Transitions]) -> dict[bytes, tuple[int, float]]:
    rows = {}
    for moments in rollouts:
        flat = zip(
            moments.obs[IMAGE].flatten(0, 1),
            moments.actions.flatten(),
            moments.returns.flatten(),
            strict=True,
        )
        rows |= {stack.numpy().tobytes(): (int(a), float(r)) for stack, a, r in flat}
    return rows


@pytest.mark.parametrize("from_state", [0.0, 0.5])
def test_stacks_are_rebuilt_exactly_across_rollouts_and_episode_starts(from_state: float) -> None:
    game, replay = Game(1, from_state), make(300)
    rollouts = [game.rollout(20) for _ in range(12)]  # 720 transitions: the ring turns over twice.
    for moments in rollouts:
        replay.push(moments)
    known = pushed_rows(rollouts)
    kept = pushed_rows(rollouts[-5:])
    seen = set()
    for _ in range(100):
        drawn = replay.sample(64, beta=0.5)
        for stack, action, value in zip(
            drawn.obs[IMAGE], drawn.actions, drawn.returns, strict=True
        ):
            key = stack.numpy().tobytes()
            assert key in known, "a stack that was never pushed"
            assert known[key] == (int(action), float(value))
            assert key in kept, "a transition that should have made room"
            seen.add(key)
    assert len(seen) > 100


def test_resets_cost_no_more_frames_than_steps() -> None:
    game, replay = Game(2), make(300)
    for _ in range(4):
        replay.push(game.rollout(20, end_chance=0.5))
    assert replay._columns[IMAGE].frames.total == replay.pushed == 4 * 20 * ENVS


def test_transitions_with_overwritten_frames_are_not_sampled() -> None:
    game, replay = Game(3, from_state=1.0), make(300)
    rollouts = [game.rollout(20, end_chance=0.9) for _ in range(5)]
    for moments in rollouts:
        replay.push(moments)
    fill = replay.take_metrics()["replay/fill"]
    assert 0.2 < fill < 0.6  # Nearly four frames per step.
    known = pushed_rows(rollouts)
    for _ in range(50):
        obs = replay.sample(32, beta=0.5).obs[IMAGE]
        assert all(stack.numpy().tobytes() in known for stack in obs)


def test_better_returns_are_sampled_more_often_with_smaller_weights() -> None:
    replay = make(30, alpha=1.0)
    moments = Game(4).rollout(10)
    returns = torch.zeros(10, ENVS)
    returns[5, 1] = 2.0
    returns[6, 2] = 1.0
    returns[7, 0] = -3.0  # Worse than expected: minimum priority.
    replay.push(moments._replace(returns=returns, actions=torch.arange(30).view(10, 3) % 30))
    drawn = replay.sample(3000, beta=1.0)
    counts = np.bincount(drawn.actions.numpy(), minlength=30)
    assert counts[16] == pytest.approx(2 * counts[20], rel=0.02)
    assert counts[21] < 10
    weights = drawn.weights.numpy()
    assert weights.max() == 1.0
    first, second = (weights[drawn.actions.numpy() == action][0] for action in (16, 20))
    assert second / first == pytest.approx(2.0, rel=0.01)
    assert (replay.sample(100, beta=0.0).weights == 1.0).all()


def test_new_priorities_change_what_is_sampled() -> None:
    replay = make(30, alpha=1.0)
    moments = Game(5).rollout(10)
    actions = torch.arange(30).view(10, 3)
    replay.push(moments._replace(returns=torch.ones(10, 3), actions=actions))
    drawn = replay.sample(300, beta=0.4)
    better = (drawn.actions == 7).float() * 5
    replay.set_priorities(drawn.indices, better)
    again = replay.sample(1000, beta=0.4).actions
    assert (again == 7).float().mean() > 0.9


def test_a_restored_buffer_samples_what_the_original_samples() -> None:
    game, replay = Game(6), make(100, half=True)
    for _ in range(3):
        replay.push(game.rollout(15))
    replay.sample(8, beta=0.5)
    copy = make(100, half=True)
    copy.load_state_dict(replay.state_dict())
    moments = game.rollout(15)
    for memory in (replay, copy):
        memory.push(moments)
    one, two = replay.sample(64, beta=0.5), copy.sample(64, beta=0.5)
    assert (one.indices == two.indices).all()
    assert torch.equal(one.obs[IMAGE], two.obs[IMAGE])
    assert torch.equal(one.returns, two.returns)
    assert torch.equal(one.weights, two.weights)


@pytest.mark.parametrize("half", [True, False])
def test_two_hundred_thousand_stacks_of_four_need_less_than_1_6_gigabytes(half: bool) -> None:
    replay = make_replay(ReplayOptions(capacity=200_000, half=half), (4, 84, 84), 64, 4)
    assert replay.nbytes < 1.6e9
    assert replay.nbytes > 200_000 * 84 * 84
    assert replay._returns.dtype == (np.float16 if half else np.float32)


def test_memory_really_used_is_what_is_computed() -> None:
    capacity, envs = 2048, 16
    rollout = Transitions(
        {IMAGE: torch.randint(0, 256, (32, envs, 4, 84, 84), dtype=torch.uint8)},
        torch.zeros(32, envs, dtype=torch.bool),
        *(torch.zeros(32, envs) for _ in range(3)),
    )
    tracemalloc.start()
    try:
        replay = make_replay(ReplayOptions(capacity=capacity), (4, 84, 84), envs, 4)
        for _ in range(8):
            replay.push(rollout)
        used, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    tree = replay._sampler.tree.nbytes  # C++ allocates it, so it is not traced.
    assert used == pytest.approx(replay.nbytes - tree, rel=0.01)
    spare = envs * 4 * 84 * 84  # A constant that does not grow with the capacity.
    assert (replay.nbytes - spare) / capacity < 1.6e9 / 200_000


def test_tiles_with_features_are_restored_exactly() -> None:
    space = {
        "tiles": spaces.Box(0, 255, (10, 13, 16), np.uint8),
        "features": spaces.Box(0, 255, (64,), np.uint8),
    }
    options = ReplayOptions(capacity=50)
    replay = PrioritizedReplay(options, space, SumTree(50), num_envs=2, stacks={"tiles": 2}, seed=1)
    random = np.random.default_rng(0)
    tiles = torch.from_numpy(random.integers(0, 256, (1, 2, 10, 13, 16), dtype=np.uint8))
    features = torch.from_numpy(random.integers(0, 256, (1, 2, 64), dtype=np.uint8))
    first = torch.ones(1, 2, dtype=torch.bool)
    numbers = torch.arange(2.0).view(1, 2)
    obs = {"tiles": tiles, "features": features}
    replay.push(Transitions(obs, first, torch.tensor([[0, 1]]), numbers, numbers))
    drawn = replay.sample(20, beta=0.4)
    for row, action in enumerate(drawn.actions.tolist()):
        assert torch.equal(drawn.obs["tiles"][row], tiles[0, action])
        assert torch.equal(drawn.obs["features"][row], features[0, action])


def test_metrics_report_fill_uniqueness_times_and_priorities() -> None:
    replay = make(100)
    empty = replay.take_metrics()
    assert empty["replay/fill"] == 0.0
    assert "replay/unique_ratio_last" not in empty
    replay.push(Game(7).rollout(10))
    replay.sample(64, beta=0.5)
    row = replay.take_metrics()
    assert row["replay/fill"] == pytest.approx(0.3)
    assert row["replay/pushed"] == 30
    assert 0 < row["replay/unique_ratio_last"] <= 30 / 64
    assert row["replay/unique_ratio_mean"] == row["replay/unique_ratio_last"]
    parts = row["replay/draw_seconds"] + row["replay/gather_seconds"]
    assert row["replay/sample_seconds"] == pytest.approx(parts)
    assert row["replay/priority_p50"] <= row["replay/priority_p90"] <= row["replay/priority_p99"]
    assert replay.take_metrics()["replay/sample_seconds"] == 0.0


def test_invalid_calls_are_rejected() -> None:
    with pytest.raises(ValueError, match="the replay buffer is empty"):
        make(100).sample(1, 0.5)
    with pytest.raises(ValueError, match="30 transitions do not fit into a capacity of 20"):
        make(20).push(Game().rollout(10))
    with pytest.raises(ValueError, match="not a stack of 4"):
        make_replay(ReplayOptions(capacity=10), (6, 2, 2), 1, 4)
