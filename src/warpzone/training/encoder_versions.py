"""Policies of an earlier version of the tile encoder, for runs with a later one."""

from __future__ import annotations

from dataclasses import replace

from torch import nn

from warpzone.config import TrainConfig
from warpzone.evaluation.trained import TrainedPolicy, make_network, policy_spaces
from warpzone.models.build import make_model
from warpzone.models.tile_encoder import widened_inputs

LATEST = "tiles-v2"
_EARLIER = ("auto", "tiles")  # Policies that were trained before there was another one have 'auto'.
_FIRST_LAYER = "encoder.first.weight"


def with_encoder_of(policy: TrainedPolicy, config: TrainConfig) -> TrainedPolicy:
    """Returns the policy with the encoder of a run, if that is a later version of its own.

    The policy does the same as before, since the additional inputs have no weight yet. Policies
    with unrelated encoders are returned unchanged.

    Args:
        policy: Policy to start from, or to learn from.
        config: Configuration of the run.
    """
    own = policy.config
    if (
        config.model.encoder != LATEST
        or own.env.obs != "tiles"
        or own.model.encoder not in _EARLIER
    ):
        return policy
    later = replace(own, model=replace(own.model, encoder=LATEST))
    encoder = make_model(later.model, *policy_spaces(later)).encoder
    assert isinstance(encoder.first, nn.Linear)
    weights = dict(policy.model.state_dict())
    weights[_FIRST_LAYER] = widened_inputs(weights[_FIRST_LAYER], encoder.first.in_features)
    return TrainedPolicy(make_network(later, weights), later, policy.path)
