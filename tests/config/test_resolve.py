"""Presets and implied options; explicit values are never overridden."""

from __future__ import annotations

from dataclasses import replace

import pytest

from warpzone.config import PRESET_NAMES, TrainConfig, from_toml, make_config, overlaid, to_toml
from warpzone.errors import ConfigError


def made(preset: str = "cpu", **options: object) -> TrainConfig:
    return make_config(preset, environment={}, **options)


@pytest.mark.parametrize("name", PRESET_NAMES)
def test_every_preset_is_valid_and_survives_a_file(name: str) -> None:
    config = made(name)
    assert overlaid(TrainConfig(), from_toml(to_toml(config), "file")) == config


def test_pixels_and_tiles_get_the_values_that_suit_them() -> None:
    pixels, tiles = made(), made(obs="tiles")
    assert (pixels.learn.rollout_steps, pixels.learn.minibatch_size) == (32, 256)
    assert (pixels.learn.learning_rate, pixels.replay.capacity, pixels.env.stack) == (
        5e-4,
        32_768,
        2,
    )
    assert (tiles.learn.rollout_steps, tiles.learn.minibatch_size) == (64, 1024)
    assert (tiles.learn.learning_rate, tiles.replay.capacity, tiles.env.stack) == (1e-3, 0, 0)
    assert tiles.run.steps == pixels.run.steps, "the preset stays"


def test_the_presets_for_tiles_take_pixels() -> None:
    quick = made("cpu-quick", obs="pixels")
    assert quick == replace(made(), run=made("cpu-quick").run)


def test_the_quick_preset_learns_tiles_as_its_sweep_found() -> None:
    quick = made("cpu-quick").learn
    assert (quick.minibatch_size, quick.learning_rate, quick.ent_coef) == (512, 1.2e-3, 0.0041)
    assert made("cpu-quick", minibatch_size=1024).learn == replace(quick, minibatch_size=1024)


def test_a_preset_for_gpus_is_not_tuned_for_a_cpu() -> None:
    learn = made("gpu").learn
    assert (learn.rollout_steps, learn.minibatch_size, learn.epochs) == (64, 2048, 4)
    assert made("gpu").replay.capacity == made("gpu-large").replay.capacity == 0


def test_vtrace_uses_one_epoch_smaller_batches_and_half_the_rate() -> None:
    ppo, vtrace = made("gpu").learn, made("gpu", algo="vtrace").learn
    assert vtrace == replace(
        ppo, algo="vtrace", epochs=1, rollout_steps=32, minibatch_size=512, learning_rate=2.5e-4
    )
    assert made("gpu", algo="ppo") == made("gpu")


@pytest.mark.parametrize("memory", ["gru", "lstm", "transformer"])
def test_a_recurrent_network_disables_replay(memory: str) -> None:
    assert made().replay.capacity > 0
    assert made(memory=memory).replay.capacity == 0


def test_solutions_make_most_episodes_start_within_the_level() -> None:
    assert made().starts.share == 0.0
    assert made(from_solutions="solutions").starts.share == 0.7


def test_explicit_values_are_never_overridden() -> None:
    config = made(
        obs="pixels",
        algo="vtrace",
        epochs=4,
        rollout_steps=64,
        minibatch_size=1024,
        learning_rate=1e-3,
        replay_capacity=0,
        from_solutions="solutions",
        start_share=0.0,
        stack=4,
    )
    assert (config.learn.epochs, config.learn.rollout_steps) == (4, 64)
    assert (config.learn.minibatch_size, config.learn.learning_rate) == (1024, 1e-3)
    assert (config.replay.capacity, config.starts.share, config.env.stack) == (0, 0.0, 4)


def test_explicit_replay_with_a_recurrent_network_is_rejected() -> None:
    with pytest.raises(ConfigError, match=r"replay\.capacity is 40000 and model\.memory is 'gru'"):
        made(memory="gru", replay_capacity=40_000)


def test_stable_async_sets_careful_worker_options() -> None:
    config = made("stable-async")
    assert config.env.vector == "async"
    assert config.workers.prewarm > 0
    assert config.workers.fallback_sync


def test_an_unknown_preset_gets_a_suggestion() -> None:
    with pytest.raises(ConfigError, match=r"no preset 'cpu-quik'.*did you mean cpu-quick\?"):
        made("cpu-quik")
