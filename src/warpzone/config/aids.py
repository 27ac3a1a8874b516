"""Options of what helps a run along: replay, scripts, rescue, adaptive control, watchdogs.

Tables of `warpzone.config.options.TrainConfig`, in a file of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import tyro

from warpzone.errors import ConfigError

arg = tyro.conf.arg


@dataclass(frozen=True)
class ReplayOptions:
    """Prioritized replay and self-imitation."""

    capacity: Annotated[int, arg(name="replay-capacity")] = 0
    """Transitions that are kept, such as 200000 (1.6 GB for pixels); 0 means no replay."""
    interval: Annotated[int, arg(name="replay-interval")] = 1
    """Updates between two times that replay is learned from; every update pushes."""
    batches: Annotated[int, arg(name="replay-batches")] = 4
    """Draws each time."""
    batch: Annotated[int, arg(name="replay-batch")] = 256
    """Transitions in a draw."""
    weight: Annotated[float, arg(name="imitation-weight")] = 0.1
    """Weight of the self-imitation loss."""
    vf_coef: Annotated[float, arg(name="imitation-value-weight")] = 0.01
    """Weight of the critic's part in it."""
    alpha: Annotated[float, arg(name="replay-alpha")] = 0.6
    """How strongly priorities count: 0 not at all, 1 in proportion."""
    beta: Annotated[float, arg(name="replay-beta")] = 0.4
    """Share of the sampling bias that importance weights undo, at the start; 1 at the end."""
    learning_starts: Annotated[int, arg(name="replay-learning-starts")] = 10_000
    """Transitions that must be there before the first draw."""
    half: Annotated[bool, arg(name="replay-half")] = True
    """Keep returns in 16 bits instead of 32."""
    sampler: Annotated[Literal["auto", "tree", "device"], arg(name="replay-sampler")] = "auto"
    """auto: drawn on the network's device if that is quicker than the sum-tree."""
    save: Annotated[bool, arg(name="replay-save")] = True
    """Save it with every checkpoint; without it a resumed run begins with an empty one."""


@dataclass(frozen=True)
class ScriptOptions:
    """What the first episodes of each game begin with, before the policy takes over.

    If several are given, the first of these counts: the explicit forward action, the one found by
    probing, the sequence, the forward frames alone.
    """

    sequence: Annotated[str, arg(name="script", metavar="BUTTONS:FRAMES,...")] = ""
    """Buttons and frames, such as 'START:8,RIGHT+B:180'."""
    forward_frames: Annotated[int, arg(name="script-forward-frames")] = 0
    """Frames for which the forward action is held."""
    forward_action: Annotated[int, arg(name="forward-action")] = -1
    """Number of the forward action; -1 means RIGHT+B, or what probing finds."""
    probe_frames: Annotated[int, arg(name="probe-frames")] = 0
    """Try every action for so many frames first; the one that gets furthest leads forward."""
    episodes: Annotated[int, arg(name="script-episodes")] = 1
    """So many episodes of each game begin with it."""


@dataclass(frozen=True)
class RescueOptions:
    """Forced progress for a policy that gets nowhere."""

    after: Annotated[int, arg(name="rescue-after")] = 20
    """Updates in a row without distance after which all games are driven forward; 0 never."""
    pixels: Annotated[float, arg(name="rescue-pixels")] = 16.0
    """Distance a game and rollout, on average, that counts as none."""
    frames: Annotated[int, arg(name="rescue-frames")] = 480
    """How long they are driven."""
    plateau: Annotated[int, arg(name="rescue-plateau")] = 0
    """Updates without a new best after which every other game is driven forward; 0 never."""
    plateau_frames: Annotated[int, arg(name="rescue-plateau-frames")] = 240
    """How long those are."""
    cool_down: Annotated[int, arg(name="rescue-cool-down")] = 20
    """Updates after a rescue before the next."""
    pattern: Annotated[str, arg(name="rescue-pattern", metavar="BUTTONS:FRAMES,...")] = (
        "RIGHT+A+B:32,RIGHT+B:4"
    )
    """What is pressed, over and over, unless a forward action is given or probed."""


@dataclass(frozen=True)
class AdaptiveOptions:
    """Control by the share of games that move forward."""

    enabled: Annotated[bool, arg(name="adaptive")] = False
    """Raise distance weight, entropy and learning rate while few games move, and lower them."""
    low: Annotated[float, arg(name="adaptive-low")] = 0.3
    """Below this share of games they rise,"""
    high: Annotated[float, arg(name="adaptive-high")] = 0.8
    """above this one they fall."""
    window: Annotated[int, arg(name="adaptive-window")] = 10
    """Rollouts of the mean."""
    smoothing: Annotated[float, arg(name="adaptive-smoothing")] = 0.2
    """Weight of the newest rollout in the moving average, which must agree with the mean."""
    factor: Annotated[float, arg(name="adaptive-factor")] = 1.25
    """By how much a scale moves at once; the learning rate's by the root of it."""
    cool_down: Annotated[int, arg(name="adaptive-cool-down")] = 5
    """Updates between two changes."""
    distance_low: Annotated[float, arg(name="adaptive-distance-low")] = 0.5
    """Least of reward.distance, as a share of it."""
    distance_high: Annotated[float, arg(name="adaptive-distance-high")] = 4.0
    """Most of it."""
    entropy_low: Annotated[float, arg(name="adaptive-entropy-low")] = 0.5
    """Least of learn.ent_coef, as a share of it."""
    entropy_high: Annotated[float, arg(name="adaptive-entropy-high")] = 4.0
    """Most of it."""
    rate_low: Annotated[float, arg(name="adaptive-rate-low")] = 0.5
    """Least of the learning rate, as a share of it."""
    rate_high: Annotated[float, arg(name="adaptive-rate-high")] = 2.0
    """Most of it."""
    lock: Annotated[bool, arg(name="adaptive-lock")] = False
    """What was moved counts from the configured value and is no longer annealed."""


@dataclass(frozen=True)
class WatchOptions:
    """Watchdogs and hints."""

    stall_seconds: float = 300.0
    """Without progress for so long, what every thread is doing is written to stalls/; 0 never."""
    slow_step: float = 1.0
    """Seconds from which a step of the games is slow; 0 traces none."""
    slow_count: int = 5
    """So many slow steps"""
    slow_window: float = 60.0
    """within so many seconds begin a trace, which lasts as long."""
    hints: bool = True
    """Give advice in plain words."""
    hint_minutes: float = 30.0
    """Minutes before the same advice may come again."""


def verify_replay(replay: ReplayOptions, memory: str, batch: int) -> None:
    """Checks the table against itself, the network's memory and the size of a rollout."""
    if replay.capacity == 0:
        return
    if replay.capacity < batch:
        raise ConfigError(
            f"replay.capacity is {replay.capacity}; it must be 0, or hold at least one rollout "
            f"({batch} transitions)"
        )
    if memory != "none":
        raise ConfigError(
            f"replay.capacity is {replay.capacity} and model.memory is {memory!r}; replay draws "
            "single steps, which a network with memory cannot learn from: set one of them to 0 "
            "or 'none'"
        )
    _positive("replay", interval=replay.interval, batches=replay.batches, batch=replay.batch)
    _share("replay", alpha=replay.alpha, beta=replay.beta)


def verify_aids(
    script: ScriptOptions, rescue: RescueOptions, adaptive: AdaptiveOptions, watch: WatchOptions
) -> None:
    """Checks the other tables."""
    _positive("rescue", frames=rescue.frames, plateau_frames=rescue.plateau_frames)
    _positive("adaptive", window=adaptive.window, smoothing=adaptive.smoothing)
    _positive("watch", slow_count=watch.slow_count, slow_window=watch.slow_window)
    _share("adaptive", low=adaptive.low, high=adaptive.high, smoothing=adaptive.smoothing)
    _not_negative("script", forward_frames=script.forward_frames, probe_frames=script.probe_frames)
    _not_negative("rescue", after=rescue.after, plateau=rescue.plateau, cool_down=rescue.cool_down)
    _not_negative("watch", stall_seconds=watch.stall_seconds, slow_step=watch.slow_step)
    if adaptive.low > adaptive.high:
        raise ConfigError(
            f"adaptive.low is {adaptive.low} and adaptive.high {adaptive.high}; low must not be "
            "above high"
        )
    if adaptive.factor <= 1.0:
        raise ConfigError(f"adaptive.factor is {adaptive.factor}; it must be above 1")
    for name in ("distance", "entropy", "rate"):
        low, high = getattr(adaptive, f"{name}_low"), getattr(adaptive, f"{name}_high")
        if not 0.0 <= low <= 1.0 <= high:
            raise ConfigError(
                f"adaptive.{name}_low is {low} and adaptive.{name}_high {high}; 1, which means "
                "unchanged, must lie between them"
            )


def _positive(table: str, **options: float) -> None:
    for name, value in options.items():
        if not value > 0:
            raise ConfigError(f"{table}.{name} is {value}; it must be above 0")


def _not_negative(table: str, **options: float) -> None:
    for name, value in options.items():
        if not value >= 0:
            raise ConfigError(f"{table}.{name} is {value}; it must be 0 or more")


def _share(table: str, **options: float) -> None:
    for name, value in options.items():
        if not 0.0 <= value <= 1.0:
            raise ConfigError(f"{table}.{name} is {value}; it must be from 0 to 1")
