"""Noisy heads: sampled from a generator, without noise in evaluation, learned."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from warpzone.config import EnvOptions, LearnOptions, ModelOptions, RunOptions, TrainConfig
from warpzone.models.actor_critic import ActorCritic
from warpzone.models.memory import make_memory
from warpzone.models.noisy import NoisyLinear
from warpzone.training.trainer import Trainer


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_the_same_generator_gives_the_same_noise_and_the_next_draw_another() -> None:
    torch.manual_seed(0)
    layer, x, draws = NoisyLinear(8, 3), torch.randn(5, 8), generator()
    layer.draw(draws)
    first = layer(x)
    layer.draw(draws)
    second = layer(x)
    layer.draw(generator())
    assert torch.equal(layer(x), first)
    assert not torch.allclose(second, first)


def test_weights_are_mean_plus_sigma_times_the_product_of_the_noises() -> None:
    layer, x = NoisyLinear(4, 2), torch.eye(4)
    layer.draw(generator(3))
    expected = torch.empty(4, 2)
    for i in range(4):
        for o in range(2):
            weight = layer.weight[o, i]
            weight = weight + layer.weight_spread[o, i] * (
                layer.output_noise[o] * layer.input_noise[i]
            )
            expected[i, o] = weight + layer.bias[o] + layer.bias_spread[o] * layer.output_noise[o]
    torch.testing.assert_close(layer(x), expected)


def test_evaluation_uses_the_mean_weights() -> None:
    layer, x = NoisyLinear(8, 3), torch.randn(5, 8, generator=generator())
    layer.draw(generator(1))
    plain = nn.functional.linear(x, layer.weight, layer.bias)
    assert not torch.allclose(layer(x), plain)
    assert torch.equal(layer.eval()(x), plain)


def test_sigma_is_part_of_a_checkpoint_and_noise_is_not() -> None:
    model = ActorCritic(nn.Identity(), make_memory("none", 8, 8, 4), 3, noisy_heads=True)
    names = set(model.state_dict())
    assert {"policy.weight_spread", "value.bias_spread"} <= names
    assert not any("noise" in name for name in names)


def test_plain_heads_do_not_use_the_generator() -> None:
    model = ActorCritic(nn.Identity(), make_memory("none", 8, 8, 4), 3)
    draws = generator()
    before = draws.get_state()
    model.draw_noise(draws)
    assert torch.equal(draws.get_state(), before)


@pytest.mark.parametrize("algo", ["ppo", "vtrace"])
def test_training_changes_sigma_and_samples_noise_per_rollout_and_minibatch(
    rom_path: Path, monkeypatch: pytest.MonkeyPatch, algo: str
) -> None:
    trainer = Trainer(
        TrainConfig(
            env=EnvOptions(obs="tiles", num_envs=4, num_threads=1),
            model=ModelOptions(hidden=16, heads="noisy"),
            learn=LearnOptions(algo=algo, rollout_steps=8, minibatch_size=16, epochs=3),  # type: ignore[arg-type]
            run=RunOptions(torch_threads=1, device="cpu"),
        )
    )
    drawn: list[torch.Generator] = []
    monkeypatch.setattr(trainer.model, "draw_noise", drawn.append)
    before = trainer.model.state_dict()["policy.weight_spread"].clone()
    trainer.begin()
    trainer.update()
    monkeypatch.undo()
    collect, learn = drawn[0], drawn[1]
    assert drawn == [collect] + [learn] * 6
    assert collect is not learn
    trainer.update()
    assert not torch.equal(trainer.model.state_dict()["policy.weight_spread"], before)
    trainer.close()
