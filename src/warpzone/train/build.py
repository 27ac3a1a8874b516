"""From a configuration to the parts of a run."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Literal

import torch
from torch import nn

from warpzone.algorithms.learner import LearnerSettings
from warpzone.algorithms.returns import Discount
from warpzone.config import TrainConfig
from warpzone.envs.vectors.make import AnyVectorEnv, make_vector_env
from warpzone.envs.vectors.options import WorkerOptions
from warpzone.errors import ConfigError
from warpzone.models import compiling
from warpzone.models.actor_critic import ActorCritic
from warpzone.rollout.collector import Collector
from warpzone.rollout.sources import OverlappedSource, SerialSource, Source
from warpzone.rollout.storage import RolloutStorage
from warpzone.runs.levels import draws_levels, trained_levels
from warpzone.system.cpu import processor_cores
from warpzone.train.curriculum.levels import LevelChooser, LevelCurriculum, RandomLevels
from warpzone.train.curriculum.solutions import read_guides
from warpzone.train.curriculum.starts import PLACE_SPACING, EpisodeStarts

_LARGEST_STATE = 1 << 20
_ALLOW_CPU = "WARPZONE_ALLOW_CPU_AUTO"
Precision = Literal["float32", "bfloat16", "float16"]
_PRECISIONS: dict[Precision, torch.dtype] = {
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
}


def make_env(config: TrainConfig, worker_logs: Path | None = None) -> AnyVectorEnv:
    """The environments of a run; logs of worker processes go to a folder, if one is given."""
    env, workers = config.env, config.workers
    return make_vector_env(
        trained_levels(env),
        num_envs=env.num_envs,
        num_threads=env.num_threads or processor_cores(),
        vector=env.vector,
        backend=env.backend,
        strict_stage=env.strict_stage,
        fallback_sync=workers.fallback_sync,
        workers=WorkerOptions(
            prewarm=workers.prewarm,
            delay=workers.start_delay,
            seconds=workers.stage_seconds or None,
            replacements=workers.replacements,
            folder=worker_logs,
        ),
        autoreset="same-step",
        max_steps=env.max_steps,
        stagnation_limit=env.stagnation_limit,
        reward=config.reward.env_reward,
        weights=config.reward.weights(env.num_envs),
        **env.policy_env_options(),
        power=env.power,
        halfway=env.halfway,
        start_state=_read_state(env.start_state),
        exact=env.exact,
        sticky_prob=env.sticky_prob,
        noop_max=env.noop_max,
        level_order="random" if draws_levels(env) and env.vector != "native" else "cycle",
    )


def _read_state(file: str) -> bytes:
    """The save state that episodes start from; empty for the start of the level."""
    if not file:
        return b""
    try:
        with Path(file).open("rb") as state:
            data = state.read(_LARGEST_STATE + 1)
    except OSError as error:
        raise ConfigError(f"env.start_state {file} cannot be read ({error.strerror})") from error
    if len(data) > _LARGEST_STATE:
        raise ConfigError(f"env.start_state {file} is too large for a save state")
    return data


def make_starts(config: TrainConfig, env: AnyVectorEnv, seed: int) -> EpisodeStarts:
    """Where the episodes of a run begin."""
    options, levels = config.starts, trained_levels(config.env)
    chooser: LevelChooser | None = None
    if config.env.level_order == "curriculum":
        chooser = LevelCurriculum(levels)
    elif draws_levels(config.env) and config.env.vector == "native":
        chooser = RandomLevels(levels, seed)
    guides = (
        read_guides(Path(options.solutions), levels, PLACE_SPACING, config.env.rom or None)
        if options.solutions
        else None
    )
    return EpisodeStarts(env, options, seed, guides=guides, chooser=chooser)


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


def gamma(config: TrainConfig) -> Discount:
    """What the future is worth to a run."""
    return Discount(config.learn.gamma, config.learn.progress_gamma)


def learner_settings(config: TrainConfig) -> LearnerSettings:
    """What the learner needs to know of the configuration."""
    learn = config.learn
    return LearnerSettings(
        algorithm=learn.algo,
        gamma=gamma(config),
        gae_lambda=learn.gae_lambda,
        clip_coef=learn.clip_coef,
        epochs=learn.epochs,
        minibatch_size=learn.minibatch_size,
        grad_accumulation=learn.grad_accumulation,
        vf_coef=learn.vf_coef,
        max_grad_norm=learn.max_grad_norm,
        grad_norm_limit=learn.grad_norm_limit,
        max_skipped_updates=learn.max_skipped_updates,
        target_kl=learn.target_kl,
    )
