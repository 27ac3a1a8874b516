"""A loaded policy that acts, for programs of users."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpzone.errors import ConfigError
from warpzone.evaluation.trained import Player, TrainedPolicy, policy_spaces
from warpzone.models.tree import as_tree, space_tree
from warpzone.runs.levels import trained_levels


class LoadedPolicy:
    """A trained policy that chooses actions.

    Example:
        >>> policy = warpzone.load_policy("runs/mario-1-1")
        >>> env = warpzone.make_vec("1-1", num_envs=16, **policy.env_options)
        >>> obs, info = env.reset(seed=0)
        >>> obs, reward, terminated, truncated, info = env.step(policy.act(obs))
    """

    def __init__(self, trained: TrainedPolicy, *, seed: int = 0, greedy: bool = False):
        """Begins without episodes.

        Args:
            trained: The network and its configuration.
            seed: Seed of the sampled actions.
            greedy: Always take the most likely action.
        """
        self.trained, self._seed, self._greedy = trained, seed, greedy
        self._player: Player | None = None
        self._num_envs = 0
        space, _ = policy_spaces(trained.config)
        self._shapes = {name: box.shape for name, box in space_tree(space).items()}

    @property
    def path(self) -> Path:
        """The checkpoint or policy file."""
        return self.trained.path

    @property
    def levels(self) -> list[str]:
        """Levels that it was trained on."""
        return trained_levels(self.trained.config.env)

    @property
    def env_options(self) -> dict[str, Any]:
        """Keywords of `make_vec` for environments that look as those of its training."""
        return self.trained.env_options()

    def reset(self) -> None:
        """Forgets all episodes; the next `act` begins new ones with the seed's first actions."""
        self._player = None

    def act(self, obs: Any, first: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
        """Chooses one action per environment.

        Args:
            obs: A batch of observations, as a vector environment returns it.
            first: Where an episode has just begun: the `terminated | truncated` of the last step of
                an environment that resets itself. Only recurrent policies need it, to clear their
                memory. By default, episodes begin at the first call after `reset`.

        Returns:
            Actions, one per environment.

        Raises:
            ConfigError: The observations are not those that the policy was trained on.
        """
        count = self._checked_count(obs)
        if self._player is None or count != self._num_envs:
            self._player = self.trained.player(count, self._seed, self._greedy)
            self._num_envs = count
            first = np.ones(count, np.bool_)
        return self._player(obs, np.zeros(count, np.bool_) if first is None else first)

    def _checked_count(self, obs: Any) -> int:
        shapes = {name: np.shape(part) for name, part in as_tree(obs).items()}
        if {name: shape[1:] for name, shape in shapes.items()} != self._shapes:
            raise ConfigError(
                f"the observations have the shapes {shapes}; this policy takes a batch of "
                f"{self._shapes}, such as those of warpzone.make_vec(..., **policy.env_options)"
            )
        return int(next(iter(shapes.values()))[0])
