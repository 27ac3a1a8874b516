"""Trainer: collects, learns, counts, and saves or restores its whole state."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from warpzone.algorithms.build import make_algorithm
from warpzone.algorithms.ema import EmaPolicy
from warpzone.algorithms.gradient_step import GradientStep
from warpzone.algorithms.learner import Learner
from warpzone.config import TrainConfig
from warpzone.envs.vector import MarioVectorEnv
from warpzone.models.arithmetic import one_thread
from warpzone.models.build import make_model, place_model
from warpzone.models.tree import as_tree
from warpzone.models.weights import load_weights, strip_compiled
from warpzone.registry import Wrap
from warpzone.rollout.collector import Collector, RolloutCollector, StepObserver
from warpzone.rollout.rollout_env import Info, RolloutEnv
from warpzone.rollout.sources import OverlappedSource, Rollout, SerialSource, Source, snapshot_of
from warpzone.rollout.storage import RolloutStorage
from warpzone.runs.levels import trained_levels
from warpzone.system.cpu import processor_cores
from warpzone.telemetry.episodes import Episode, EpisodeStatistics
from warpzone.telemetry.metrics import MetricRow
from warpzone.training import device
from warpzone.training.acting import choose_acting
from warpzone.training.annealing import Annealing
from warpzone.training.curriculum.demonstrations import demonstrations
from warpzone.training.curriculum.setup import make_starts
from warpzone.training.distillation import DistillationLearning
from warpzone.training.environments import TrainingEnvs, make_signals
from warpzone.training.episode_log import EpisodeLog
from warpzone.training.episode_returns import EpisodeReturns
from warpzone.training.guidance.guidance import Guidance
from warpzone.training.initial_weights import initial_policy
from warpzone.training.level_track import LevelTrack
from warpzone.training.live_feed import LiveFeed
from warpzone.training.native_images import convert_images_natively
from warpzone.training.native_policy import NativePolicy
from warpzone.training.native_rollouts import NativeCollector
from warpzone.training.network import (
    Inference,
    clip_of,
    compile_model,
    make_optimizer,
    match_layout,
    train_only_value_head,
)
from warpzone.training.pace import speed_row
from warpzone.training.random_streams import RandomStreams
from warpzone.training.replay_learning import ReplayLearning
from warpzone.training.teachers import Teachers
from warpzone.training.timed_env import StepWatch, TimedEnv

_log = logging.getLogger(__name__)


class Trainer:
    """Trains a policy, one update at a time."""

    def __init__(
        self,
        config: TrainConfig,
        *,
        worker_logs: Path | None = None,
        wrap: Wrap | None = None,
        observers: Sequence[StepObserver] = (),
        step_watch: StepWatch | None = None,
        live_feed: LiveFeed | None = None,
    ):
        """Creates environments, network, collector and learner; call `begin` for a new run.

        Args:
            config: Configuration of the run.
            worker_logs: Folder for the logs of worker processes; a temporary one by default.
            wrap: Wraps the environments in Gymnasium vector wrappers; overrides the wrapper that
                the configuration names.
            observers: Called after every step, before the trainer's own.
            step_watch: Notified when each step of the environments begins and ends.
            live_feed: Writes rollouts for viewers of the run.
        """
        self.config = config
        self._live_feed = live_feed
        self.steps = self.updates = 0
        self.sessions = 1
        self.elapsed = 0.0
        self._steps_begun = 0
        self._ended: list[Episode] = []
        self.random = RandomStreams(config.run.seed)
        torch.set_num_threads(config.run.torch_threads or processor_cores())
        self.device = device.choose_device(config)
        self.envs = TrainingEnvs(config, wrap, worker_logs)
        self.env = self.envs.base
        self.guidance = Guidance(self.env, config)
        self.acting = choose_acting(
            config,
            self.device,
            self.guidance,
            is_wrapped=self.envs.is_wrapped,
            is_observed=bool(observers),
        )
        self.precision = device.choose_precision(config, self.device, native=self.acting.native)
        self.autocast = device.make_autocast(self.precision, self.device)
        space = self.envs.outer.single_observation_space
        model = make_model(config.model, space, self.envs.actions, config.run.plugins)
        self.model = place_model(model, self.device)
        if not config.run.compile:  # The compiler cannot look into native code.
            convert_images_natively(self.model, space, self.device)
        self.policy = self._make_native_policy() if self.acting.native else None
        self.statistics = EpisodeStatistics()
        self.returns = EpisodeReturns(config.env.num_envs)
        self.episodes = EpisodeLog(self.statistics)
        player = None if self.policy is None else self.policy.player
        self.starts = make_starts(config, self.env, self.random.starts_seed, player)
        levels, num_envs = trained_levels(config.env), config.env.num_envs
        self.level_track = LevelTrack(levels, num_envs, self._level_of)
        self.signals = make_signals(config)
        stepper = self.envs.stepper()
        if step_watch is not None:
            stepper = TimedEnv(stepper, step_watch)
        self.collector = self._make_collector(stepper, [*observers, self._observe])
        self.storage = self.collector.storage
        self.source = self._make_source()
        self.optimizer = make_optimizer(config.learn, self.model, native=self.acting.native)
        self.learner = self._make_learner()
        self.annealing = Annealing(config, self.guidance)
        self.average = EmaPolicy(self.model, config.learn.ema_decay)
        self.replay = self._make_replay() if config.replay.capacity else None
        self.distillation = self._make_distillation() if config.distill.teachers else None
        if config.run.compile:
            for network in dict.fromkeys((self.model, self.collector.model)):
                compile_model(network, Inference(network, self.autocast), self.storage)

    # One update: collect, log, train.

    def begin(self) -> None:
        """Starts the environments of a new run."""
        for note in self.guidance.notes:
            _log.log(note.level, "%s", note.text)
        _log.info("%s", self.acting)
        self.starts.begin()
        policy = initial_policy(self.config)
        if policy is not None:
            load_weights(self.model, policy.model.state_dict())
            self.average.restart(self.model)
        self._begin_episodes(self.config.run.seed)

    def update(self) -> MetricRow:
        """Collects a rollout, learns from it and returns metrics."""
        began = time.perf_counter()
        rollout = self._collect()
        row = self._between_rollouts()
        self.source.launch()
        learning = time.perf_counter()
        row |= self._learn()
        learned = time.perf_counter()
        row |= self._rollout_metrics()
        self.source.release()
        self.steps += self._rollout_size
        self.updates += 1
        wall = time.perf_counter() - began
        self.elapsed += wall
        return row | speed_row(rollout, learned - learning, wall)

    def _collect(self) -> Rollout:
        # Inference from tiles for a few dozen environments is too little work for several threads.
        with one_thread() if self._acts_with_one_thread else nullcontext():
            rollout = self.source.take()
        self.storage = rollout.storage
        self._steps_begun = self.steps + self._rollout_size
        return rollout

    def _between_rollouts(self) -> MetricRow:
        """Does everything that touches the environments, while none of them is stepping."""
        self._ended += self.episodes.flush()
        self.level_track.write(self.storage)
        overridden = bool(self.storage.overridden.any())
        best = self.statistics.best_progress
        row = self.guidance.after_rollout(best, self.success > 0, overridden)
        if self._live_feed is not None:
            self._live_feed.between_rollouts(
                self.env,
                self.storage,
                self.collector.model,
                update=self.updates + 1,
                resets_known=self.starts.is_idle and not self.config.env.start_state,
            )
        if self.distillation is not None:
            self.distillation.push(self.storage, self.starts.clear_rate)
        return row | self.starts.metrics()

    def _learn(self) -> MetricRow:
        rate = self.annealing.learning_rate(self.steps, self.success)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        ent_coef = self.annealing.ent_coef(self.success)
        row: MetricRow = {"learn/learning_rate": rate}
        train_only_value_head(self.model, self.steps < self.config.learn.critic_warmup)
        weights = None if self.distillation is None else self.distillation.reward_weights
        if self.distillation is None or weights is not None:
            row |= self.learner.learn(self.storage, ent_coef, weights)
        if self.distillation is not None:  # Later: PPO needs the policy that collected the rollout.
            row |= self.distillation.learn()
        if self.replay is not None:
            self.replay.push(self.storage)
            row |= self.replay.learn(self.updates, self.steps / self.config.run.steps)
        self.average.update(self.model)
        return row

    def _rollout_metrics(self) -> MetricRow:
        return {
            "reward/sum": float(self.storage.rewards.sum()),
            "rollout/override_share": float(self.storage.overridden.float().mean()),
        }

    def _observe(self, info: Info, rewards: NDArray[np.float32], ended: NDArray[np.bool_]) -> None:
        returns = self.returns.add(rewards, ended)
        self.episodes.observe(info, ended, self._steps_begun, self.starts.begun, returns)
        self.starts.observe(info, ended)
        self.level_track.observe(ended)
        self.guidance.observe(info, ended)

    def _level_of(self, env: int) -> str:
        """Returns the level of an environment's present episode."""
        return self.starts.begun(env).level

    @property
    def _rollout_size(self) -> int:
        return self.storage.steps * self.storage.num_envs

    @property
    def _acts_with_one_thread(self) -> bool:
        run, env = self.config.run, self.config.env
        return env.obs == "tiles" and self.device.type == "cpu" and not run.overlap

    @property
    def success(self) -> float:
        """Clear rate of recent episodes, from 0 to 1."""
        return self.statistics.clear_rate or 0.0

    def take_episodes(self) -> list[Episode]:
        """Returns the episodes that ended since the last call."""
        ended, self._ended = self._ended, []
        return ended

    def counters(self) -> MetricRow:
        """Returns the counters of the run."""
        return {
            "run/steps": self.steps,
            "run/updates": self.updates,
            "run/session": self.sessions,
            "run/elapsed": self.elapsed,
        }

    @property
    def place(self) -> str:
        """Description of device, precision and threads."""
        env = self.config.env
        how = f"on {_threads(env.num_threads or processor_cores())}"
        if env.vector != "native":
            how = f"in {'processes' if env.vector == 'async' else 'turn'} on {env.backend}"
        compiled = ", compiled" if self.config.run.compile else ""
        return (
            f"on {self.device}, {self.precision}{compiled}, PyTorch on "
            f"{_threads(torch.get_num_threads())}, {self.env.num_envs} environments {how}"
        )

    def reconfigure(self, config: TrainConfig) -> None:
        """Applies options of the learner and the reward that were changed between two updates.

        The network, the environments and everything else that is created from options are kept.
        """
        self.config = config
        self.learner.set_options(config.learn)
        self.guidance.set_config(config)
        self.annealing = Annealing(config, self.guidance)
        self.source.wait()  # A rollout that is being collected keeps its rewards.
        self.env.set_reward_weights(**config.reward.weights(self.env.num_envs))
        self.guidance.apply_scales()

    def close(self) -> None:
        """Stops collecting and closes the environments."""
        self.source.close()
        self.envs.outer.close()

    def abandon_update(self) -> None:
        """Restores a consistent state after an update that failed; the environments are kept.

        The rollout is discarded. The next one starts with the current observations, unless it has
        already been collected.
        """
        if self.source.abandon():
            self.starts.abandon_rollout()
            if self.envs.is_wrapped:  # Only wrappers know the current observations.
                self._begin_episodes(self.random.envs_seed(self.sessions + self.updates))
            else:
                self._put_current_first()
            self.level_track.begin()
        self.optimizer.zero_grad(set_to_none=True)

    def _begin_episodes(self, seed: int) -> None:
        self.collector.begin(seed)
        self.starts.read_levels()
        self.level_track.begin()

    def _put_current_first(self) -> None:
        """Makes the next rollout start with the current observations."""
        obs, info = self.env.observe()
        self.collector.put_first(as_tree(obs), info["steps"] == 0)

    # The parts.

    def _make_native_policy(self) -> NativePolicy:
        assert isinstance(self.env, MarioVectorEnv)
        return NativePolicy(self.model, self.env, torch.get_num_threads())

    def _make_storage(self, stepper: RolloutEnv) -> RolloutStorage:
        obs_spaces = stepper.obs_spaces
        if self.policy is not None:
            # Replay samples dense observations: it keeps single frames.
            obs_spaces = self.policy.obs_spaces(obs_spaces if self.config.replay.capacity else {})
        return RolloutStorage(
            self.config.learn.rollout_steps,
            stepper.num_envs,
            obs_spaces,
            self.model.memory.state_size,
            pinned=self.device.type == "cuda",
        )

    def _make_collector(
        self, stepper: RolloutEnv, observers: list[StepObserver]
    ) -> RolloutCollector:
        policy = snapshot_of(self.model) if self.config.run.overlap else self.model
        if self.policy is not None:
            return NativeCollector(
                stepper,
                policy,
                self._make_storage(stepper),
                self.policy,
                self.random.collect,
                observers=observers,
                override=self.guidance.override,
                signals=self.signals,
                after_rollout=self.starts.end_rollout,
            )
        return Collector(
            stepper,
            policy,
            self._make_storage(stepper),
            self.random.collect,
            Inference(policy, self.autocast),
            observers=observers,
            override=self.guidance.override,
            signals=self.signals,
        )

    def _make_source(self) -> Source:
        if not self.config.run.overlap:
            return SerialSource(self.collector)
        spare = self._make_storage(self.collector.env)
        return OverlappedSource(self.collector, self.model, spare)

    def _make_learner(self) -> Learner:
        options = self.config.learn
        scaler = device.make_scaler(self.precision, self.device)
        return Learner(
            self.model,
            make_algorithm(options, self.config.run.plugins),
            GradientStep(self.model, self.optimizer, options, scaler, clip=clip_of(self.optimizer)),
            options,
            generator=self.random.learn,
            autocast=self.autocast,
            levels=len(self.level_track.levels),
        )

    def _make_replay(self) -> ReplayLearning:
        return ReplayLearning(
            self.config.replay,
            self.config.learn,
            self.model,
            obs_spaces=self.collector.env.obs_spaces,
            stacks=self.envs.stacks(self.config),
            num_envs=self.env.num_envs,
            minimize=self.learner.gradient.minimize,
            autocast=self.autocast,
            seed=self.random.replay_seed,
            demonstrations=demonstrations(self.config) if self.config.starts.solutions else (),
        )

    def _make_distillation(self) -> DistillationLearning:
        kernel = None if self.policy is None else self.policy.kernel
        return DistillationLearning(
            Teachers(self.config, kernel),
            self.model,
            self.config.distill,
            minimize=self.learner.gradient.minimize,
            autocast=self.autocast,
            generator=self.random.learn,
        )

    # Everything that an exact resume needs.

    def state_dict(self) -> dict[str, Any]:
        """Returns the state of the whole run between two updates."""
        self.source.wait()
        return {
            "model": strip_compiled(self.model.state_dict()),
            "average": self.average.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "learner": self.learner.state_dict(),
            "random": self.random.state_dict(),
            "envs": self._saved_envs(),
            "source": self.source.state_dict(),
            "signals": self.signals.state_dict(),
            "returns": self.returns.state_dict(),
            "episodes": self.episodes.state_dict(),
            "guidance": self.guidance.state_dict(),
            "replay": {} if self.replay is None else self.replay.state_dict(),
            "distillation": {} if self.distillation is None else self.distillation.state_dict(),
            "collector": self.collector.state_dict(),
            "levels": self.level_track.state_dict(),
            "starts": self.starts.state_dict(),
            "statistics": self.statistics.state_dict(),
            "counters": {
                "steps": self.steps,
                "updates": self.updates,
                "starts": self.sessions,
                "elapsed": self.elapsed,
            },
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Resumes exactly from a state, or warns that environments start new episodes.

        Raises:
            CheckpointError: The weights do not fit the network.
        """
        _log.info("%s", self.acting)
        load_weights(self.model, state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        match_layout(self.optimizer)
        self.learner.load_state_dict(state["learner"])
        self.average.load_state_dict(state["average"])
        self.random.load_state_dict(state["random"])
        self.statistics.load_state_dict(state["statistics"])
        counters = state["counters"]
        self.steps, self.updates = counters["steps"], counters["updates"]
        self._steps_begun = self.steps
        self.sessions = counters["starts"] + 1
        self.elapsed = counters["elapsed"]
        self.episodes.load_state_dict(state["episodes"])
        if self.replay is not None:
            self.replay.load_state_dict(state["replay"])
        if self.distillation is not None:
            self.distillation.load_state_dict(state["distillation"])
        if self.env.saves_states:
            self._load_envs(state)
        else:
            self._begin_anew(state)

    def _saved_envs(self) -> list[bytes]:
        """Returns the state of every environment; empty if the emulator cannot save its state."""
        if not self.env.saves_states:
            return []
        return [self.env.save_state(index) for index in range(self.env.num_envs)]

    def _load_envs(self, state: dict[str, Any]) -> None:
        self.collector.env.reset(seed=0)
        self.starts.load_state_dict(state["starts"])
        for index, blob in enumerate(state["envs"]):
            self.env.load_state(blob, [index])
        self.envs.follow_states()
        self.signals.load_state_dict(state["signals"])
        self.returns.load_state_dict(state["returns"])
        self.level_track.load_state_dict(state["levels"])
        self.guidance.load_state_dict(state["guidance"])
        if state["collector"].keys() == self.collector.state_dict().keys():
            self.collector.load_state_dict(state["collector"])
            self.source.load_state_dict(state["source"])
        else:  # The checkpoint used another acting path.
            self._put_current_first()
        self.starts.prepare_next()

    def _begin_anew(self, state: dict[str, Any]) -> None:
        env = self.config.env
        warnings.warn(
            f"environments of --backend {env.backend} --vector {env.vector} cannot be saved: all "
            "of them start a new episode, so this run will not equal an uninterrupted one",
            stacklevel=2,
        )
        self.guidance.load_state_dict(state["guidance"], same_episodes=False)
        # Different episodes from those at the start of the run.
        self._begin_episodes(self.random.envs_seed(self.sessions))


def _threads(count: int) -> str:
    return f"{count} thread" if count == 1 else f"{count} threads"
