"""From a configuration to the parts of a run."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

import torch
from torch import nn

from warpzone import _native
from warpzone.config import ModelOptions, TrainConfig
from warpzone.errors import CheckpointError, ConfigError
from warpzone.learning.learner import LearnerSettings
from warpzone.learning.returns import Discount
from warpzone.models import compiling
from warpzone.models.actor_critic import ActorCritic
from warpzone.models.encoders import (
    Encoder,
    FoldedEncoder,
    ImpalaEncoder,
    NatureEncoder,
    TileEncoder,
)
from warpzone.models.memory import make_memory
from warpzone.processors import processor_cores
from warpzone.rollout.collector import Collector
from warpzone.rollout.sources import OverlappedSource, SerialSource, Source
from warpzone.rollout.storage import RolloutStorage
from warpzone.train.checkpoint_tree import fit_compiled, keys_differ, strip_compiled
from warpzone.train.curriculum import LevelChooser, LevelCurriculum, RandomLevels
from warpzone.train.levels import draws_levels, trained_levels
from warpzone.train.starts import EpisodeStarts
from warpzone.train.ways import read_guides
from warpzone.vectors.make import Games, make_games
from warpzone.vectors.options import WorkerOptions

_ALLOW_CPU = "WARPZONE_ALLOW_CPU_AUTO"
Precision = Literal["float32", "bfloat16", "float16"]
_PRECISIONS: dict[Precision, torch.dtype] = {
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
}


def make_env(config: TrainConfig) -> Games:
    """The games of a run."""
    env, workers = config.env, config.workers
    return make_games(
        trained_levels(env),
        num_envs=env.num_envs,
        num_threads=env.num_threads or processor_cores(),
        vector=env.vector,
        backend=env.backend,
        strict_stage=env.strict_stage,
        fallback_sync=workers.fallback_sync,
        workers=WorkerOptions(
            method=workers.start_method,
            prewarm=workers.prewarm,
            delay=workers.start_delay,
            seconds=workers.stage_seconds or None,
            replacements=workers.replacements,
        ),
        autoreset="same-step",
        max_steps=env.max_steps,
        stagnation_limit=env.stagnation_limit,
        weights=reward_weights(config),
        **shared_env_options(config),
        sticky_prob=env.sticky_prob,
        noop_max=env.noop_max,
        level_order="random" if draws_levels(env) and env.vector != "native" else "cycle",
    )


def make_starts(config: TrainConfig, env: Games, seed: int) -> EpisodeStarts:
    """Where the episodes of a run begin."""
    options, levels = config.starts, trained_levels(config.env)
    chooser: LevelChooser | None = None
    if config.env.level_order == "curriculum":
        chooser = LevelCurriculum(levels, config.env.level_floor)
    elif draws_levels(config.env) and config.env.vector == "native":
        chooser = RandomLevels(levels, seed)
    guides = read_guides(Path(options.ways), levels, options.spacing) if options.ways else None
    return EpisodeStarts(env, options, seed, guides=guides, chooser=chooser)


def reward_weights(config: TrainConfig) -> dict[str, float]:
    """What the games of a run reward."""
    return asdict(config.reward)


def shared_env_options(config: TrainConfig) -> dict[str, Any]:
    """What an environment must have in common with the one that a network was trained on."""
    env = config.env
    options: dict[str, Any] = {
        "obs": env.obs,
        "actions": env.actions,
        "frame_skip": env.frame_skip,
        "stack": env.stack,
    }
    if env.obs == "pixels":
        options["hud"] = env.hud
        options["show_buttons"] = env.show_buttons
    return options


def make_model(options: ModelOptions, obs_space: Any, actions: int) -> ActorCritic:
    """The network for a space of observations."""
    encoder: Encoder
    if hasattr(obs_space, "spaces"):
        grid = obs_space["tiles"].shape
        features = [_native.feature_name(i) for i in range(obs_space["features"].shape[0])]
        encoder = TileEncoder(grid, features, options.hidden, options.hidden // 2)
    else:
        shape = obs_space.shape
        kind = "folded" if options.encoder == "auto" else options.encoder
        if kind == "folded":
            encoder = FoldedEncoder(shape, (32, 32), options.hidden)
        elif kind == "nature":
            encoder = NatureEncoder(shape, (16, 32, 32), options.hidden)
        else:
            encoder = ImpalaEncoder(shape, (16, 32, 32), options.hidden)
    width = encoder.size
    memory = make_memory(options.memory, width, options.memory_size, options.memory_window)
    return ActorCritic(encoder, memory, actions, noisy_heads=options.heads == "noisy")


def place_model(model: ActorCritic, device: torch.device) -> ActorCritic:
    """Brings a network to where it runs, in the layout that is quick there.

    Channels-last was measured (one core, bfloat16): the residual network learns in 0.55 of the time
    and infers in 0.35 of it; the small Nature network takes 1.15 times as long, so it keeps its
    layout; the folded one arranges itself. On CUDA it is what tensor cores want.
    """
    if device.type == "cuda" or isinstance(model.encoder, ImpalaEncoder):
        model = model.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    return model.to(device)


def make_source(
    collector: Collector, model: ActorCritic, make_storage: Callable[[], RolloutStorage]
) -> Source:
    """Where rollouts come from: overlapped, if the collector has a policy of its own."""
    if collector.model is model:
        return SerialSource(collector)
    return OverlappedSource(collector, model, make_storage())


def compile_model(model: ActorCritic, try_out: Callable[[], None]) -> None:
    """Compiles a network, and tries it out at once: a missing compiler shows only when it runs.

    Raises:
        ConfigError: When it cannot be compiled here.
    """
    compiling.compile_parts(model, compiling.BACKEND)
    try:
        try_out()
    except RuntimeError as error:
        reason = str(error).strip().splitlines()[0]
        raise ConfigError(
            f"run.compile is set, but torch.compile fails here ({reason}); install a C++ compiler, "
            "or train without --compile"
        ) from error


def choose_device(config: TrainConfig) -> torch.device:
    """Where the network runs.

    Raises:
        ConfigError: For a device that is not there, or a network for GPUs on a CPU.
    """
    wanted = config.run.device
    if wanted == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda")
        if torch.backends.mps.is_available():
            return torch.device("mps")
        large = config.model.encoder == "impala"
        if large and os.environ.get(_ALLOW_CPU) != "1":
            raise ConfigError(
                "model.encoder 'impala' is made for GPUs and none was found; give --device cpu (or "
                f"set {_ALLOW_CPU}=1) to train it on the CPU all the same, slowly"
            )
        return torch.device("cpu")
    try:
        device = torch.device(wanted)
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError) as error:
        raise ConfigError(f"run.device is {wanted!r}, which is not usable here: {error}") from error
    return device


def choose_precision(config: TrainConfig, device: torch.device) -> Precision:
    """The precision of a run: as asked for, or what the machine computes quickly."""
    if config.run.precision != "auto":
        return config.run.precision
    quick = device.type == "cuda" or "avx512_bf16" in _processor_flags()
    return "bfloat16" if quick else "float32"


def make_autocast(
    precision: Precision, device: torch.device
) -> Callable[[], AbstractContextManager[Any]]:
    """Makes the context in which the network runs forward."""
    dtype = _PRECISIONS[precision]
    enabled = dtype != torch.float32
    return lambda: torch.autocast(device.type, dtype=dtype if enabled else None, enabled=enabled)


def make_scaler(precision: Precision, device: torch.device) -> torch.amp.GradScaler:
    """Keeps small gradients from vanishing in float16; does nothing otherwise."""
    return torch.amp.GradScaler(device.type, enabled=precision == "float16")


def _processor_flags() -> str:
    information = Path("/proc/cpuinfo")
    return information.read_text() if information.exists() else ""


def make_optimizer(config: TrainConfig, model: nn.Module) -> torch.optim.Optimizer:
    """The optimizer of a run."""
    kind = torch.optim.AdamW if config.learn.optimizer == "adamw" else torch.optim.Adam
    # One pass over the weights instead of a dozen, where there is such a kernel.
    fused = next(model.parameters()).device.type in ("cpu", "cuda")
    rate = config.learn.learning_rate
    return kind(model.parameters(), lr=rate, eps=1e-5, fused=fused)


def discount(config: TrainConfig) -> Discount:
    """What the future is worth to a run."""
    return Discount(config.learn.discount, config.learn.tile_discount)


def learner_settings(config: TrainConfig) -> LearnerSettings:
    """What the learner needs to know of the configuration."""
    learn = config.learn
    return LearnerSettings(
        algorithm=learn.algo,
        discount=discount(config),
        trace=learn.trace,
        clip=learn.clip,
        epochs=learn.epochs,
        minibatch=learn.minibatch,
        accumulate=learn.accumulate,
        value_weight=learn.value_weight,
        gradient_norm=learn.gradient_norm,
        norm_limit=learn.norm_limit,
        skips_allowed=learn.skips_allowed,
        stop_at_kl=learn.stop_at_kl,
    )


def load_weights(model: nn.Module, weights: dict[str, Any]) -> None:
    """Gives a network the weights of a checkpoint, whether either was compiled or not.

    Raises:
        CheckpointError: With the list of parts that are missing or unexpected, or of another size.
    """
    expected = model.state_dict()
    error = keys_differ(expected, weights)
    if error is not None:
        raise error
    fitted = fit_compiled(strip_compiled(weights), expected)
    for name, tensor in expected.items():
        if fitted[name].shape != tensor.shape:
            raise CheckpointError(
                f"the checkpoint does not fit the model: {name} is {tuple(fitted[name].shape)} "
                f"instead of {tuple(tensor.shape)}"
            )
    model.load_state_dict(fitted)
