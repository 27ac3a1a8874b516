"""List of all metrics: rows are validated against it, and docs/metrics.md is generated from it.

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
"""Row as a producer writes it: name to number."""

CleanRow = dict[str, float | int | None]
"""Row as the sinks receive it, with None for NaN and infinite values."""

STEPS = "run/steps"
UPDATES = "run/updates"
SESSION = "run/session"

# Names of the environment's reward terms; a test compares them with the native list.
REWARD_TERMS = ("distance", "score", "coin", "death", "clear", "milestone", "time", "power")


Reduction = Literal["mean", "time_mean", "sum", "latest"]
"""How a row that covers several updates combines their values.

'mean' weights updates by environment steps, 'time_mean' by seconds of training.
"""


@dataclass(frozen=True)
class Metric:
    """Description of a metric.

    Attributes:
        name: Name, as `group/name`.
        unit: Unit; empty for a plain number.
        help: Meaning, in one sentence.
        whole: Whether values are whole numbers.
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
    """Returns several statistics of a quantity, named as in `warpzone.telemetry.summary`."""
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
    _latest("run/elapsed", "s", "Training time since the start of the run, without pauses."),
    _count(STEPS, "steps", "Environment steps of all envs since the start of the run."),
    _count(UPDATES, "updates", "Policy updates since the start of the run."),
    _count("run/episodes", "episodes", "Finished episodes since the start of the run."),
    _count(SESSION, "", "Number of the session: 1 until the run is resumed, then 2, and so on."),
]

_LOSS = [
    Metric("loss/total", "", "Total loss that the optimizer minimizes."),
    Metric("loss/policy", "", "Policy loss."),
    Metric("loss/value", "", "Value loss, before its coefficient."),
    Metric("loss/entropy", "", "Entropy term as part of the total: minus ent_coef x entropy."),
    Metric("loss/imitation_policy", "", "Policy loss of self-imitation, before its weight."),
    Metric("loss/imitation_value", "", "Value loss of self-imitation, before its weight."),
]

_LEARN = [
    _count(
        "learn/policy_lag",
        "updates",
        "Age of the policy that collected the rollout; 0 without --overlap and actors.",
    ),
    _latest("learn/learning_rate", "", "Learning rate of the last optimizer step."),
    _latest("learn/ent_coef", "", "Coefficient of the entropy term."),
    Metric("learn/entropy", "nats", "Mean entropy of the policy."),
    Metric("learn/approx_kl", "nats", "Mean KL divergence of the new policy from the old one."),
    Metric(
        "learn/clip_fraction",
        "fraction",
        "Fraction of samples whose probability ratio was clipped.",
    ),
    Metric("learn/grad_norm", "", "Gradient norm before clipping, mean over optimizer steps."),
    Metric("learn/explained_variance", "fraction", "Explained variance of the returns."),
    Metric("learn/value_mean", "", "Mean value estimate of the rollout."),
    Metric("learn/advantage_std", "", "Standard deviation of the advantages before normalization."),
    Metric("learn/epochs", "epochs", "Epochs per rollout; --target-kl may end them early."),
    Metric("learn/rho_mean", "", "Mean clipped importance ratio; only with APPO and V-trace."),
    _count("learn/skipped", "steps", "Optimizer steps skipped since the start of the run."),
]

_SPEED = [
    _speed("speed/steps_per_second", "steps/s", "Environment steps per second of training."),
    _speed("speed/updates_per_second", "updates/s", "Updates per second of training."),
    Metric(
        "speed/rollout_seconds",
        "s",
        "Collection time per update; with --overlap, concurrent with learning.",
    ),
    Metric(
        "speed/emulation_seconds",
        "s",
        "Part of collection: stepping the envs, per update. With native acting, collection time is "
        "split in proportion to the threads' time.",
    ),
    Metric(
        "speed/inference_seconds",
        "s",
        "Part of collection: choosing actions, per update; split in the same way.",
    ),
    Metric("speed/learn_seconds", "s", "Learning time per update."),
    _speed(
        "speed/other_share",
        "fraction",
        "Fraction of time outside emulation, inference and learning.",
    ),
    Metric("speed/learner_idle_seconds", "s", "Time the learner waits for a rollout, per update."),
    Metric("speed/collector_idle_seconds", "s", "Time the collector is idle, per update."),
]

_EPISODE = [
    _count("episode/count", "episodes", "Episodes finished since the previous row."),
    *_statistics("episode/return", "", "Sum of rewards", "mean std min max p50 p90 p99"),
    *_statistics("episode/length", "steps", "Agent steps", "mean min max p10 p50 p90 p99"),
    *_statistics("episode/progress", "px", "Progress", "mean std min max p50 p90 p99"),
    _latest("episode/progress_best", "px", "Largest progress of any episode of the run."),
]

_ENDS = [
    metric
    for reason, text in EPISODE_ENDS.items()
    for metric in (
        _count(f"end/{reason}_count", "episodes", f"Episodes since the previous row: {text}."),
        _latest(f"end/{reason}_share", "fraction", "The same, as a fraction of those episodes."),
    )
]

_REWARD = [
    Metric(
        "reward/sum",
        "",
        "Sum of all rewards since the previous row, over all envs.",
        reduction="sum",
    ),
    *(
        _latest(
            f"reward/{term}_sum",
            "",
            f"{term} term, summed over episodes finished since the previous row.",
        )
        for term in REWARD_TERMS
    ),
]

_ROLLOUT = [
    _latest(
        "rollout/clear_rate",
        "fraction",
        "Fraction of the last 100 episodes that cleared the level.",
    ),
    Metric(
        "rollout/forward_share",
        "fraction",
        "Fraction of envs that made progress during the rollout.",
    ),
    Metric(
        "rollout/override_share",
        "fraction",
        "Fraction of steps whose action a script or a rescue forced.",
    ),
    Metric("rollout/progress_per_step", "px/step", "Progress per environment step."),
    Metric(
        "rollout/stagnation_mean", "frames", "Frames since the last progress, mean over the envs."
    ),
    _latest("level/clear_rate", "fraction", "Clear rate of a level's last 100 episodes.", True),
    _latest("level/progress_mean", "px", "Mean progress in a level's last 100 episodes.", True),
    _latest(
        "level/share", "fraction", "Fraction of steps that the curriculum assigns to a level.", True
    ),
]

_GUIDANCE = [
    _count("rescue/count", "rescues", "Rescues since the start of the run."),
    _count("rescue/envs", "envs", "Envs that a script or a rescue currently controls."),
    _latest("adaptive/distance_weight", "", "Weight of the distance reward under --adaptive."),
    _latest("adaptive/entropy_scale", "", "Factor of --adaptive on the entropy coefficient."),
    _latest("adaptive/rate_scale", "", "Factor of --adaptive on the learning rate."),
]

_REPLAY = [
    Metric("distill/kl", "", "KL divergence of the policy from its teachers."),
    Metric(
        "distill/agreement",
        "fraction",
        "Fraction of sampled states whose most likely action is the teacher's.",
    ),
    _latest("distill/taught_levels", "levels", "Levels that still learn from their teacher."),
    _latest("distill/fill", "fraction", "Fraction of the distillation buffer in use."),
    _latest("replay/fill", "fraction", "Fraction of the buffer's capacity in use."),
    _count("replay/pushed", "transitions", "Transitions added since the start of the run."),
    Metric(
        "replay/better_share",
        "fraction",
        "Fraction of samples whose return exceeds the value estimate.",
    ),
    Metric(
        "replay/demonstration_better_share", "fraction", "The same for samples of demonstrations."
    ),
    _latest(
        "replay/unique_ratio_last",
        "fraction",
        "Fraction of distinct transitions in the last sample.",
    ),
    _latest("replay/unique_ratio_mean", "fraction", "The same, mean over all samples."),
    *_statistics("replay/priority", "", "Priority, as sampled by", "mean p50 p90 p99"),
    Metric("replay/sample_seconds", "s", "Sampling time per update."),
    Metric("replay/draw_seconds", "s", "Part of sampling: drawing the indices."),
    Metric("replay/gather_seconds", "s", "Part of sampling: gathering the transitions."),
    _count("replay/device_sampler", "", "1 if the device samples, 0 if the sum tree does."),
]

_RESOURCES = [
    _latest("resources/cpu_percent", "%", "CPU use of the machine; 100 means all cores are busy."),
    _latest("resources/process_cpu_percent", "%", "CPU use of this process; 100 means one core."),
    _latest("resources/memory_bytes", "bytes", "Resident memory of this process."),
    _latest("resources/memory_percent", "%", "Memory of the machine in use."),
    _latest("resources/disk_free_bytes", "bytes", "Free space on the disk of the run directory."),
    _latest("resources/threads", "threads", "Number of threads of this process."),
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
    Metric("custom", "", "Metric of a registered algorithm, by name.", False, True),
]

_CLUSTER = [
    _count("cluster/actors", "actors", "Actors whose process runs."),
    _count("cluster/losses", "actors", "Actors that died and were replaced, in this session."),
    _count("cluster/lost_rollouts", "rollouts", "Rollouts lost with them, in this session."),
    _count(
        "cluster/dropped_rollouts",
        "rollouts",
        "Rollouts dropped because they were older than --max-lag, in this session.",
    ),
    Metric(
        "cluster/lag_mean",
        "updates",
        "Age of the policy that collected a rollout, mean over the rollouts learned from.",
    ),
    _latest("actor/lag", "updates", "Age of an actor's last rollout; a series per actor.", True),
    _latest(
        "actor/steps_per_second",
        "steps/s",
        "Speed of an actor, including the time it waits; a series per actor.",
        True,
    ),
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
    "Actors of a cluster": _CLUSTER,
    "Resources": _RESOURCES,
    "Telemetry": _TELEMETRY,
    "Your own": _CUSTOM,
}

METRICS: dict[str, Metric] = {
    metric.name: metric for metrics in GROUPS.values() for metric in metrics
}


def find_metric(name: str) -> Metric | None:
    """Returns the metric of a name, which may have a label; None if it is unknown."""
    metric = METRICS.get(name)
    if metric is not None:
        return None if metric.labelled else metric
    stem, _, label = name.rpartition("/")
    metric = METRICS.get(stem)
    return metric if metric is not None and metric.labelled and label else None


def clean_row(row: Mapping[str, Any]) -> tuple[CleanRow, int]:
    """Validates a row against the list of metrics.

    Args:
        row: Numbers by name; NumPy scalars are accepted, tensors and bools are not.

    Returns:
        The row with Python numbers (None for NaN and infinity), and the number of None values.

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
