"""Parts of a player: environments, network, native copy, curriculum, collector and source."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch

from warpzone.algorithms.ranks import Ranks
from warpzone.config import TrainConfig
from warpzone.envs.vector import MarioVectorEnv
from warpzone.models.build import make_model, place_model
from warpzone.registry import Wrap
from warpzone.rollout.collector import Collector, RolloutCollector, StepObserver
from warpzone.rollout.rollout_env import RolloutEnv
from warpzone.rollout.sources import OverlappedSource, SerialSource, Source, snapshot_of
from warpzone.rollout.storage import RolloutStorage
from warpzone.telemetry.episodes import EpisodeStatistics
from warpzone.training import device
from warpzone.training.acting import choose_acting
from warpzone.training.curriculum.setup import make_starts
from warpzone.training.environments import TrainingEnvs, make_signals
from warpzone.training.episode_log import EpisodeLog
from warpzone.training.episode_returns import EpisodeReturns
from warpzone.training.guidance.guidance import Guidance
from warpzone.training.native_images import (
    convert_images_natively,
    convolve_natively,
    convolves_natively,
)
from warpzone.training.native_policy import NativePolicy
from warpzone.training.native_rollouts import NativeCollector
from warpzone.training.network import Inference, compile_model
from warpzone.training.random_streams import RandomStreams
from warpzone.training.timed_env import StepWatch, TimedEnv


class PlayerParts:
    """Everything that plays, built from the configuration of a run.

    Attributes:
        env: Environments without wrappers.
        model: Network of the run, on its device; the learner changes its weights.
        policy: Native copy of the network; None if PyTorch chooses the actions.
        native_layers: Whether native code computes layers of the network.
        collector: Fills storages with rollouts.
        source: Supplies the rollouts, in turn with learning or concurrently.
        statistics: Statistics of finished episodes.
    """

    def __init__(
        self,
        config: TrainConfig,
        random: RandomStreams,
        ranks: Ranks,
        *,
        observe: StepObserver,
        observers: Sequence[StepObserver] = (),
        worker_logs: Path | None = None,
        wrap: Wrap | None = None,
        step_watch: StepWatch | None = None,
    ):
        """Builds the parts.

        Args:
            config: Configuration of the run.
            random: Random streams of the run.
            ranks: Ranks that learn together.
            observe: Called for every step, perhaps only after the rollout.
            observers: Called after every step as it is taken, before `observe`.
            worker_logs: Folder for the logs of worker processes; a temporary one by default.
            wrap: Wraps the environments in Gymnasium vector wrappers; overrides the wrapper that
                the configuration names.
            step_watch: Notified when each step of the environments begins and ends.
        """
        self._config, self._random = config, random
        self.device = device.choose_device(config)
        self.envs = TrainingEnvs(config, wrap, worker_logs)
        self.env = self.envs.base
        self.guidance = Guidance(self.env, config, ranks)
        self.acting = choose_acting(
            config,
            self.device,
            self.guidance,
            is_wrapped=self.envs.is_wrapped,
            is_observed=bool(observers),
        )
        space = self.envs.outer.single_observation_space
        model = make_model(config.model, space, self.envs.actions, config.run.plugins)
        self.model = place_model(model, self.device)
        convolves = convolves_natively(self.model, space, self.device, config.run)
        self.native_layers = self.acting.native or convolves
        self.precision = device.choose_precision(config, self.device, native=self.native_layers)
        self.autocast = device.make_autocast(self.precision, self.device)
        if convolves:
            convolve_natively(self.model, space)
        elif not config.run.compile:  # The compiler cannot look into native code.
            convert_images_natively(self.model, space, self.device)
        self.policy = self._make_native_policy() if self.acting.native else None
        self.statistics = EpisodeStatistics()
        self.returns = EpisodeReturns(config.env.num_envs)
        self.episodes = EpisodeLog(self.statistics, config.env.num_envs, ranks)
        player = None if self.policy is None else self.policy.player
        self.starts = make_starts(config, self.env, random.starts_seed, player)
        self.signals = make_signals(config)
        stepper = self.envs.stepper()
        if step_watch is not None:
            stepper = TimedEnv(stepper, step_watch)
        self.collector = self._make_collector(stepper, [*observers, observe])
        self.source = self._make_source()

    def compile(self) -> None:
        """Compiles the networks that learn and act."""
        for network in dict.fromkeys((self.model, self.collector.model)):
            infer = Inference(network, self.autocast)
            compile_model(network, infer, self.collector.storage)

    def close(self) -> None:
        """Stops collecting and closes the environments."""
        self.source.close()
        self.envs.outer.close()

    def _make_native_policy(self) -> NativePolicy:
        assert isinstance(self.env, MarioVectorEnv)
        return NativePolicy(self.model, self.env, torch.get_num_threads())

    def _make_storage(self, stepper: RolloutEnv) -> RolloutStorage:
        obs_spaces = stepper.obs_spaces
        if self.policy is not None:
            # Replay samples dense observations: it keeps single frames.
            obs_spaces = self.policy.obs_spaces(obs_spaces if self._config.replay.capacity else {})
        return RolloutStorage(
            self._config.learn.rollout_steps,
            stepper.num_envs,
            obs_spaces,
            self.model.memory.state_size,
            pinned=self.device.type == "cuda",
        )

    def _make_collector(
        self, stepper: RolloutEnv, observers: list[StepObserver]
    ) -> RolloutCollector:
        policy = snapshot_of(self.model) if self._config.run.overlap else self.model
        if self.policy is not None:
            return NativeCollector(
                stepper,
                policy,
                self._make_storage(stepper),
                self.policy,
                self._random.collect,
                observers=observers,
                override=self.guidance.override,
                signals=self.signals,
                after_rollout=self.starts.end_rollout,
            )
        return Collector(
            stepper,
            policy,
            self._make_storage(stepper),
            self._random.collect,
            Inference(policy, self.autocast),
            observers=observers,
            override=self.guidance.override,
            signals=self.signals,
        )

    def _make_source(self) -> Source:
        if not self._config.run.overlap:
            return SerialSource(self.collector)
        spare = self._make_storage(self.collector.env)
        return OverlappedSource(self.collector, self.model, spare)
