"""Named starting points for a configuration. Tuned by benchmarks/time_to_clear.py, not by taste."""

from __future__ import annotations

from dataclasses import replace

from warpzone.config import (
    EnvOptions,
    LearnOptions,
    ModelOptions,
    RunOptions,
    TrainConfig,
)
from warpzone.errors import ConfigError

_TILES = TrainConfig(env=EnvOptions(obs="tiles"))

_PIXELS = TrainConfig(
    env=EnvOptions(obs="pixels"),
    learn=LearnOptions(learning_rate=6e-4, epochs=3),
    run=RunOptions(steps=2_000_000),
)

PRESETS: dict[str, TrainConfig] = {
    "cpu": _PIXELS,
    "cpu-quick": replace(_TILES, run=RunOptions(steps=800_000, stop_at_clear_rate=0.95)),
    "gpu": TrainConfig(
        env=EnvOptions(num_envs=128, actions="simple"),
        model=ModelOptions(encoder="impala"),
        learn=LearnOptions(learning_rate=5e-4, minibatch=2048),
        run=RunOptions(steps=20_000_000),
    ),
    "gpu-large": TrainConfig(
        env=EnvOptions(num_envs=256, actions="simple"),
        model=ModelOptions(encoder="impala", hidden=512, memory="lstm", memory_size=512),
        learn=LearnOptions(learning_rate=3e-4, rollout_steps=128, minibatch=4096),
        run=RunOptions(steps=100_000_000),
    ),
}


def preset(name: str) -> TrainConfig:
    """The configuration of that name.

    Raises:
        ConfigError: When there is none.
    """
    if name not in PRESETS:
        raise ConfigError(f"preset is {name!r}; there are {', '.join(PRESETS)}")
    return PRESETS[name]


def with_observations(config: TrainConfig, obs: str) -> TrainConfig:
    """A CPU preset for the other kind of observation keeps what suits that kind."""
    base = _TILES if obs == "tiles" else _PIXELS
    return replace(
        config,
        env=replace(config.env, obs=base.env.obs),
        learn=replace(
            config.learn, learning_rate=base.learn.learning_rate, epochs=base.learn.epochs
        ),
    )


def with_algorithm(config: TrainConfig, algo: str) -> TrainConfig:
    """A preset for the other algorithm keeps what suits that one.

    V-trace looks at a rollout once, so it takes short ones and small steps; as many gradients come
    out of a game's step as with PPO. Four passes, as PPO makes, did not learn 1-1.
    """
    learn = config.learn
    if algo == learn.algo or algo != "vtrace":
        return config
    return replace(
        config,
        learn=replace(
            learn,
            algo="vtrace",
            epochs=1,
            rollout_steps=max(1, learn.rollout_steps // 2),
            minibatch=max(1, learn.minibatch // 4),
        ),
    )
