"""Networks: shapes, resets of the recurrent state, and equality of stepping and unrolling."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from warpzone import _native
from warpzone.models.actor_critic import ActorCritic, entropy, log_prob
from warpzone.models.encoder import Encoder
from warpzone.models.image_blocks import centred, space_to_depth
from warpzone.models.image_encoders import (
    ImpalaEncoder,
    NatureEncoder,
    SpaceToDepthEncoder,
)
from warpzone.models.memory import make_memory
from warpzone.models.tile_encoder import TileEncoder
from warpzone.models.tree import IMAGE, Tree

FEATURES = [_native.feature_name(i) for i in range(_native.FEATURE_COUNT)]
MEMORIES = ["none", "gru", "lstm", "transformer"]


class Plain(nn.Module):
    """Encoder that converts bytes to floats."""

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        return obs.float() / 255.0


def make(memory: str, actions: int = 3) -> ActorCritic:
    torch.manual_seed(0)
    return ActorCritic(Plain(), make_memory(memory, 8, 16, window=4), actions, obs_name=IMAGE)


def random_obs(*shape: int) -> torch.Tensor:
    return torch.randint(
        0, 256, shape, dtype=torch.uint8, generator=torch.Generator().manual_seed(1)
    )


@pytest.mark.parametrize(
    "encoder",
    [
        NatureEncoder((4, 84, 84), (16, 32, 32), 64),
        SpaceToDepthEncoder((4, 84, 84), (16, 16), 64),
        ImpalaEncoder((4, 84, 84), (8, 16), 64),
    ],
    ids=["nature", "space-to-depth", "impala"],
)
def test_image_encoders_return_a_vector_of_their_size(encoder: nn.Module) -> None:
    output = encoder(random_obs(3, 4, 84, 84))
    assert output.shape == (3, 64)
    assert bool(torch.isfinite(output).all())


def test_the_tile_encoder_uses_grid_and_features() -> None:
    encoder = TileEncoder((10, 13, 16), FEATURES, 32, 16)
    tiles, features = random_obs(3, 10, 13, 16), random_obs(3, len(FEATURES))
    output = encoder({"tiles": tiles, "features": features})
    assert output.shape == (3, 16)
    assert not torch.equal(output, encoder({"tiles": tiles, "features": features // 2}))
    assert not torch.equal(output, encoder({"tiles": tiles // 2, "features": features}))


@pytest.mark.parametrize("memory", MEMORIES)
def test_stepping_equals_unrolling(memory: str) -> None:
    model = make(memory).eval()
    obs = random_obs(7, 2, 8)
    first = torch.zeros(7, 2, dtype=torch.bool)
    first[0] = True
    first[3, 1] = True
    state = model.initial_state(2)
    whole = model.unroll({IMAGE: obs}, state, first)
    for t in range(7):
        decision = model.step({IMAGE: obs[t]}, state, first[t])
        state = decision.state
        torch.testing.assert_close(decision.logits, whole.logits[t])
        torch.testing.assert_close(decision.values, whole.values[t])


@pytest.mark.parametrize("memory", MEMORIES[1:])
def test_recurrent_state_is_reset_at_episode_starts(memory: str) -> None:
    model = make(memory).eval()
    before, now = random_obs(5, 1, 8), random_obs(1, 8)
    fresh = model.step({IMAGE: now}, model.initial_state(1), torch.tensor([True]))
    state = model.initial_state(1)
    for obs in before:
        state = model.step({IMAGE: obs}, state, torch.tensor([False])).state
    kept = model.step({IMAGE: now}, state, torch.tensor([False]))
    reset = model.step({IMAGE: now}, state, torch.tensor([True]))
    torch.testing.assert_close(reset.logits, fresh.logits)
    assert not torch.allclose(kept.values, fresh.values)


def test_a_transformer_sees_only_its_window() -> None:
    model = make("transformer").eval()
    obs = random_obs(6, 1, 8)
    first = torch.zeros(6, 1, dtype=torch.bool)
    other = obs.clone()
    other[1] = 255 - other[1]  # The window of the last step is steps 2 to 5.
    state = model.initial_state(1)
    last = model.unroll({IMAGE: obs}, state, first).logits[-1]
    torch.testing.assert_close(model.unroll({IMAGE: other}, state, first).logits[-1], last)
    other[2] = 255 - other[2]
    assert not torch.allclose(model.unroll({IMAGE: other}, state, first).logits[-1], last)


def test_the_policy_starts_almost_uniform() -> None:
    decision = make("none", actions=5).step(
        {IMAGE: random_obs(4, 8)}, torch.zeros(4, 0), torch.zeros(4, dtype=torch.bool)
    )
    assert entropy(decision.logits).min().item() == pytest.approx(1.609, abs=0.01)


def test_log_probabilities_of_all_actions_add_up_to_one() -> None:
    logits = torch.randn(1, 4, generator=torch.Generator().manual_seed(2)).expand(4, 4)
    total = log_prob(logits, torch.arange(4)).exp().sum()
    assert total.item() == pytest.approx(1.0, rel=1e-6)


def test_an_unknown_memory_is_rejected_by_name() -> None:
    with pytest.raises(ValueError, match="'elephant'"):
        make_memory("elephant", 8, 8, 4)


@pytest.mark.parametrize("precision", [torch.float32, torch.bfloat16])
def test_prepared_observations_are_encoded_as_plain_ones(precision: torch.dtype) -> None:
    torch.manual_seed(0)
    images = torch.randint(0, 256, (2, 3, 4, 84, 84), dtype=torch.uint8)
    tiles = torch.randint(0, 256, (2, 3, 10, 13, 16), dtype=torch.uint8)
    features = torch.randint(0, 256, (2, 3, len(FEATURES)), dtype=torch.uint8)
    cases: list[tuple[Encoder, Tree]] = [
        (SpaceToDepthEncoder((4, 84, 84), (16, 16), 64), {IMAGE: images}),
        (NatureEncoder((4, 84, 84), (8, 8, 8), 64), {IMAGE: images}),
        (ImpalaEncoder((4, 84, 84), (4, 4), 64), {IMAGE: images}),
        (TileEncoder((10, 13, 16), FEATURES, 32, 16), {"tiles": tiles, "features": features}),
    ]
    for encoder, obs in cases:
        name = IMAGE if IMAGE in obs else None
        model = ActorCritic(encoder, make_memory("none", encoder.size, 8, 4), 5, obs_name=name)
        first = torch.zeros(2, 3, dtype=torch.bool)
        with torch.autocast("cpu", precision, enabled=precision != torch.float32):
            plain = model.unroll(obs, model.initial_state(3), first)
            prepared = model.unroll(model.prepare(obs), model.initial_state(3), first)
        assert torch.equal(plain.logits, prepared.logits), type(encoder).__name__


def test_space_to_depth_equals_pixel_unshuffle() -> None:
    images = torch.randint(0, 256, (3, 4, 84, 84), dtype=torch.uint8)
    expected = torch.nn.PixelUnshuffle(4)(images.float())
    assert torch.equal(space_to_depth(images).permute(0, 3, 1, 2).float(), expected)


def test_the_background_of_a_prepared_image_is_zero() -> None:
    images = torch.full((1, 2, 84, 84), 150, dtype=torch.uint8)
    images[:, :, 70:] = 22
    prepared = centred(images, images)
    assert (prepared[:, :, :70] == 0).all()
    assert (prepared[:, :, 70:] == -1).all()


def test_an_encoder_without_prepare_gets_raw_observations() -> None:
    model = make("none")
    obs = {IMAGE: random_obs(2, 3, 8)}
    assert model.prepare(obs) is obs
