"""Adaptive control: scales hyperparameters by how many environments move forward."""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple

from warpzone.config import AdaptiveOptions


class Scales(NamedTuple):
    """Factors on configured values; 1 leaves a value unchanged."""

    distance: float = 1.0
    entropy: float = 1.0
    rate: float = 1.0


class AdaptiveControl:
    """Computes scales from the fraction of environments that move forward."""

    def __init__(self, options: AdaptiveOptions):
        """Creates a control with all scales at 1."""
        self._options = options
        self.scales = Scales()
        self._shares: deque[float] = deque(maxlen=options.window)
        self._average: float | None = None
        self._rest = 0

    def observe(self, share: float) -> bool:
        """Updates the scales with the fraction of environments that moved forward in a rollout.

        The windowed mean and the moving average must agree: the former is robust to outliers, the
        latter reacts early to a change.

        Returns:
            Whether the scales changed.
        """
        options = self._options
        low, high = options.thresholds
        self._shares.append(share)
        average = share if self._average is None else self._average
        self._average = average + options.smoothing * (share - average)
        if self._rest > 0:
            self._rest -= 1
            return False
        mean = sum(self._shares) / len(self._shares)
        if max(mean, self._average) < low:
            return self._move(options.factor)
        if min(mean, self._average) > high:
            return self._move(1.0 / options.factor)
        return False

    def _move(self, factor: float) -> bool:
        wanted = Scales(
            self.scales.distance * factor,
            self.scales.entropy * factor,
            self.scales.rate * factor**0.5,
        )
        options = self._options
        bounds = (options.distance_bounds, options.entropy_bounds, options.lr_bounds)
        pairs = zip(wanted, bounds, strict=True)
        moved = Scales(*(min(max(value, low), high) for value, (low, high) in pairs))
        changed = moved != self.scales
        self.scales = moved
        if changed:
            self._rest = options.cool_down
        return changed

    def applied(self, scale: float, base: float, annealed: float) -> float:
        """Applies a scale to a value.

        Args:
            scale: One of `scales`.
            base: Configured value.
            annealed: Value after annealing.
        """
        locked = self._options.lock and scale != 1.0
        return scale * (base if locked else annealed)

    def state_dict(self) -> dict[str, Any]:
        """Returns the state that an exact resume needs."""
        return {
            "scales": list(self.scales),
            "shares": list(self._shares),
            "average": self._average,
            "rest": self._rest,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restores the state returned by `state_dict`."""
        self.scales = Scales(*state["scales"])
        self._shares = deque(state["shares"], maxlen=self._options.window)
        self._average = state["average"]
        self._rest = state["rest"]
