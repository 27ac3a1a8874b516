"""What actors and the learner exchange, without Ray."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.support.cluster_support import small_cluster_config
from warpzone.cluster.options import ClusterOptions, actor_config, check_supported
from warpzone.cluster.played_rollout import Policy, put_weights, unpack, weights_of
from warpzone.cluster.rollout_actor import RolloutActor
from warpzone.config import AdaptiveOptions, DistillOptions, ReplayOptions
from warpzone.errors import ConfigError
from warpzone.training.trainer import Trainer


def own_config(number: int = 0):  # type: ignore[no-untyped-def]
    options = ClusterOptions()
    return actor_config(small_cluster_config(), options, number=number, session=1, native=True)


def test_an_actor_plays_what_the_player_of_a_trainer_with_its_weights_would_play() -> None:
    config = own_config()
    trainer = Trainer(config)
    trainer.begin()
    actor = RolloutActor(0, config, None)
    policy = Policy(7, weights_of(trainer.model), config)
    try:
        for _ in range(2):
            played = actor.collect(policy, 0, False)
            expected = trainer.player.take(0).storage
            assert played.version == 7
            assert np.array_equal(played.arrays["actions"], expected.actions.numpy())
            assert np.array_equal(played.arrays["rewards"], expected.rewards.numpy())
            trainer.player.release()
    finally:
        trainer.close()


def test_a_rollout_survives_the_journey_to_the_learner() -> None:
    trainer = Trainer(own_config())
    try:
        actor = RolloutActor(0, own_config(1), None)
        played = actor.collect(Policy(0, weights_of(trainer.model), own_config(1)), 0, False)
        unpack(played.arrays, trainer.storage)
        assert np.array_equal(trainer.storage.actions.numpy(), played.arrays["actions"])
        for name, part in trainer.storage.obs_arrays().items():
            assert np.array_equal(part, played.arrays["obs"][name])
    finally:
        trainer.close()


def test_weights_arrive_in_tensors_of_another_memory_layout() -> None:
    native, plain = (
        Trainer(replace(own_config(), run=replace(own_config().run, acting=acting)))  # type: ignore[arg-type]
        for acting in ("native", "torch")
    )
    try:
        with torch.no_grad():
            for parameter in native.model.parameters():
                parameter.add_(0.5)
        put_weights(weights_of(native.model), plain.model)
        for name, value in native.model.state_dict().items():
            assert torch.equal(value, plain.model.state_dict()[name]), name
    finally:
        native.close()
        plain.close()


def test_actors_have_different_seeds_in_every_session() -> None:
    config, options = small_cluster_config(), ClusterOptions()
    seeds = {
        actor_config(config, options, number=number, session=session, native=True).run.seed
        for number in range(3)
        for session in (1, 2)
    }
    assert len(seeds) == 6


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"replay": ReplayOptions(capacity=64)}, "--replay-capacity 0"),
        ({"distill": DistillOptions(teachers="policies")}, "warpzone train"),
        ({"adaptive": AdaptiveOptions(enabled=True)}, "omit --adaptive"),
    ],
)
def test_options_that_need_environments_in_the_learner_are_refused(
    change: dict[str, object], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        check_supported(replace(small_cluster_config(), **change))  # type: ignore[arg-type]


@pytest.mark.parametrize("option", ["actors", "cpus_per_actor", "max_lag"])
def test_numbers_out_of_range_name_the_option(option: str) -> None:
    with pytest.raises(ConfigError, match=f"--{option.replace('_', '-')} is -1"):
        ClusterOptions(**{option: -1}).verify()
