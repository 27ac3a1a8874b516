"""Options of training with Ray actors."""

from __future__ import annotations

from dataclasses import dataclass, replace

from warpzone.config import TrainConfig
from warpzone.config.option import option
from warpzone.errors import ConfigError

_ACTORS_APART = 15_485_863  # Between seeds; larger than any number of environments.
_SESSIONS_APART = 10_000  # Numbers of actors, replacements included, in one session.


@dataclass(frozen=True)
class ClusterOptions:
    """Actors of a run: how many there are, and how old their rollouts may be."""

    actors: int = option(
        0,
        "Number of actors, each with its own pool of --num-envs environments; 0 uses all CPUs of "
        "the cluster and grows with it. Actors that do not fit wait for more machines.",
        metavar="N",
        everyday=True,
    )
    cpus_per_actor: int = option(
        1,
        "CPUs that Ray reserves for each actor, which is also its number of threads.",
        metavar="N",
        everyday=True,
    )
    max_lag: int = option(
        16,
        "Updates by which a rollout's policy may be older than the learner's; older rollouts are "
        "dropped and counted.",
        metavar="UPDATES",
        everyday=True,
    )
    address: str | None = option(
        None,
        "Address of a running Ray cluster, such as 'auto' or '10.0.0.1:6379'; by default, Ray is "
        "started on this machine only, bound to the loopback interface.",
        metavar="ADDRESS",
        everyday=True,
    )

    def verify(self) -> None:
        """Raises a ConfigError if a value is out of range."""
        if self.actors < 0:
            raise ConfigError(f"--actors is {self.actors}; use 0 for all CPUs, or more")
        if self.cpus_per_actor < 1:
            raise ConfigError(f"--cpus-per-actor is {self.cpus_per_actor}; it must be at least 1")
        if self.max_lag < 0:
            raise ConfigError(f"--max-lag is {self.max_lag}; it must be at least 0")


def check_supported(config: TrainConfig) -> None:
    """Raises a ConfigError if a part of the configuration needs environments in the learner."""
    for option_name, applies, remedy in (
        ("replay.capacity", config.replay.capacity > 0, "use --replay-capacity 0"),
        ("distill.teachers", bool(config.distill.teachers), "use `warpzone train`"),
        ("adaptive.enabled", config.adaptive.enabled, "omit --adaptive"),
        ("run.overlap", config.run.overlap, "omit --overlap; actors always overlap with learning"),
    ):
        if applies:
            raise ConfigError(f"{option_name} does not work with actors; {remedy}")


def actor_config(
    config: TrainConfig, options: ClusterOptions, *, number: int, session: int, native: bool
) -> TrainConfig:
    """Returns the configuration of one actor.

    Args:
        config: Configuration of the run.
        options: Options of the cluster.
        number: Number of the actor, unique within the session.
        session: Number of the run's session.
        native: Whether the learner expects rollouts of native acting.
    """
    run, env = config.run, config.env
    return replace(
        config,
        env=replace(env, num_threads=options.cpus_per_actor),
        run=replace(
            run,
            seed=run.seed + (session * _SESSIONS_APART + number) * _ACTORS_APART,
            torch_threads=options.cpus_per_actor,
            device="cpu",
            compile=False,
            acting="native" if native else "torch",
        ),
    )
