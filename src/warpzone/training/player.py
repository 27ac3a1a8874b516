"""Player: plays the environments and accounts for their episodes, one rollout at a time."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpzone.algorithms.ranks import Ranks
from warpzone.config import TrainConfig
from warpzone.models.arithmetic import one_thread
from warpzone.models.tree import as_tree
from warpzone.registry import Wrap
from warpzone.rollout.collector import StepObserver
from warpzone.rollout.rollout_env import Info
from warpzone.rollout.sources import Rollout
from warpzone.runs.level_shares import level_shares
from warpzone.runs.levels import trained_levels
from warpzone.telemetry.episodes import Episode
from warpzone.telemetry.metrics import MetricRow
from warpzone.training.level_track import LevelTrack
from warpzone.training.live_feed import LiveFeed
from warpzone.training.player_parts import PlayerParts
from warpzone.training.random_streams import RandomStreams
from warpzone.training.timed_env import StepWatch

_log = logging.getLogger(__name__)


class Player:
    """Plays the environments with the policy.

    Attributes:
        parts: Environments, network, curriculum and collector.
        storage: Rollout that was taken last.
    """

    def __init__(
        self,
        config: TrainConfig,
        random: RandomStreams,
        ranks: Ranks,
        *,
        worker_logs: Path | None = None,
        wrap: Wrap | None = None,
        observers: Sequence[StepObserver] = (),
        step_watch: StepWatch | None = None,
        live_feed: LiveFeed | None = None,
    ):
        """Creates environments, network and collector; call `begin` for a new run.

        Args:
            config: Configuration of the run.
            random: Random streams of the run.
            ranks: Ranks that learn together.
            worker_logs: Folder for the logs of worker processes; a temporary one by default.
            wrap: Wraps the environments in Gymnasium vector wrappers; overrides the wrapper that
                the configuration names.
            observers: Called after every step, before the player's own.
            step_watch: Notified when each step of the environments begins and ends.
            live_feed: Writes rollouts for viewers of the run.
        """
        self._config, self._random, self._ranks = config, random, ranks
        self._live_feed = live_feed
        self._steps_begun = 0
        levels, num_envs = trained_levels(config.env), config.env.num_envs
        self.level_track = LevelTrack(levels, num_envs, self._level_of)
        self._ended: list[Episode] = []
        self.parts = PlayerParts(
            config,
            random,
            ranks,
            observe=self._observe,
            observers=observers,
            worker_logs=worker_logs,
            wrap=wrap,
            step_watch=step_watch,
        )
        self.storage = self.parts.collector.storage

    def begin(self) -> None:
        """Starts the environments of a new run."""
        for note in self.parts.guidance.notes:
            _log.log(note.level, "%s", note.text)
        _log.info("%s", self.parts.acting)
        self.parts.starts.begin()
        self._begin_episodes(self._config.run.seed)

    def take(self, steps: int) -> Rollout:
        """Returns the next rollout.

        Args:
            steps: Environment steps of the run before this rollout.
        """
        # Inference from tiles for a few dozen environments is too little work for several threads.
        with one_thread() if self._acts_with_one_thread else nullcontext():
            rollout = self.parts.source.take()
        self.storage = rollout.storage
        self._steps_begun = steps + self.rollout_size
        return rollout

    def between_rollouts(self, update: int) -> MetricRow:
        """Does everything that touches the environments, while none of them is stepping.

        Args:
            update: Number of the update that learns from the rollout.
        """
        self._ended += self.parts.episodes.flush()
        self.level_track.write(self.storage)
        overridden = bool(self.storage.overridden.any())
        best = self.parts.statistics.best_progress
        row = self.parts.guidance.after_rollout(
            best, bool(self.parts.statistics.clear_rate), overridden
        )
        if self._live_feed is not None:
            self._live_feed.between_rollouts(
                self.parts.env,
                self.storage,
                self.parts.collector.model,
                update=update,
                resets_known=self.parts.starts.is_idle and not self._config.env.start_state,
            )
        return row | self.parts.starts.metrics()

    def launch(self) -> None:
        """Starts the next rollout if it is collected concurrently with learning."""
        self.parts.source.launch()

    def release(self) -> None:
        """Ends the use of the rollout that was taken last, after learning from it."""
        self.parts.source.release()

    def rollout_metrics(self) -> MetricRow:
        """Returns metrics of the rollout that was taken last."""
        return {
            "reward/sum": float(self.storage.rewards.sum()),
            "rollout/override_share": float(self.storage.overridden.float().mean()),
        }

    def take_episodes(self) -> list[Episode]:
        """Returns the episodes that ended since the last call."""
        ended, self._ended = self._ended, []
        return ended

    @property
    def rollout_size(self) -> int:
        """Environment steps per rollout, of all ranks."""
        return self.storage.steps * self.storage.num_envs * self._ranks.size

    def set_config(self, config: TrainConfig) -> None:
        """Applies options of reward and level shares that were changed between two updates."""
        self._config = config
        self.parts.guidance.set_config(config)
        self.parts.source.wait()  # A rollout that is being collected keeps its rewards.
        self.parts.env.set_reward_weights(**config.reward.weights(self.parts.env.num_envs))
        self.parts.guidance.apply_scales()
        if self.parts.starts.chooser is not None:
            self.parts.starts.chooser.set_factors(level_shares(config.env))

    def close(self) -> None:
        """Stops collecting and closes the environments."""
        self.parts.close()

    def abandon(self, seed: int) -> None:
        """Discards a rollout that failed, unless a complete one waits to be taken.

        Args:
            seed: Seeds the environments if only wrappers know the current observations.
        """
        if not self.parts.source.abandon():
            return
        self.parts.starts.abandon_rollout()
        if self.parts.envs.is_wrapped:
            self._begin_episodes(seed)
        else:
            self._put_current_first()
        self.level_track.begin()

    def _observe(self, info: Info, rewards: NDArray[np.float32], ended: NDArray[np.bool_]) -> None:
        returns = self.parts.returns.add(rewards, ended)
        self.parts.episodes.observe(
            info, ended, self._steps_begun, self.parts.starts.begun, returns
        )
        self.parts.starts.observe(info, ended)
        self.level_track.observe(ended)
        self.parts.guidance.observe(info, ended)

    def _begin_episodes(self, seed: int) -> None:
        self.parts.collector.begin(seed)
        self.parts.starts.read_levels()
        self.level_track.begin()

    def _level_of(self, env: int) -> str:
        """Returns the level of an environment's present episode."""
        return self.parts.starts.begun(env).level

    def _put_current_first(self) -> None:
        """Makes the next rollout start with the current observations."""
        obs, info = self.parts.env.observe()
        self.parts.collector.put_first(as_tree(obs), info["steps"] == 0)

    @property
    def _acts_with_one_thread(self) -> bool:
        run, env = self._config.run, self._config.env
        return env.obs == "tiles" and self.parts.device.type == "cpu" and not run.overlap

    # Saving and restoring.

    def state_dict(self) -> dict[str, Any]:
        """Returns the state of everything that plays, between two updates."""
        self.parts.source.wait()
        return {
            "envs": self._saved_envs(),
            "source": self.parts.source.state_dict(),
            "signals": self.parts.signals.state_dict(),
            "returns": self.parts.returns.state_dict(),
            "episodes": self.parts.episodes.state_dict(),
            "guidance": self.parts.guidance.state_dict(),
            "collector": self.parts.collector.state_dict(),
            "starts": self.parts.starts.state_dict(),
            "statistics": self.parts.statistics.state_dict(),
            "levels": self.level_track.state_dict(),
        }

    def load_state_dict(self, state: dict[str, Any], *, steps: int, session: int) -> None:
        """Resumes exactly from a state, or warns that environments start new episodes.

        Args:
            state: State returned by `state_dict`, perhaps with another number of environments.
            steps: Environment steps of the run.
            session: Number of the session that begins.
        """
        _log.info("%s", self.parts.acting)
        self._steps_begun = steps
        self.parts.statistics.load_state_dict(state["statistics"])
        self.parts.episodes.load_state_dict(state["episodes"])
        if self.parts.env.saves_states and self.fits(state):
            self._load_envs(state)
        else:
            self._begin_anew(state, session)

    def fits(self, state: dict[str, Any]) -> bool:
        """Whether a state has as many environments as this player."""
        return len(state["returns"]["sums"]) == self.parts.env.num_envs

    def _saved_envs(self) -> list[bytes]:
        """Returns the state of every environment; empty if the emulator cannot save its state."""
        if not self.parts.env.saves_states:
            return []
        return [self.parts.env.save_state(index) for index in range(self.parts.env.num_envs)]

    def _load_envs(self, state: dict[str, Any]) -> None:
        self.parts.collector.env.reset(seed=0)
        self.parts.starts.load_state_dict(state["starts"])
        for index, blob in enumerate(state["envs"]):
            self.parts.env.load_state(blob, [index])
        self.parts.envs.follow_states()
        self.parts.signals.load_state_dict(state["signals"])
        self.parts.returns.load_state_dict(state["returns"])
        self.level_track.load_state_dict(state["levels"])
        self.parts.guidance.load_state_dict(state["guidance"])
        if state["collector"].keys() == self.parts.collector.state_dict().keys():
            self.parts.collector.load_state_dict(state["collector"])
            self.parts.source.load_state_dict(state["source"])
        else:  # The checkpoint used another acting path.
            self._put_current_first()
        self.parts.starts.prepare_next()

    def _begin_anew(self, state: dict[str, Any], session: int) -> None:
        env = self._config.env
        reason = f"environments of --backend {env.backend} --vector {env.vector} cannot be saved"
        if not self.fits(state):
            reason = (
                "the checkpoint does not contain these environments (it was written by a cluster, "
                "or with another number of ranks or environments)"
            )
            self.parts.starts.load_knowledge(state["starts"])
            self.parts.starts.begin()
        warnings.warn(
            f"{reason}: all of them start a new episode, so this run will not equal an "
            "uninterrupted one",
            stacklevel=2,
        )
        self.parts.guidance.load_state_dict(state["guidance"], same_episodes=False)
        # Different episodes from those at the start of the run.
        self._begin_episodes(self._random.envs_seed(session))


def without_episodes(state: dict[str, Any]) -> dict[str, Any]:
    """Returns a state whose environments start new episodes when it is loaded."""
    return state | {"returns": {"sums": []}}
