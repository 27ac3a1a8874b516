"""The one list of metrics: rows are checked against it, and docs/metrics.md is generated from it.

`python -m warpzone.telemetry.metrics_page docs/metrics.md` regenerates the page.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from warpzone.envs.endings import EPISODE_ENDS
from warpzone.errors import MetricError

MetricRow = dict[str, float | int]
"""What a producer writes: name to number."""

CleanRow = dict[str, float | int | None]
"""What the sinks get: the same, where None stands for a number that was not finite."""

STEPS = "run/steps"
UPDATES = "run/updates"
SESSION = "run/session"

# Names of the environment's reward terms; a test compares them with the native list.
REWARD_TERMS = ("distance", "score", "coin", "death", "clear", "milestone", "time")


Reduction = Literal["mean", "time_mean", "sum", "latest"]
"""How a row that covers several updates combines their values.

'mean' weighs every environment step alike, 'time_mean' every second of training.
"""


@dataclass(frozen=True)
class Metric:
    """One name.

    Attributes:
        name: `group/name`.
        unit: Its unit; empty for a plain number.
        help: One sentence.
        whole: Whether it is a whole number.
        labelled: Whether a label follows the name, as in `level/clear_rate/1-1`.
        reduction: How a row that covers several updates combines their values.
    """

    name: str
    unit: str
    help: str
    whole: bool = False
    labelled: bool = False
    reduction: Reduction = "mean"


def _latest(name: str, unit: str, text: str, labelled: bool = False) -> Metric:
    return Metric(name, unit, text, labelled=labelled, reduction="latest")


def _count(name: str, unit: str, text: str) -> Metric:
    return Metric(name, unit, text, whole=True, reduction="latest")


def _speed(name: str, unit: str, text: str) -> Metric:
    return Metric(name, unit, text, reduction="time_mean")


def _statistics(prefix: str, unit: str, text: str, names: str) -> list[Metric]:
    """One quantity by several statistics, named as `warpzone.telemetry.summary` does."""
    meaning = {
        "mean": "mean",
        "std": "standard deviation",
        "min": "minimum",
        "max": "maximum",
        "p10": "10th percentile",
        "p50": "median",
        "p90": "90th percentile",
        "p99": "99th percentile",
    }
    return [_latest(f"{prefix}_{key}", unit, f"{text}: {meaning[key]}.") for key in names.split()]


_RUN = [
    _latest("run/time", "Unix seconds", "When the row was written."),
    _latest("run/elapsed", "s", "Training time since the run began, without pauses."),
    _count(STEPS, "steps", "Environment steps of all envs since the run began."),
    _count(UPDATES, "updates", "Updates of the policy since the run began."),
    _count("run/episodes", "episodes", "Episodes that have ended since the run began."),
    _count(SESSION, "", "Number of the session: 1 until the run is resumed, then 2, and so on."),
]

_LOSS = [
    Metric("loss/total", "", "The loss that the optimizer minimizes."),
    Metric("loss/policy", "", "Policy loss."),
    Metric("loss/value", "", "Value loss, before its coefficient."),
    Metric("loss/entropy", "", "Entropy term as part of the total: minus ent_coef x entropy."),
    Metric("loss/imitation_policy", "", "Policy loss of self-imitation, before its weight."),
    Metric("loss/imitation_value", "", "Value loss of self-imitation, before its weight."),
]

_LEARN = [
    _count("learn/policy_lag", "updates", "Age of the policy that collected; 0 without --overlap."),
    _latest("learn/learning_rate", "", "Learning rate of the last optimizer step."),
    _latest("learn/ent_coef", "", "Coefficient of the entropy term."),
    Metric("learn/entropy", "nats", "Mean entropy of the policy."),
    Metric("learn/approx_kl", "nats", "Mean KL divergence of the new policy from the old one."),
    Metric("learn/clip_fraction", "share", "Samples whose probability ratio was clipped."),
    Metric("learn/grad_norm", "", "Gradient norm before clipping, mean over optimizer steps."),
    Metric("learn/explained_variance", "share", "Variance of the returns that the value explains."),
    Metric("learn/value_mean", "", "Mean value estimate of the rollout."),
    Metric("learn/advantage_std", "", "Standard deviation of the advantages before normalization."),
    Metric("learn/epochs", "epochs", "Passes over a rollout; target_kl may end them early."),
    Metric("learn/rho_mean", "", "Mean clipped importance ratio; only with V-trace."),
    _count("learn/skipped", "steps", "Optimizer steps skipped by a guard since the run began."),
]

_SPEED = [
    _speed("speed/steps_per_second", "steps/s", "Environment steps per second of training."),
    _speed("speed/updates_per_second", "updates/s", "Updates per second of training."),
    Metric("speed/rollout_seconds", "s", "Collecting, per update; with --overlap, while learning."),
    Metric(
        "speed/emulation_seconds",
        "s",
        "Part of collecting: stepping the envs, per update. With native acting, the time of "
        "collecting is divided as that of its threads.",
    ),
    Metric(
        "speed/inference_seconds",
        "s",
        "Part of collecting: choosing actions, per update; divided in the same way.",
    ),
    Metric("speed/learn_seconds", "s", "Learning, per update."),
    _speed("speed/other_share", "share", "Time outside emulation, inference and learning."),
    Metric(
        "speed/learner_idle_seconds", "s", "Waiting of the learner for its rollout, per update."
    ),
    Metric("speed/collector_idle_seconds", "s", "Time without collecting, per update."),
]

_EPISODE = [
    _count("episode/count", "episodes", "Episodes that ended since the previous row."),
    *_statistics("episode/return", "", "Sum of rewards", "mean std min max p50 p90 p99"),
    *_statistics("episode/length", "steps", "Agent steps", "mean min max p10 p50 p90 p99"),
    *_statistics("episode/progress", "px", "Progress", "mean std min max p50 p90 p99"),
    _latest("episode/progress_best", "px", "Most progress of any episode of the run."),
]

_ENDS = [
    metric
    for reason, text in EPISODE_ENDS.items()
    for metric in (
        _count(f"end/{reason}_count", "episodes", f"Episodes since the previous row: {text}."),
        _latest(f"end/{reason}_share", "share", "The same, as a share of those episodes."),
    )
]

_REWARD = [
    Metric("reward/sum", "", "All rewards since the previous row, all envs.", reduction="sum"),
    *(
        _latest(f"reward/{term}_sum", "", f"{term} term of episodes ended since the previous row.")
        for term in REWARD_TERMS
    ),
]

_ROLLOUT = [
    _latest("rollout/clear_rate", "share", "Clears among the last 100 episodes."),
    Metric("rollout/forward_share", "share", "Envs whose progress rose during a rollout."),
    Metric("rollout/override_share", "share", "Steps whose action a script or a rescue forced."),
    Metric("rollout/progress_per_step", "px/step", "Progress per environment step."),
    Metric("rollout/stagnation_mean", "frames", "Frames without progress, mean over the envs."),
    _latest("level/clear_rate", "share", "Clears among a level's last 100 episodes.", True),
    _latest("level/progress_mean", "px", "Mean progress in a level's last 100 episodes.", True),
    _latest(
        "level/share", "share", "Share of the steps that a curriculum plans for a level.", True
    ),
]

_GUIDANCE = [
    _count("rescue/count", "rescues", "Rescues since the run began."),
    _count("rescue/envs", "envs", "Envs that a script or a rescue drives now."),
    _latest("adaptive/distance_weight", "", "Weight of the distance reward under --adaptive."),
    _latest("adaptive/entropy_scale", "", "Factor of --adaptive on the entropy coefficient."),
    _latest("adaptive/rate_scale", "", "Factor of --adaptive on the learning rate."),
]

_REPLAY = [
    _latest("replay/fill", "share", "Transitions in the buffer, of its capacity."),
    _count("replay/pushed", "transitions", "Transitions pushed since the run began."),
    Metric("replay/better_share", "share", "Samples whose return exceeds the value estimate."),
    Metric("replay/demonstration_better_share", "share", "The same for samples of demonstrations."),
    _latest("replay/unique_ratio_last", "share", "Distinct transitions in the last sample."),
    _latest("replay/unique_ratio_mean", "share", "The same, mean over all samples."),
    *_statistics("replay/priority", "", "Priority, as sampled by", "mean p50 p90 p99"),
    Metric("replay/sample_seconds", "s", "Sampling, per update."),
    Metric("replay/draw_seconds", "s", "Part of sampling: drawing the indices."),
    Metric("replay/gather_seconds", "s", "Part of sampling: gathering the transitions."),
    _count("replay/device_sampler", "", "1 when the device samples, 0 for the sum-tree."),
]

_RESOURCES = [
    _latest("resources/cpu_percent", "%", "All cores of the machine; 100 means all are busy."),
    _latest("resources/process_cpu_percent", "%", "This process; 100 means one core."),
    _latest("resources/memory_bytes", "bytes", "Resident memory of this process."),
    _latest("resources/memory_percent", "%", "Memory of the machine in use."),
    _latest("resources/disk_free_bytes", "bytes", "Free space on the disk of the run directory."),
    _latest("resources/threads", "threads", "Threads of this process."),
    _latest("resources/gpu_percent", "%", "Utilization of a GPU, by index.", True),
    _latest("resources/gpu_memory_bytes", "bytes", "GPU memory in use, by index.", True),
    _latest("resources/gpu_watts", "W", "Power of a GPU, by index.", True),
    _latest("resources/gpu_celsius", "°C", "Temperature of a GPU, by index.", True),
]

_TELEMETRY = [
    _count("telemetry/dropped", "rows", "Rows and episodes lost in this session."),
    _count(
        "telemetry/not_finite",
        "values",
        "NaN and infinite values in this session, written as null.",
    ),
]

_CUSTOM = [
    Metric("custom", "", "What a registered algorithm reports, by the name it gives.", False, True),
]

GROUPS: dict[str, list[Metric]] = {
    "Run": _RUN,
    "Losses": _LOSS,
    "Learning": _LEARN,
    "Speed": _SPEED,
    "Episodes": _EPISODE,
    "End reasons": _ENDS,
    "Reward terms": _REWARD,
    "Rollouts and levels": _ROLLOUT,
    "Scripts, rescue and adaptive control": _GUIDANCE,
    "Replay": _REPLAY,
    "Resources": _RESOURCES,
    "Telemetry": _TELEMETRY,
    "Your own": _CUSTOM,
}

METRICS: dict[str, Metric] = {
    metric.name: metric for metrics in GROUPS.values() for metric in metrics
}


def find_metric(name: str) -> Metric | None:
    """Returns the entry of a name, without its label; None when it is unknown."""
    metric = METRICS.get(name)
    if metric is not None:
        return None if metric.labelled else metric
    stem, _, label = name.rpartition("/")
    metric = METRICS.get(stem)
    return metric if metric is not None and metric.labelled and label else None


def clean_row(row: Mapping[str, Any]) -> tuple[CleanRow, int]:
    """Checks a row against the list.

    Args:
        row: Names and numbers; NumPy scalars are accepted, tensors and bools are not.

    Returns:
        The row with Python numbers, None for NaN and infinity, and the number of those.

    Raises:
        MetricError: A name is unknown or a value is not a number.
    """
    clean: CleanRow = {}
    not_finite = 0
    for name, value in row.items():
        metric = find_metric(name)
        if metric is None:
            raise MetricError(f"'{name}' is not a metric; add it to telemetry/metrics.py")
        if isinstance(value, bool) or not isinstance(value, numbers.Real):
            raise MetricError(f"'{name}' must be a number, not {type(value).__name__}")
        if not math.isfinite(value):
            clean[name] = None
            not_finite += 1
        elif metric.whole:
            clean[name] = _whole(name, value)
        else:
            clean[name] = float(value)
    return clean, not_finite


def _whole(name: str, value: Any) -> int:
    if value != int(value):
        raise MetricError(f"'{name}' must be a whole number, not {value}")
    return int(value)
