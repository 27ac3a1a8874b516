"""The one list of metric names; rows are checked against it and docs/metrics.md is made from it.

`python -m warpzone.telemetry.metrics_page docs/metrics.md` writes the page again.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from warpzone.errors import MetricError

MetricRow = dict[str, float | int]
"""What a producer writes: name to number."""

CleanRow = dict[str, float | int | None]
"""What reaches the sinks: as above, where None stands for a number that was not finite."""

STEPS = "run/steps"
UPDATES = "run/updates"
STARTS = "run/starts"

# In the order in which an episode's end is judged; `other` is what none of them explains.
END_REASONS = {
    "clear": "the level was cleared",
    "enemy": "a life was lost to an enemy",
    "pit": "a life was lost in a pit",
    "time": "a life was lost to the game's clock",
    "warp": "a warp pipe led to another world",
    "stagnation": "cut off: no progress for too long",
    "limit": "cut off: the step limit was reached",
    "other": "none of these",
}

# Names of the environment's reward terms; a test compares them with the native list.
REWARD_TERMS = ("distance", "score", "coin", "death", "clear", "milestone", "time")


@dataclass(frozen=True)
class Metric:
    """One name.

    Attributes:
        name: `group/name`.
        unit: What one of it is; empty for a plain number.
        help: One sentence.
        whole: Whether it is a whole number.
        labelled: Whether a label follows the name, as in `level/clear_rate/1-1`.
    """

    name: str
    unit: str
    help: str
    whole: bool = False
    labelled: bool = False


def _count(name: str, unit: str, text: str) -> Metric:
    return Metric(name, unit, text, whole=True)


def _spread(prefix: str, unit: str, text: str, statistics: str) -> list[Metric]:
    """The same quantity by several statistics, named as `warpzone.telemetry.summary` does."""
    meaning = {
        "mean": "mean",
        "std": "standard deviation",
        "min": "smallest",
        "max": "largest",
        "p10": "10th percentile",
        "p50": "median",
        "p90": "90th percentile",
        "p99": "99th percentile",
    }
    return [
        Metric(f"{prefix}_{key}", unit, f"{text}: {meaning[key]}.") for key in statistics.split()
    ]


_RUN = [
    Metric("run/time", "Unix seconds", "When the row was written."),
    Metric("run/elapsed", "s", "Wall time of the run so far, pauses between resumes left out."),
    _count(STEPS, "steps", "Environment steps of all lanes since the run began."),
    _count(UPDATES, "updates", "Updates of the policy since the run began."),
    _count("run/episodes", "episodes", "Episodes that have ended since the run began."),
    _count(STARTS, "starts", "How often the run was started; 1 until it is resumed."),
]

_LOSS = [
    Metric("loss/total", "", "What the optimizer minimises."),
    Metric("loss/policy", "", "Policy loss."),
    Metric("loss/value", "", "Value loss, before its coefficient."),
    Metric("loss/entropy", "", "Entropy term as it enters the total: minus coefficient x entropy."),
    Metric("loss/imitation_policy", "", "Policy part of self-imitation, before its weight."),
    Metric("loss/imitation_value", "", "Critic's part of it, before its weight."),
]

_LEARN = [
    _count("learn/policy_lag", "updates", "Age of the policy that collected; 0 unless overlapped."),
    Metric("learn/learning_rate", "", "Learning rate of the last optimizer step."),
    Metric("learn/ent_coef", "", "Weight of the entropy term."),
    Metric("learn/clip_range", "", "PPO's clipping range of the probability ratio."),
    Metric("learn/entropy", "nats", "Mean entropy of the policy."),
    Metric("learn/approx_kl", "nats", "Mean divergence of the new policy from the collecting one."),
    Metric("learn/clip_fraction", "share", "Samples whose ratio was clipped."),
    Metric("learn/rho_mean", "", "V-trace: mean importance ratio before it is cut off."),
    Metric("learn/grad_norm", "", "Gradient norm before clipping, mean over optimizer steps."),
    Metric("learn/explained_variance", "share", "Variance of the returns that the value explains."),
    Metric("learn/value_mean", "", "Mean value estimate of the rollout."),
    Metric("learn/advantage_std", "", "Spread of the advantages before they are normalised."),
    _count(
        "learn/epochs", "epochs", "Passes over the rollout, fewer when the KL limit stops them."
    ),
    _count("learn/skipped", "updates", "Optimizer steps that a guard skipped since the run began."),
]

_SPEED = [
    Metric("speed/steps_per_second", "steps/s", "Environment steps by wall time."),
    Metric("speed/updates_per_second", "updates/s", "Updates by wall time."),
    Metric("speed/rollout_seconds", "s", "Collecting, per update; overlapped, beside learning."),
    Metric("speed/emulation_seconds", "s", "Part of collecting: stepping the games, per update."),
    Metric("speed/inference_seconds", "s", "Part of collecting: choosing actions, per update."),
    Metric("speed/learn_seconds", "s", "Learning, per update."),
    Metric("speed/other_share", "share", "Time outside emulation, inference and learning."),
    Metric("speed/learner_idle_seconds", "s", "The learner's wait for its rollout."),
    Metric("speed/collector_idle_seconds", "s", "Time without collecting before the rollout."),
]

_EPISODE = [
    _count("episode/count", "episodes", "Episodes that ended since the row before."),
    *_spread("episode/return", "", "Sum of rewards", "mean std min max p50 p90 p99"),
    *_spread("episode/length", "steps", "Steps of an episode", "mean min max p10 p50 p90 p99"),
    *_spread("episode/progress", "px", "Progress", "mean std min max p50 p90 p99"),
    Metric("episode/progress_best", "px", "Most progress of any episode of the run."),
]

_ENDS = [
    metric
    for reason, text in END_REASONS.items()
    for metric in (
        _count(f"end/{reason}_count", "episodes", f"Episodes since the row before where {text}."),
        Metric(f"end/{reason}_share", "share", "The same, as a share of those episodes."),
    )
]

_REWARD = [
    Metric("reward/sum", "", "All rewards of the rollouts since the row before, all lanes."),
    *(
        Metric(f"reward/{term}_sum", "", f"Of ended episodes since the row before: {term} term.")
        for term in REWARD_TERMS
    ),
]

_ROLLOUT = [
    Metric("rollout/clear_rate", "share", "Clears among the last 100 episodes."),
    Metric("rollout/forward_share", "share", "Lanes whose progress rose during the rollout."),
    Metric("rollout/override_share", "share", "Steps whose action a script or a rescue forced."),
    Metric("rollout/progress_per_step", "px/step", "Progress of all lanes by steps."),
    Metric("rollout/stagnation_mean", "frames", "Frames without progress, mean over the lanes."),
    _count("rollout/milestones", "milestones", "Milestones passed since the row before."),
    _count("rollout/clears", "episodes", "Clears since the row before."),
    Metric("level/clear_rate", "share", "Clears among a level's last 100 episodes.", labelled=True),
    Metric("level/progress_mean", "px", "Mean progress on a level.", labelled=True),
    Metric("level/share", "share", "Steps that a curriculum aims to give a level.", labelled=True),
]

_AIDS = [
    _count("rescue/count", "rescues", "Rescues since the run began."),
    _count("rescue/envs", "lanes", "Lanes that are driven by a script or a rescue now."),
    Metric("adaptive/distance_weight", "", "Weight of distance under adaptive control."),
    Metric("adaptive/entropy_scale", "", "Its factor on the entropy weight."),
    Metric("adaptive/rate_scale", "", "Its factor on the learning rate."),
]

_REPLAY = [
    Metric("replay/fill", "share", "Transitions that can be drawn, of the capacity."),
    _count("replay/pushed", "transitions", "Transitions pushed since the run began."),
    Metric("replay/better_share", "share", "Drawn ones that were better than the critic says now."),
    Metric(
        "replay/demonstration_better_share", "share", "The same of steps drawn from demonstrations."
    ),
    Metric("replay/unique_ratio_last", "share", "Different transitions in the last draw."),
    Metric("replay/unique_ratio_mean", "share", "The same, mean over all draws."),
    *_spread("replay/priority", "", "Priorities as they are drawn by", "mean p50 p90 p99"),
    Metric("replay/sample_seconds", "s", "Drawing, per update."),
    Metric("replay/draw_seconds", "s", "Part of it: finding which."),
    Metric("replay/gather_seconds", "s", "Part of it: bringing them together."),
    _count("replay/device_sampler", "", "1 when the device draws, 0 for the sum-tree."),
]

_EVALUATION = [
    _count("eval/episodes", "episodes", "Episodes of the evaluation."),
    Metric("eval/clear_rate", "share", "Clears among them."),
    Metric("eval/clear_rate_low", "share", "Lower end of its 95 % Wilson interval."),
    Metric("eval/clear_rate_high", "share", "Upper end of it."),
    Metric("eval/return_mean", "", "Mean sum of rewards."),
    Metric("eval/progress_mean", "px", "Mean progress."),
]

_RESOURCES = [
    Metric("resources/cpu_percent", "%", "All cores of the machine; 100 is all of them busy."),
    Metric("resources/process_cpu_percent", "%", "This process; 100 is one core."),
    Metric("resources/memory_bytes", "bytes", "Resident memory of this process."),
    Metric("resources/memory_percent", "%", "Memory of the machine in use."),
    Metric("resources/disk_free_bytes", "bytes", "Free space where the run directory is."),
    Metric("resources/threads", "threads", "Threads of this process."),
    Metric("resources/gpu_percent", "%", "Time a GPU was busy, by index.", labelled=True),
    Metric("resources/gpu_memory_bytes", "bytes", "GPU memory in use, by index.", labelled=True),
    Metric("resources/gpu_watts", "W", "Power of a GPU, by index.", labelled=True),
    Metric("resources/gpu_celsius", "°C", "Temperature of a GPU, by index.", labelled=True),
]

_TELEMETRY = [
    _count("telemetry/dropped", "rows", "Rows and episodes lost since this start of the run."),
    _count("telemetry/not_finite", "values", "Values that were not finite; written as null."),
]

GROUPS: dict[str, list[Metric]] = {
    "The run": _RUN,
    "Losses": _LOSS,
    "Learning": _LEARN,
    "Speed": _SPEED,
    "Episodes": _EPISODE,
    "Ends of episodes": _ENDS,
    "Reward terms": _REWARD,
    "Rollouts and levels": _ROLLOUT,
    "Scripts, rescue and adaptive control": _AIDS,
    "Replay": _REPLAY,
    "Evaluation": _EVALUATION,
    "Resources": _RESOURCES,
    "Telemetry itself": _TELEMETRY,
}

METRICS: dict[str, Metric] = {
    metric.name: metric for metrics in GROUPS.values() for metric in metrics
}


def find_metric(name: str) -> Metric | None:
    """Returns the entry that a name belongs to, a label left out; None when it is unknown."""
    metric = METRICS.get(name)
    if metric is not None:
        return None if metric.labelled else metric
    stem, _, label = name.rpartition("/")
    metric = METRICS.get(stem)
    return metric if metric is not None and metric.labelled and label else None


def clean_row(row: Mapping[str, Any]) -> tuple[CleanRow, int]:
    """Checks a row against the list.

    Args:
        row: Names and numbers; NumPy scalars are welcome, tensors and bools are not.

    Returns:
        The row with Python numbers and None for what is not finite, and how many those were.

    Raises:
        MetricError: A name is unknown or a value is no number.
    """
    clean: CleanRow = {}
    not_finite = 0
    for name, value in row.items():
        metric = find_metric(name)
        if metric is None:
            raise MetricError(f"'{name}' is no metric; add it to telemetry/metrics.py")
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
