"""Hints: advice to the user, derived from the metrics of a run."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Mapping
from statistics import median

Row = Mapping[str, object]

_HISTORY = 20
_EARLY_UPDATES = 20  # Earlier metrics mean little.
_FEW_EPISODES = 10
_MAX_FORCED = 0.5  # Fraction of forced actions above which a row is not about the policy.


class Hints:
    """Derives hints from rows of metrics; each is given once per cool-down."""

    def __init__(
        self,
        cool_down: float = 1800.0,
        clock: Callable[[], float] = time.monotonic,
    ):
        """Creates the observer.

        Args:
            cool_down: Seconds before a hint may be repeated.
            clock: Clock; for tests.
        """
        self._cool_down, self._clock = cool_down, clock
        self._said: dict[str, float] = {}
        self._value_losses: deque[float] = deque(maxlen=_HISTORY)
        self._skipped = 0.0

    def observe(self, row: Row) -> list[str]:
        """Returns the hints for a row."""
        now = self._clock()
        hints = []
        for name, rule in _RULES.items():
            text = rule(row)
            if text is not None and now - self._said.get(name, -math.inf) >= self._cool_down:
                self._said[name] = now
                hints.append(text)
        return hints + self._explosions(row, now)

    def _explosions(self, row: Row, now: float) -> list[str]:
        """Returns hints about a loss far above its past values, or about skipped updates."""
        text = None
        loss = _number(row, "loss/value")
        usual = median(self._value_losses) if len(self._value_losses) >= _HISTORY // 2 else None
        if loss is not None:
            self._value_losses.append(loss)
            if usual is not None and loss > 10 * usual and loss > 1.0:
                text = f"the value loss is {loss:.3g}, over ten times its usual value ({usual:.3g})"
        skipped = _number(row, "learn/skipped") or 0.0
        if skipped > self._skipped:
            text = f"{skipped - self._skipped:.0f} updates were skipped: NaN or infinite gradients"
        self._skipped = skipped
        if text is None or now - self._said.get("explosion", -math.inf) < self._cool_down:
            return []
        self._said["explosion"] = now
        return [f"{text}; lower --learning-rate, or resume from an earlier checkpoint"]


def _no_distance(row: Row) -> str | None:
    share, progress = _number(row, "rollout/forward_share"), _number(row, "episode/progress_p50")
    if not _is_late(row) or _is_driven(row):
        return None
    if share is not None and share < 0.05:
        return (
            f"only {share:.0%} of the envs move forward; force the forward action when they are "
            "stuck (--rescue-after 10), or raise the reward for distance with --adaptive"
        )
    if progress is not None and progress < 50 and _episodes(row) >= _FEW_EPISODES:
        return (
            f"half of the episodes end within {progress:.0f} pixels; raise --ent-coef, or use a "
            "start script (--script-forward-frames 120) to show the policy what lies ahead"
        )
    return None


def _low_fill(row: Row) -> str | None:
    fill, updates = _number(row, "replay/fill"), (_number(row, "run/updates") or 0)
    if fill is None or updates < 100 or fill >= 0.05:
        return None
    return (
        f"replay uses only {fill:.1%} of its capacity after {updates:.0f} updates; lower "
        "--replay-capacity to save memory"
    )


def _low_gpu(row: Row) -> str | None:
    shares = [
        value
        for name, value in row.items()
        if name.startswith("resources/gpu_percent/") and isinstance(value, int | float)
    ]
    if not shares or not _is_late(row) or max(shares) >= 40:
        return None
    return (
        f"the GPU is busy only {max(shares):.0f} % of the time; collect while it learns "
        "(--overlap), or use more environments (--num-envs)"
    )


def _many_truncations(row: Row) -> str | None:
    names = ("end/stagnation_share", "end/step_limit_share", "end/time_share")
    share = sum(_number(row, name) or 0.0 for name in names)
    if not _is_late(row) or _is_driven(row) or _episodes(row) < _FEW_EPISODES or share < 0.5:
        return None
    return (
        f"{share:.0%} of the episodes are truncated or run out of time, so the policy gets stuck; "
        "raise --reward-time or --ent-coef, or lower --stagnation-limit to waste fewer steps"
    )


def _converged_too_early(row: Row) -> str | None:
    entropy, rate = _number(row, "learn/entropy"), _number(row, "rollout/clear_rate")
    if not _is_late(row) or _is_driven(row):
        return None
    if entropy is None or rate is None or entropy >= 0.05 or rate >= 0.5:
        return None
    return (
        f"the policy is nearly deterministic (entropy {entropy:.3f}) and clears only {rate:.0%}; "
        "raise --ent-coef and resume with --resume-with-changes"
    )


def _number(row: Row, name: str) -> float | None:
    """Returns a finite number of the row, or None."""
    value = row.get(name)
    return value if isinstance(value, int | float) else None


def _is_late(row: Row) -> bool:
    return (_number(row, "run/updates") or 0) >= _EARLY_UPDATES


def _is_driven(row: Row) -> bool:
    """Whether a script or a rescue chose most actions, so that metrics are not the policy's."""
    return (_number(row, "rollout/override_share") or 0.0) >= _MAX_FORCED


def _episodes(row: Row) -> float:
    return _number(row, "episode/count") or 0


_RULES: dict[str, Callable[[Row], str | None]] = {
    "distance": _no_distance,
    "fill": _low_fill,
    "gpu": _low_gpu,
    "cuts": _many_truncations,
    "entropy": _converged_too_early,
}
