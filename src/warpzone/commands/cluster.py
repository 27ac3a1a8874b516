"""`warpzone cluster train`: trains with Ray actors, on this machine or on many."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path

from warpzone.cluster.options import ClusterOptions, check_supported
from warpzone.commands.command import training_options
from warpzone.commands.train import Train
from warpzone.config import Partial, TrainConfig
from warpzone.config.resolve import DEFAULT_PRESET

# What training with actors uses instead of the preset's values, unless options say otherwise.
_DEFAULTS: Partial = {"learn": {"algo": "appo"}, "replay": {"capacity": 0}}


@dataclass(frozen=True)
class ClusterTrain(ClusterOptions, Train):
    """Train with Ray actors that play on any number of machines, and one learner.

    Each actor owns a pool of --num-envs environments and plays whole rollouts; every rollout is one
    update of the learner. Actors that die are replaced, and machines that join the cluster are
    used. The run is an ordinary one: `warpzone train --resume` continues it on one machine, and
    this command continues a run of `warpzone train`. All options of `warpzone train` are accepted;
    the algorithm is APPO, which corrects for the age of rollouts (V-trace), without replay.

    Examples:
      warpzone cluster train --level 1-1 --obs tiles --actors 2
      warpzone cluster train --level 1-1..4-4 --obs tiles --actors 8 --address auto
      warpzone cluster train --resume runs/mario-1-1 --steps 4M --actors 2
    """

    training: Partial = training_options(
        DEFAULT_PRESET,
        shown=("level", "obs", "num-envs", "steps", "runs", "name", "seed", "device"),
    )

    def run(self) -> int:
        """Trains and returns the exit code."""
        options = ClusterOptions(
            **{item.name: getattr(self, item.name) for item in fields(ClusterOptions)}
        )
        options.verify()
        explicit = self._explicit()
        target = self._target(explicit)
        if target is None:
            explicit = _with_defaults(explicit)
        config = self._config(explicit, target)
        check_supported(config)
        if self.dry_run:
            return self._dry_run(config)
        return self._train_with(options, config, target)

    def _train_with(self, options: ClusterOptions, config: TrainConfig, target: Path | None) -> int:
        from warpzone.cluster.ray_session import connected_ray

        with connected_ray(options.address, options.actors):
            from warpzone.cluster.remote_player import RemotePlayer
            from warpzone.training.trainer import Trainer

            make_player = partial(RemotePlayer, options=options)
            return self._train(config, target, partial(Trainer, make_player=make_player))


def _with_defaults(explicit: Partial) -> Partial:
    """Returns explicit options with the defaults of training with actors."""
    tables = {
        table: {**defaults, **explicit.get(table, {})} for table, defaults in _DEFAULTS.items()
    }
    return {**explicit, **tables}
