"""Plays a given list of episodes to their ends, several at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpzone.envs.wrapping import Vector

MOST_ENVS = 64
"""Environments that play at the same time. With more, most of them would wait for the longest
episode."""

Act = Callable[[Any, NDArray[np.bool_], dict[str, Any]], NDArray[np.int64]]
"""Chooses one action per environment from observations, episode starts and info."""


@dataclass(frozen=True)
class EpisodeStep:
    """One step of the environments.

    Attributes:
        playing: For each environment, the index of its episode, or -1 if it is idle.
        before: Info before the step.
        info: Info after the step.
        reward: Rewards of the step.
        ended: Environments whose episode ended with this step.
    """

    playing: NDArray[np.int64]
    before: dict[str, Any]
    info: dict[str, Any]
    reward: NDArray[np.float32]
    ended: NDArray[np.bool_]


Ends = Callable[[dict[str, Any]], NDArray[np.bool_]]
"""Marks environments whose episode ends here although the environment would continue it."""


def play_episodes(
    env: Vector, seeds: Sequence[int], act: Act, ends: Ends | None = None
) -> Iterator[EpisodeStep]:
    """Plays one episode per seed and yields after every step of the environments.

    Every episode is played to its end: taking the first N that end would favour short ones.

    Args:
        env: Environments with autoreset disabled, at most one per seed.
        seeds: Seeds of the episodes. An environment whose episode ends takes the next seed.
        act: Chooses the actions.
        ends: Asked with the info of each step.
    """
    waiting = deque(range(env.num_envs, len(seeds)))
    playing = np.arange(env.num_envs)
    # Gymnasium's vector environments take a list of seeds; the base class declares only one.
    obs, info = env.reset(seed=list(seeds[: env.num_envs]))  # type: ignore[arg-type]
    first = np.ones(env.num_envs, np.bool_)
    while (playing >= 0).any():
        before = info
        obs, reward, terminated, truncated, info = env.step(act(obs, first, info))
        first = terminated | truncated
        if ends is not None:
            first |= ends(info)
        yield EpisodeStep(playing.copy(), before, info, reward, first & (playing >= 0))
        if not first.any():
            continue
        next_seeds: list[int | None] = [None] * env.num_envs
        for index in np.flatnonzero(first):
            playing[index] = waiting.popleft() if playing[index] >= 0 and waiting else -1
            next_seeds[index] = seeds[playing[index]] if playing[index] >= 0 else None
        obs, info = env.reset(
            seed=next_seeds,  # type: ignore[arg-type]
            options={"reset_mask": first},
        )
