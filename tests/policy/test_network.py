"""The native network says what the PyTorch network says."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from player_support import make_model
from policy_support import LEVELS, Observations, layout_of, listed, played

from warpzone import _native
from warpzone.errors import ConfigError
from warpzone.evaluation.native_network import copy_weights, make_native_network
from warpzone.models.actor_critic import ActorCritic
from warpzone.models.tree import to_tensors

#: Of logits and values around 1; both sides compute in float32, in different orders.
TOLERANCE = 1e-5


def reference(
    model: ActorCritic, obs: Observations
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    with torch.no_grad():
        said = model(to_tensors(obs._asdict()))
    return said.logits.numpy(), said.values.numpy()


def native(
    network: _native.PolicyNetwork, rows: NDArray[np.uint16], actions: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    logits = np.zeros((len(rows), actions), np.float32)
    values = np.zeros(len(rows), np.float32)
    network.decide(rows, logits, values)
    return logits, values


@pytest.fixture(scope="module")
def observations(rom_path: object) -> Observations:
    return played(LEVELS, 40)


@pytest.mark.parametrize(("hidden", "actions"), [(256, 7), (64, 12), (250, 3)])
def test_logits_and_values_are_those_of_pytorch(
    hidden: int, actions: int, observations: Observations
) -> None:
    model = make_model(hidden, actions=actions)
    layout = layout_of(model.encoder)
    network = make_native_network(layout, model)
    copy_weights(model, network)
    logits, values = native(network, listed(layout, observations), actions)
    expected_logits, expected_values = reference(model, observations)
    assert np.abs(expected_logits).max() > 0.5
    np.testing.assert_allclose(logits, expected_logits, rtol=0, atol=TOLERANCE)
    np.testing.assert_allclose(values, expected_values, rtol=0, atol=TOLERANCE)


def test_every_instruction_set_says_the_same(observations: Observations) -> None:
    model = make_model()
    layout = layout_of(model.encoder)
    expected = reference(model, observations)[0]
    for name in _native.instruction_sets():
        network = _native.PolicyNetwork(layout, 256, 128, 7, name)
        assert network.instructions == name
        copy_weights(model, network)
        logits, _ = native(network, listed(layout, observations), 7)
        np.testing.assert_allclose(logits, expected, rtol=0, atol=TOLERANCE)


def test_weights_may_lie_in_any_order(observations: Observations) -> None:
    model = make_model()
    layout = layout_of(model.encoder)
    network = make_native_network(layout, model)
    copy_weights(model, network)
    rows = listed(layout, observations)
    before = native(network, rows, 7)[0]
    first = model.encoder.first
    was = first.weight.data
    try:
        first.weight.data = first.weight.data.t().contiguous().t()
        copy_weights(model, network)
    finally:
        first.weight.data = was
    np.testing.assert_array_equal(native(network, rows, 7)[0], before)


def test_noisy_heads_act_with_their_present_noise(observations: Observations) -> None:
    model = make_model(64, noisy=True)
    model.draw_noise(torch.Generator().manual_seed(3))
    layout = layout_of(model.encoder)
    network = make_native_network(layout, model)
    copy_weights(model, network)
    logits, _ = native(network, listed(layout, observations), 7)
    np.testing.assert_allclose(logits, reference(model, observations)[0], rtol=0, atol=TOLERANCE)


def test_weights_of_another_size_are_refused() -> None:
    small, large = make_model(64), make_model(256)
    network = make_native_network(layout_of(small.encoder), small)
    with pytest.raises(ConfigError, match="first is 256 x 5480"):
        copy_weights(large, network)


def test_a_damaged_list_is_refused() -> None:
    model = make_model(64)
    layout = layout_of(model.encoder)
    network = make_native_network(layout, model)
    rows = np.zeros((2, layout.capacity), np.uint16)
    rows[1, 0] = 60_000
    with pytest.raises(ConfigError, match="sample 1 are damaged"):
        native(network, rows, 7)
    rows[1, 0], rows[1, 2] = 1, 40_000
    with pytest.raises(ConfigError, match="sample 1 are damaged"):
        native(network, rows, 7)
