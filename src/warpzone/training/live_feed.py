"""Leaving rollouts for people who watch a run, only while somebody does.

Between two rollouts no environment steps. There the feed saves the states of the environments that
somebody asked for, and after the next rollout it writes them with the actions that followed, which
the learner has in storage anyway. Nothing is added to a step.
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
    """Answers each request once. Without a request it costs one call of the system per update."""

    def __init__(self, run: RunDirectory) -> None:
        """Begins without a request."""
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
        """Writes the rollout that was asked for before it began, or prepares for the next one.

        Args:
            env: The environments, none of which steps now.
            storage: The rollout that has just been collected.
            model: The policy that collected it.
            update: Number of the update that learns from it.
            resets_known: Whether the environments choose the starts of episodes themselves.
        """
        if self._begun is not None:
            begun, self._begun = self._begun, None
            self._answered = begun.request.sequence
            rollout = begun.followed_by(storage, model, update, resets_known)
            try:
                write_rollout(self._run, rollout)
            except OSError as error:
                _log.warning("the games cannot be shown: %s", error)
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
    """What is known of a rollout before it is collected."""

    request: LiveRequest
    states: list[bytes]
    levels: tuple[str, ...]

    def followed_by(
        self, storage: RolloutStorage, model: ActorCritic, update: int, resets_known: bool
    ) -> LiveRollout:
        """The rollout, once it is collected."""
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
    """What the policy thought of every action, [T, D, A]."""
    if not envs:
        return np.zeros((0, 0, 0), np.float32)
    obs = map_tree(lambda part: part[:, envs], storage.all_obs())
    inputs = (obs, storage.state[envs], storage.first[: storage.steps, envs])
    device = next(model.parameters()).device
    decision = model.unroll(*to_device(inputs, device))
    return torch.softmax(decision.logits.float(), -1).cpu().numpy()
