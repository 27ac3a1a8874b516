"""The configuration of a run: a tree of frozen dataclasses, and checks that span tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from warpzone.config.distillation import DistillOptions
from warpzone.config.environment import EnvOptions, RewardOptions, StartOptions, WorkerOptions
from warpzone.config.guidance import AdaptiveOptions, RescueOptions, ScriptOptions
from warpzone.config.learning import LearnOptions, ModelOptions, ReplayOptions
from warpzone.config.names import check_name, plugins_of
from warpzone.config.option import Option, options_of, table, tables_of
from warpzone.config.run import RunOptions, WatchOptions
from warpzone.config.values import check_value, show
from warpzone.errors import ConfigError


@dataclass(frozen=True)
class TrainConfig:
    """The whole configuration of a training run."""

    env: EnvOptions = table(EnvOptions)
    workers: WorkerOptions = table(WorkerOptions)
    starts: StartOptions = table(StartOptions, prefix="start-")
    reward: RewardOptions = table(RewardOptions, prefix="reward-")
    model: ModelOptions = table(ModelOptions)
    learn: LearnOptions = table(LearnOptions)
    replay: ReplayOptions = table(ReplayOptions, prefix="replay-")
    distill: DistillOptions = table(DistillOptions, prefix="distill-")
    script: ScriptOptions = table(ScriptOptions, prefix="script-")
    rescue: RescueOptions = table(RescueOptions, prefix="rescue-")
    adaptive: AdaptiveOptions = table(AdaptiveOptions, prefix="adaptive-")
    watch: WatchOptions = table(WatchOptions)
    run: RunOptions = table(RunOptions)

    @property
    def rollout_size(self) -> int:
        """Environment steps per rollout, over all environments."""
        return self.env.num_envs * self.learn.rollout_steps

    def value(self, option: Option) -> Any:
        """Returns the value of an option."""
        return getattr(getattr(self, option.table), option.name)

    def with_plugins(self) -> TrainConfig:
        """Returns the configuration with the plug-ins that registered the names it uses."""
        used = plugins_of((o.registry, self.value(o)) for o in train_options() if o.registry)
        plugins = tuple(dict.fromkeys((*self.run.plugins, *used)))
        return replace(self, run=replace(self.run, plugins=plugins))

    def verify(self) -> None:
        """Checks every value, and that the values are consistent with each other.

        Raises:
            ConfigError: A value is invalid; the message names the option and the allowed values.
        """
        for option in train_options():
            value = check_value(option, self.value(option), option.path)
            if option.registry:
                check_name(option.registry, value, self.run.plugins)
        _check_batches(self)
        _check_vector(self)
        _check_observation(self)
        _check_adaptive(self.adaptive)
        _check_distillation(self)


@cache
def train_options() -> tuple[Option, ...]:
    """Returns every option of a run, table by table."""
    return tuple(_all_options())


def _all_options() -> Iterator[Option]:
    for name, options, prefix in tables_of(TrainConfig):
        yield from options_of(options, name, prefix)


def _check_batches(config: TrainConfig) -> None:
    envs, steps, batch = config.env.num_envs, config.learn.rollout_steps, config.rollout_size
    if config.learn.minibatch_size > batch:
        raise ConfigError(
            f"learn.minibatch_size is {config.learn.minibatch_size}, but a rollout has only "
            f"{envs} environments x {steps} steps = {batch}"
        )
    capacity, memory = config.replay.capacity, config.model.memory
    if 0 < capacity < batch:
        raise ConfigError(
            f"replay.capacity is {capacity}; it must be 0, or hold at least one rollout ({envs} "
            f"environments x {steps} steps = {batch})"
        )
    if capacity and memory != "none":
        raise ConfigError(
            f"replay.capacity is {capacity} and model.memory is {memory!r}; replay samples single "
            "steps, which a recurrent network cannot learn from: set one of them to 0 or 'none'"
        )


def _check_vector(config: TrainConfig) -> None:
    env, starts = config.env, config.starts
    if env.vector == "native":
        if env.backend != "native":
            raise ConfigError(
                f"env.vector 'native' does not run {env.backend}; use --vector async or sync"
            )
        return
    for needs, given in (
        (f"starts.share {show(starts.share)}", starts.share > 0),
        (f"starts.solutions {starts.solutions!r}", bool(starts.solutions)),
        ("env.level_order 'curriculum'", env.level_order == "curriculum"),
    ):
        if given:
            raise ConfigError(
                f"{needs} needs save states; use --vector native instead of {env.vector}, or omit "
                "it"
            )
    if env.backend == "nes-py" and (env.start_state or env.exact):
        name = "start_state" if env.start_state else "exact"
        raise ConfigError(f"env.{name} needs --backend native; nes-py does not support it")


def _check_observation(config: TrainConfig) -> None:
    obs, encoder = config.env.obs, config.model.encoder
    if encoder == "tiles" and obs != "tiles":
        raise ConfigError("model.encoder is 'tiles', which needs env.obs 'tiles'")
    if encoder in ("space-to-depth", "nature", "impala") and obs == "tiles":
        raise ConfigError(f"model.encoder is {encoder!r}, which needs env.obs 'pixels' or 'rgb'")
    _check_size(config)
    if obs == "tiles" and config.env.max_pool:
        raise ConfigError("env.max_pool is on, which needs env.obs 'pixels' or 'rgb'")


def _check_size(config: TrainConfig) -> None:
    """Checks that the built-in encoders support the image size."""
    encoder, (height, width) = config.model.encoder, config.env.size
    given = [side for side in (height, width) if side]  # The default suits every encoder.
    if config.env.obs == "tiles" or not given:
        return
    shortest = 36 if encoder == "nature" else 8
    if min(given) < shortest:
        raise ConfigError(
            f"env.size is {height}x{width}; each side must be at least {shortest} for "
            f"model.encoder {encoder!r}"
        )
    if encoder in ("auto", "space-to-depth") and any(side % 4 for side in given):
        raise ConfigError(
            f"env.size is {height}x{width}; model.encoder 'space-to-depth' needs multiples of 4: "
            "choose another size, or --encoder nature"
        )


def _check_distillation(config: TrainConfig) -> None:
    if not config.distill.teachers:
        return
    for option, value, applies in (
        ("model.memory", config.model.memory, config.model.memory != "none"),
        ("replay.capacity", config.replay.capacity, config.replay.capacity > 0),
        ("env.vector", config.env.vector, config.env.vector != "native"),
    ):
        if applies:
            raise ConfigError(
                f"{option} is {show(value)}, which does not work with teachers; leave it or "
                "--teachers out"
            )
    if config.distill.release > 0:
        _check_release(config)


def _check_release(config: TrainConfig) -> None:
    learn = config.learn
    for option, value, needed in (
        ("learn.algo", learn.algo, "ppo"),
        ("learn.advantage_norm", learn.advantage_norm, "level"),
    ):
        if value != needed:
            raise ConfigError(
                f"{option} is {value!r}, but rewards can take over from teachers "
                f"(--distill-release) only with {needed!r}"
            )


def _check_adaptive(adaptive: AdaptiveOptions) -> None:
    low, high = adaptive.thresholds
    if low > high:
        raise ConfigError(
            f"adaptive.thresholds is {show(adaptive.thresholds)}; the first value must not exceed "
            "the second"
        )
    for name in ("distance_bounds", "entropy_bounds", "lr_bounds"):
        low, high = getattr(adaptive, name)
        if not low <= 1.0 <= high:
            raise ConfigError(
                f"adaptive.{name} is {show((low, high))}; the bounds must include 1, which means "
                "unchanged"
            )
