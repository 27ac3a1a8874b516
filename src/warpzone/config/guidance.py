"""Options that help a policy that does not move forward: scripts, rescue, adaptive control."""

from __future__ import annotations

from dataclasses import dataclass

from warpzone.config.option import option


@dataclass(frozen=True)
class ScriptOptions:
    """Scripted starts of the first episodes.

    If several are set, the order of precedence is: the forward action, the action found by probing,
    the sequence, the forward frames alone.
    """

    sequence: str = option(
        "",
        "Buttons and frames that the first episodes of each environment start with, such as "
        "'RIGHT+B:180,RIGHT+A+B:30'. Mario is in control from the first frame, and START pauses "
        "the game. Scripted steps are excluded from the policy loss.",
        flag="script",
        metavar="BUTTONS:FRAMES,...",
    )
    forward_frames: int = option(
        0,
        "Frames for which the forward action is held at the start of scripted episodes.",
        at_least=0,
        at_most=100_000,
        metavar="FRAMES",
    )
    forward_action: int = option(
        -1,
        "Index of the action that moves forward; -1 means RIGHT+B, or the action found by probing.",
        at_least=-1,
        at_most=255,
        flag="forward-action",
        metavar="ACTION",
    )
    probe_frames: int = option(
        0,
        "Frames for which each action is tried before training; the action that gets furthest "
        "becomes the forward action. 0 disables probing.",
        at_least=0,
        at_most=10_000,
        flag="probe-frames",
        metavar="FRAMES",
    )
    episodes: int = option(
        1,
        "Episodes of each environment that start with the script.",
        at_least=0,
        at_most=1_000_000,
        metavar="N",
    )


@dataclass(frozen=True)
class RescueOptions:
    """Forced progress for a policy that does not move."""

    after: int = option(
        20,
        "Consecutive updates without progress after which every environment is forced forward; 0 "
        "means never.",
        at_least=0,
        at_most=1_000_000,
        metavar="UPDATES",
    )
    frames: int = option(
        480,
        "Frames for which a rescue forces the forward action; a rescue from a plateau uses half "
        "as many.",
        at_least=2,
        at_most=100_000,
        metavar="FRAMES",
    )
    plateau: int = option(
        0,
        "Updates without a new best distance after which every other environment is forced "
        "forward; 0 means never.",
        at_least=0,
        at_most=1_000_000,
        metavar="UPDATES",
    )
    cool_down: int = option(
        20,
        "Minimum number of updates between two rescues.",
        at_least=0,
        at_most=1_000_000,
        metavar="UPDATES",
    )


@dataclass(frozen=True)
class AdaptiveOptions:
    """Adaptive control, driven by the fraction of environments that move forward."""

    enabled: bool = option(
        False,
        "Raise the distance weight, the entropy coefficient and the learning rate while few "
        "environments move forward, and lower them while many do.",
        flag="adaptive",
    )
    thresholds: tuple[float, float] = option(
        (0.3, 0.8),
        "Fractions of environments below which the scales rise and above which they fall.",
        at_least=0.0,
        at_most=1.0,
        metavar="LOW:HIGH",
    )
    window: int = option(
        10,
        "Rollouts in the windowed mean of the fraction of environments that move forward.",
        at_least=1,
        at_most=100_000,
        metavar="N",
    )
    smoothing: float = option(
        0.2,
        "Weight of the newest rollout in the exponential moving average of that fraction. Scales "
        "change only if this average and the windowed mean agree.",
        above=0.0,
        at_most=1.0,
        metavar="WEIGHT",
    )
    factor: float = option(
        1.25,
        "Factor by which a scale changes each time; the learning rate changes by its square root.",
        above=1.0,
        at_most=1000.0,
        metavar="FACTOR",
    )
    cool_down: int = option(
        5,
        "Minimum number of updates between two changes.",
        at_least=0,
        at_most=1_000_000,
        metavar="UPDATES",
    )
    distance_bounds: tuple[float, float] = option(
        (0.5, 4.0),
        "Smallest and largest scale of the distance weight.",
        at_least=0.0,
        at_most=1e6,
        metavar="LOW:HIGH",
    )
    entropy_bounds: tuple[float, float] = option(
        (0.5, 4.0),
        "Smallest and largest scale of the entropy coefficient.",
        at_least=0.0,
        at_most=1e6,
        metavar="LOW:HIGH",
    )
    lr_bounds: tuple[float, float] = option(
        (0.5, 2.0),
        "Smallest and largest scale of the learning rate.",
        at_least=0.0,
        at_most=1e6,
        metavar="LOW:HIGH",
    )
    lock: bool = option(
        False,
        "Scale the configured values instead of the annealed ones, so that annealing no longer "
        "affects what adaptive control has changed.",
    )
