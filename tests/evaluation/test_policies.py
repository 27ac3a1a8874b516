import pytest

from warpzone.errors import ConfigError
from warpzone.evaluation.policies import RandomPolicy, SequencePolicy, make_policy


def play(policy, steps: int) -> list[str]:
    return [policy.actions[policy.act(None, {}, None)] for _ in range(steps)]


def test_sequence_plays_each_entry_and_holds_the_last() -> None:
    policy = SequencePolicy("RIGHT+B:2, right+a:1,NOOP")
    assert play(policy, 6) == ["RIGHT+B", "RIGHT+B", "RIGHT+A", "NOOP", "NOOP", "NOOP"]
    policy.reset()
    assert play(policy, 1) == ["RIGHT+B"]


def test_random_policy_follows_its_seed_and_uses_every_action() -> None:
    first, again, other = (play(RandomPolicy("complex", seed), 300) for seed in (1, 1, 2))
    assert first == again != other
    assert len(set(first)) == 12


@pytest.mark.parametrize("text", ["RIGHT:0", "RIGHT:x", "JUMP:3", "", "RIGHT:-1"])
def test_unknown_policies_are_refused_with_what_is_allowed(text: str) -> None:
    with pytest.raises(ConfigError, match="must be random, scripted, right, or buttons"):
        make_policy(text)
