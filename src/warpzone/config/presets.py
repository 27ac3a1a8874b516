"""Named starting points for a configuration. Tuned by benchmarks/time_to_clear.py, not by taste."""

from __future__ import annotations

from dataclasses import replace

from warpzone.config.aids import ReplayOptions
from warpzone.config.options import (
    EnvOptions,
    LearnOptions,
    ModelOptions,
    RunOptions,
    TrainConfig,
)
from warpzone.errors import ConfigError

_TILES = TrainConfig(env=EnvOptions(obs="tiles"))

# Advantages look about a dozen steps ahead (discount x trace = 0.92), so short rollouts lose
# nothing, and many small updates learn from fewer steps than few large ones.
# Pictures take longer to be understood, and the policy must not settle before.
_PIXELS = TrainConfig(
    env=EnvOptions(obs="pixels", stack=2),
    learn=LearnOptions(
        rollout_steps=32,
        minibatch_size=256,
        epochs=2,
        learning_rate=5e-4,
        ent_coef=0.02,
        ent_coef_fade=0.5,
        ema_decay=0.98,
    ),
    # What once went well is worth more than one look; tiles are learned as quickly without.
    replay=ReplayOptions(capacity=32_768),
    run=RunOptions(steps=2_000_000),
)

PRESETS: dict[str, TrainConfig] = {
    "cpu": _PIXELS,
    "cpu-quick": replace(_TILES, run=RunOptions(steps=800_000, stop_at_clear_rate=0.9)),
    "campaign": replace(
        _TILES,
        env=replace(_TILES.env, actions="simple"),
        # Discounted by ground rather than by time, for castles are for those who wait; a price for
        # each step keeps Mario running, and shorter traces make up for the longer view.
        reward=replace(_TILES.reward, time=0.01),
        learn=replace(
            _TILES.learn,
            gamma=0.998,
            progress_gamma=0.95,
            gae_lambda=0.92,
            ent_coef_fade=0.5,
            ema_decay=0.98,
        ),
        run=RunOptions(steps=2_000_000, video_minutes=0.0),
    ),
    "gpu": TrainConfig(
        env=EnvOptions(num_envs=128, actions="simple"),
        model=ModelOptions(encoder="impala"),
        learn=LearnOptions(learning_rate=5e-4, minibatch_size=2048),
        run=RunOptions(steps=20_000_000),
    ),
    "gpu-large": TrainConfig(
        env=EnvOptions(num_envs=256, actions="simple"),
        model=ModelOptions(encoder="impala", hidden=512, memory="lstm", memory_size=512),
        learn=LearnOptions(learning_rate=3e-4, rollout_steps=128, minibatch_size=4096),
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
    """A CPU preset for the other kind of observation gets what suits that kind."""
    base = _TILES if obs == "tiles" else _PIXELS
    env = replace(config.env, obs=base.env.obs, stack=base.env.stack)
    return replace(config, env=env, learn=base.learn, replay=base.replay)


def with_algorithm(config: TrainConfig, algo: str) -> TrainConfig:
    """A preset for the other algorithm keeps what suits that one.

    V-trace looks at a rollout once; as many gradients come out of a step of a game as with PPO.
    Several passes, as PPO makes, did not learn 1-1, and without PPO's clipping the policy is lost
    now and then at PPO's learning rate.
    """
    learn = config.learn
    if algo == learn.algo or algo != "vtrace":
        return config
    minibatch_size = max(256, learn.minibatch_size // 4)
    vtrace = replace(
        learn,
        algo="vtrace",
        epochs=1,
        rollout_steps=32,
        minibatch_size=minibatch_size,
        learning_rate=learn.learning_rate / 2,
    )
    return replace(config, learn=vtrace)


def with_memory(config: TrainConfig, memory: str) -> TrainConfig:
    """A preset for a network with memory does without replay, which draws single steps."""
    if memory == "none":
        return config
    return replace(config, replay=replace(config.replay, capacity=0))


def with_solutions(config: TrainConfig, folder: str) -> TrainConfig:
    """Training along known ways: most episodes begin along them, or where others have been."""
    return replace(config, starts=replace(config.starts, solutions=folder, share=0.7))
