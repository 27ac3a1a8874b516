"""Environments of a run, and their adapter for the collector."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from gymnasium import spaces
from gymnasium.vector import VectorEnv

from warpzone.config import TrainConfig
from warpzone.config.names import is_built_in
from warpzone.envs.info_reward import InfoReward
from warpzone.envs.training_signals import TrainingSignals
from warpzone.envs.vectors.make import AnyVectorEnv, make_vector_env
from warpzone.envs.vectors.options import WorkerOptions
from warpzone.envs.wrapping import wrapped
from warpzone.errors import ConfigError
from warpzone.models.tree import IMAGE
from warpzone.registry import NO_WRAPPER, Wrap, rewards, wrappers
from warpzone.rollout.rollout_env import DirectEnv, RolloutEnv, SteppedEnv
from warpzone.runs.levels import draws_levels, trained_levels
from warpzone.system.cpu import processor_cores

_MAX_STATE_BYTES = 1 << 20

Autoreset = Literal["same-step", "disabled"]


class TrainingEnvs:
    """Environments of a run, with or without wrappers.

    Attributes:
        base: Environments without wrappers, for save states, levels and reward weights.
        outer: Environments inside a registered reward and the user's wrappers, if any.
    """

    def __init__(
        self, config: TrainConfig, wrap: Wrap | None = None, worker_logs: Path | None = None
    ):
        """Creates the environments.

        Args:
            config: Configuration of the run.
            wrap: Wraps the environments; overrides the wrapper that the configuration names.
            worker_logs: Folder for the logs of worker processes; a temporary one by default.

        Raises:
            ConfigError: `wrap` does not return a wrapper of the environments.
        """
        plugins = config.run.plugins
        if wrap is None and config.env.wrap != NO_WRAPPER:
            wrap = wrappers.get(config.env.wrap, plugins)
        own_reward = not is_built_in("reward", config.reward.kind)
        function = rewards.get(config.reward.kind, plugins) if own_reward else None
        plain = wrap is None and function is None
        self.base = make_env(config, "same-step" if plain else "disabled", worker_logs)
        self._reward = (
            None if function is None else InfoReward(self.base, function, config.reward.kind)
        )
        self.outer: VectorEnv[Any, Any, Any] = self._reward or self.base
        self._changes_observations = wrap is not None
        if wrap is not None:
            try:
                self.outer = wrapped(self.outer, wrap)
            except BaseException:
                self.base.close()
                raise

    @property
    def is_wrapped(self) -> bool:
        """Whether there are wrappers; a registered reward is one."""
        return self.outer is not self.base

    def follow_states(self) -> None:
        """Makes a registered reward start from the current states, after they were loaded."""
        if self._reward is not None:
            self._reward.begin_from(self.base.observe()[1])

    @property
    def actions(self) -> int:
        """Number of actions.

        Raises:
            ConfigError: A wrapper changed the action space to one that is not discrete.
        """
        space = self.outer.single_action_space
        if not isinstance(space, spaces.Discrete):
            raise ConfigError(f"the wrapped action space is {space}; it must stay Discrete")
        return int(space.n)

    def stepper(self) -> RolloutEnv:
        """Returns the adapter for the collector."""
        return SteppedEnv(self.outer) if self.is_wrapped else DirectEnv(self.base)

    def stacks(self, config: TrainConfig) -> dict[str, int]:
        """Returns the parts of an observation that are frame stacks, with the number of frames.

        Wrappers may change frames arbitrarily, so wrapped environments have none.
        """
        if self._changes_observations:
            return {}
        name = "tiles" if config.env.obs == "tiles" else IMAGE
        return {name: config.env.stacked_frames}


def make_env(
    config: TrainConfig, autoreset: Autoreset = "same-step", worker_logs: Path | None = None
) -> AnyVectorEnv:
    """Creates the environments of a run; logs of worker processes go to the given folder."""
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
        autoreset=autoreset,
        max_steps=env.max_steps,
        stagnation_limit=env.stagnation_limit,
        reward=config.reward.env_reward,
        weights=config.reward.weights(env.num_envs),
        **env.policy_env_options(),
        power=env.power,
        random_power=env.random_power,
        reseed_game=env.reseed_game,
        start_random_steps=config.starts.random_steps,
        halfway=env.halfway,
        start_state=_read_state(env.start_state),
        exact=env.exact,
        sticky_prob=env.sticky_prob,
        sticky=env.sticky,
        noop_max=env.noop_max,
        game_start_prob=env.game_start_prob,
        level_order="random" if draws_levels(env) and env.vector != "native" else "cycle",
    )


def _read_state(file: str) -> bytes:
    """Reads the save state that episodes start from; empty for the start of the level."""
    if not file:
        return b""
    try:
        with Path(file).open("rb") as state:
            data = state.read(_MAX_STATE_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"env.start_state {file} cannot be read ({error.strerror})") from error
    if len(data) > _MAX_STATE_BYTES:
        raise ConfigError(f"env.start_state {file} is too large for a save state")
    return data


def make_signals(config: TrainConfig) -> TrainingSignals:
    """Creates the signals that the collector reads from infos."""
    env = config.env
    return TrainingSignals(
        env.num_envs,
        env.stagnation_limit * env.frame_skip,
        stagnation_penalty=config.learn.stagnation_penalty,
    )
