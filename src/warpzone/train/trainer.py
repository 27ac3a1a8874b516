"""One run's moving parts: collect, learn, count, and give or take their whole state."""

from __future__ import annotations

import logging
import time
import warnings
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from warpzone.algorithms.ema import EmaPolicy
from warpzone.algorithms.learner import Learner
from warpzone.algorithms.schedules import lerp, scheduled
from warpzone.config import TrainConfig
from warpzone.envs.setup import feature_names
from warpzone.models.actor_critic import ActorCritic, Decision, Obs
from warpzone.models.arithmetic import one_thread
from warpzone.models.build import make_model, place_model
from warpzone.models.placement import to_device
from warpzone.models.weights import load_weights, strip_compiled
from warpzone.rollout.collector import Collector, Info
from warpzone.rollout.sources import snapshot_of
from warpzone.rollout.storage import RolloutStorage
from warpzone.system.cpu import processor_cores
from warpzone.telemetry.episodes import EpisodeStatistics
from warpzone.telemetry.metrics import MetricRow
from warpzone.train import build
from warpzone.train.curriculum.demonstrations import demonstrations
from warpzone.train.episode_log import EpisodeLog
from warpzone.train.guidance.guidance import Guidance
from warpzone.train.pace import speed_row
from warpzone.train.random_streams import RandomStreams
from warpzone.train.replay_learning import ReplayLearning

_log = logging.getLogger(__name__)


class Trainer:
    """Trains a policy, an update at a time."""

    def __init__(self, config: TrainConfig, worker_logs: Path | None = None):
        """Builds environment, network, collector and learner; nothing is played yet.

        Args:
            config: The configuration.
            worker_logs: Folder for the logs of worker processes; temporary without one.
        """
        self.config = config
        self.random = RandomStreams(config.run.seed)
        torch.set_num_threads(config.run.torch_threads or processor_cores())
        self.device = build.choose_device(config)
        self.env = build.make_env(config, worker_logs)
        space, actions = self.env.single_observation_space, len(self.env.config.actions)
        model = make_model(config.model, space, actions, feature_names())
        self.model = place_model(model, self.device)
        self.precision = build.choose_precision(config, self.device)
        self.autocast = build.make_autocast(self.precision, self.device)
        self.storage = self._make_storage()
        self.guidance = Guidance(self.env, config)
        policy = snapshot_of(self.model) if config.run.overlap else self.model
        self.collector = Collector(
            self.env, policy, self.storage, self.random.collect, partial(self._infer, policy)
        )
        self.collector.override = self.guidance.override
        self.collector.patience = config.env.stagnation_limit * config.env.frame_skip
        self.source = build.make_source(self.collector, self.model, self._make_storage)
        self.optimizer = build.make_optimizer(config, self.model)
        self.learner = Learner(
            self.model,
            self.optimizer,
            build.learner_settings(config),
            self.random.learn,
            self.autocast,
            scaler=build.make_scaler(self.precision, self.device),
        )
        self.average = EmaPolicy(self.model, config.learn.ema_decay)
        self.statistics = EpisodeStatistics()
        self.episodes = EpisodeLog(self.statistics)
        self.starts = build.make_starts(config, self.env, self.random.starts_seed)
        self.collector.observers.append(self._observe)
        self.replay = self._make_replay() if config.replay.capacity else None
        if config.run.compile:
            for model in dict.fromkeys((self.model, policy)):
                build.compile_model(model, partial(self._try_out, model))
        # A choice from tiles for some dozens of games is too little to share.
        small = config.env.obs == "tiles" and self.device.type == "cpu"
        self._plays_with_one_thread = small and not config.run.overlap
        self.steps = self.updates = 0
        self._played = 0
        self.sessions = 1
        self.elapsed = 0.0

    def begin(self) -> None:
        """Starts the games of a new run."""
        for note in self.guidance.notes:
            _log.log(note.level, "%s", note.text)
        self.collector.begin(self.config.run.seed)

    def update(self) -> MetricRow:
        """One rollout and what is learned from it."""
        began = time.perf_counter()
        with one_thread() if self._plays_with_one_thread else nullcontext():
            rollout = self.source.take()
        self.storage = rollout.storage
        self._played = self.steps + self._batch
        self.episodes.flush()
        forced = bool(self.storage.forced.any())
        row = self.guidance.after_rollout(self.statistics.best_progress, self.success > 0, forced)
        row |= self.starts.metrics()
        self.source.launch()
        learning = time.perf_counter()
        rate = self._apply_schedules()
        row |= self.learner.learn(self.storage, self._entropy_weight())
        if self.replay is not None:
            self.replay.push(self.storage)
            row |= self.replay.learn(self.updates, self.steps / self.config.run.steps)
        self.average.update(self.model)
        learned = time.perf_counter()
        row["reward/sum"] = float(self.storage.rewards.sum())
        row["rollout/override_share"] = float(self.storage.forced.float().mean())
        self.source.release()
        self.steps += self._batch
        self.updates += 1
        wall = time.perf_counter() - began
        self.elapsed += wall
        return row | {"learn/learning_rate": rate} | speed_row(rollout, learned - learning, wall)

    @property
    def _batch(self) -> int:
        return self.storage.steps * self.storage.lanes

    def counters(self) -> MetricRow:
        """Where the run stands."""
        return {
            "run/steps": self.steps,
            "run/updates": self.updates,
            "run/session": self.sessions,
            "run/elapsed": self.elapsed,
        }

    @property
    def place(self) -> str:
        """Where and how it is computed, for people."""
        env = self.config.env
        games = f"on {_threads(env.num_threads or processor_cores())}"
        if env.vector != "native":
            games = f"in {'processes' if env.vector == 'async' else 'turn'} on {env.backend}"
        compiled = ", compiled" if self.config.run.compile else ""
        return (
            f"on {self.device}, {self.precision}{compiled}, arithmetic on "
            f"{_threads(torch.get_num_threads())}, {self.env.num_envs} games {games}"
        )

    @property
    def success(self) -> float:
        """Clears among the last episodes, from 0 to 1."""
        return self.statistics.clear_rate or 0.0

    def close(self) -> None:
        """Ends the games."""
        self.source.close()
        self.env.close()

    def abandon_update(self) -> None:
        """Makes the state whole after an update that broke off: the games stay where they are.

        Its rollout is forgotten; the next one begins with what the lanes see now, unless it was
        collected already.
        """
        if self.source.abandon():
            obs, info = self.env.observe()
            self.collector.storage.put_first(obs)
            self.collector.storage.first[0] = torch.from_numpy(info["steps"] == 0)
        self.optimizer.zero_grad(set_to_none=True)

    # What training depends on besides weights: success so far and steps done.

    def _apply_schedules(self) -> float:
        learn = self.config.learn
        total = self.config.run.steps
        rate = learn.learning_rate * scheduled(
            learn.lr_schedule,
            self.steps / total,
            learn.lr_final_factor,
            learn.lr_warmup,
            self._batch / total,
        )
        rate *= lerp(1.0, learn.lr_success_factor, self.success)
        rate = self.guidance.rate(rate)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        return rate

    def _entropy_weight(self) -> float:
        learn = self.config.learn
        faded = self.success**learn.ent_coef_fade
        annealed = lerp(learn.ent_coef, learn.ent_coef_at_success, faded)
        return self.guidance.entropy(annealed)

    def _infer(
        self, model: ActorCritic, obs: Obs, state: torch.Tensor, first: torch.Tensor
    ) -> Decision:
        with self.autocast():
            decision = model.step(*to_device((obs, state, first), self.device))
        return decision._replace(logits=decision.logits.cpu(), values=decision.values.cpu())

    @torch.inference_mode()
    def _try_out(self, model: ActorCritic) -> None:
        self._infer(
            model,
            self.storage.obs(0),
            self.model.initial_state(self.storage.lanes),
            self.storage.first[0],
        )

    def _observe(self, info: Info, ended: NDArray[np.bool_]) -> None:
        self.episodes.observe(info, ended, self._played, self.starts.begun)
        self.starts.observe(info, ended)
        self.guidance.observe(info, ended)

    def _make_storage(self) -> RolloutStorage:
        return RolloutStorage(
            self.config.learn.rollout_steps,
            self.config.env.num_envs,
            self.env.single_observation_space,
            self.model.memory.state_size,
            pinned=self.device.type == "cuda",
        )

    def _make_replay(self) -> ReplayLearning:
        return ReplayLearning(
            self.config,
            self.env.single_observation_space,
            self.model,
            apply=self.learner.take_step,
            autocast=self.autocast,
            seed=self.random.replay_seed,
            shown=demonstrations(self.config) if self.config.starts.solutions else (),
        )

    # Everything that an exact resume needs.

    def state_dict(self) -> dict[str, Any]:
        """The whole run between two updates."""
        self.source.settle()
        return {
            "model": strip_compiled(self.model.state_dict()),
            "average": self.average.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "learner": self.learner.state_dict(),
            "random": self.random.state_dict(),
            "lanes": self._saved_lanes(),
            "source": self.source.state_dict(),
            "episodes": self.episodes.state_dict(),
            "guidance": self.guidance.state_dict(),
            "replay": {} if self.replay is None else self.replay.state_dict(),
            "memory": self.collector.state,
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
        """Goes on exactly where `state_dict` was taken, or says that new episodes must begin.

        Raises:
            CheckpointError: When the network has other parts.
        """
        load_weights(self.model, state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.learner.load_state_dict(state["learner"])
        self.average.load_state_dict(state["average"])
        self.random.load_state_dict(state["random"])
        self.statistics.load_state_dict(state["statistics"])
        counters = state["counters"]
        self.steps, self.updates = counters["steps"], counters["updates"]
        self._played = self.steps
        self.sessions = counters["starts"] + 1
        self.elapsed = counters["elapsed"]
        self.episodes.load_state_dict(state["episodes"])
        if self.replay is not None:
            self.replay.load_state_dict(state["replay"])
        if self.env.saves_states:
            self._load_games(state)
        else:
            self._begin_anew(state)

    def _saved_lanes(self) -> list[bytes]:
        """The state of every lane; none where a machine keeps its own to itself."""
        if not self.env.saves_states:
            return []
        return [self.env.save_state(lane) for lane in range(self.env.num_envs)]

    def _load_games(self, state: dict[str, Any]) -> None:
        self.env.reset(seed=0)
        self.starts.load_state_dict(state["starts"])
        for lane, blob in enumerate(state["lanes"]):
            self.env.load_state(blob, [lane])
        self.source.load_state_dict(state["source"])
        self.guidance.load_state_dict(state["guidance"])
        self.collector.state = to_device(state["memory"], self.device)
        self.starts.prepare_next()

    def _begin_anew(self, state: dict[str, Any]) -> None:
        env = self.config.env
        warnings.warn(
            f"games of --backend {env.backend} --vector {env.vector} cannot be saved: every one "
            "begins a new episode, so this run will not equal one that was never interrupted",
            stacklevel=2,
        )
        # Pilot and meter follow episodes, and those are gone; what was judged of the run is not.
        self.guidance.load_state_dict(
            self.guidance.state_dict()
            | {part: state["guidance"][part] for part in ("rescue", "adaptive")}
        )
        # Other games than those that the run began with.
        self.collector.begin(self.random.games_seed(self.sessions))


def _threads(count: int) -> str:
    return f"{count} thread" if count == 1 else f"{count} threads"
