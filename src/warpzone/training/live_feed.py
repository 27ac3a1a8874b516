"""Writes rollouts for viewers of a run, on request only.

Between two rollouts, no environment steps. The feed then saves the states of the requested
environments, and after the next rollout it writes them with the actions that followed, which are in
the learner's storage anyway. Steps have no overhead.
"""

from __future__ import annotations

import logging
from typing import NamedTuple

import numpy as np
import torch

from warpzone.envs.vectors.make import AnyVectorEnv
from warpzone.models.actor_critic import ActorCritic
from warpzone.models.placement import to_device
from warpzone.models.tree import map_tree
from warpzone.rollout.storage import RolloutStorage
from warpzone.runs.directory import RunDirectory
from warpzone.runs.live_rollout import LiveRequest, LiveRollout, read_request, write_rollout

_log = logging.getLogger(__name__)


class LiveFeed:
    """Answers each request once; without requests, it costs one system call per update."""

    def __init__(self, run: RunDirectory) -> None:
        """Creates a feed without a request."""
        self._run = run
        self._answered = ""
        self._begun: _Begun | None = None

    def between_rollouts(
        self,
        env: AnyVectorEnv,
        storage: RolloutStorage,
        model: ActorCritic,
        *,
        update: int,
        resets_known: bool,
    ) -> None:
        """Writes a rollout that was requested before it began, or prepares the next one.

        Args:
            env: Environments, none of which is stepping.
            storage: Rollout that has just been collected.
            model: Policy that collected the rollout.
            update: Number of the update that learns from the rollout.
            resets_known: Whether the environments choose the starts of episodes themselves.
        """
        if self._begun is not None:
            begun, self._begun = self._begun, None
            self._answered = begun.request.sequence
            rollout = begun.followed_by(storage, model, update, resets_known)
            try:
                write_rollout(self._run, rollout)
            except OSError as error:
                _log.warning("the environments cannot be shown: %s", error)
        if not env.saves_states:
            return
        asked = read_request(self._run, env.num_envs)
        if asked is not None and asked.sequence != self._answered:
            levels = env.levels()
            self._begun = _Begun(
                asked,
                [env.save_state(index) for index in asked.envs],
                tuple(levels[index] for index in asked.envs),
            )


class _Begun(NamedTuple):
    """State of the requested environments before a rollout."""

    request: LiveRequest
    states: list[bytes]
    levels: tuple[str, ...]

    def followed_by(
        self, storage: RolloutStorage, model: ActorCritic, update: int, resets_known: bool
    ) -> LiveRollout:
        """Returns the rollout after it was collected."""
        envs = list(self.request.envs)
        return LiveRollout(
            sequence=self.request.sequence,
            update=update,
            resets_known=resets_known,
            envs=self.request.envs,
            levels=self.levels,
            states=self.states,
            actions=storage.actions[:, envs].numpy(),
            ended=storage.ended[:, envs].numpy(),
            rewards=storage.rewards[:, envs].numpy(),
            values=storage.values[:, envs].numpy(),
            details=self.request.details,
            probabilities=_probabilities(storage, model, list(self.request.details)),
        )


@torch.no_grad()
def _probabilities(
    storage: RolloutStorage, model: ActorCritic, envs: list[int]
) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """Returns the policy's probability of every action, [T, D, A]."""
    if not envs:
        return np.zeros((0, 0, 0), np.float32)
    obs = map_tree(lambda part: part[:, envs], storage.all_obs())
    inputs = (obs, storage.state[envs], storage.first[: storage.steps, envs])
    device = next(model.parameters()).device
    decision = model.unroll(*to_device(inputs, device))
    return torch.softmax(decision.logits.float(), -1).cpu().numpy()
