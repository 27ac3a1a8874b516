"""Adaptive control: pushes harder while few lanes move forward, and eases off when most do."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any, NamedTuple


class Scales(NamedTuple):
    """Factors on what the configuration says; 1 leaves it alone."""

    distance: float = 1.0
    entropy: float = 1.0
    rate: float = 1.0


_LOWEST, _HIGHEST = Scales(0.5, 0.5, 0.5), Scales(4.0, 4.0, 2.0)


@dataclass(frozen=True)
class AdaptiveSettings:
    """When and how far the scales move.

    Attributes:
        low: With a smaller share of lanes that move forward the scales rise.
        high: With a larger one they fall.
        window: Rollouts of the mean.
        smoothing: Weight of the newest rollout in the moving average.
        factor: A scale is multiplied or divided by it, the rate's by its root.
        cool_down: Updates between two changes.
        lowest: The scales' lower bounds.
        highest: Their upper bounds.
        lock: A scale that is not 1 counts from the configured value, whatever annealing says.
    """

    low: float = 0.3
    high: float = 0.8
    window: int = 10
    smoothing: float = 0.2
    factor: float = 1.25
    cool_down: int = 5
    lowest: Scales = _LOWEST
    highest: Scales = _HIGHEST
    lock: bool = False


class AdaptiveControl:
    """Turns shares of lanes that move forward into scales."""

    def __init__(self, settings: AdaptiveSettings):
        """Begins with every scale at 1."""
        self.settings = settings
        self.scales = Scales()
        self._shares: deque[float] = deque(maxlen=settings.window)
        self._average: float | None = None
        self._rest = 0

    def observe(self, share: float) -> bool:
        """Takes the share of a rollout's lanes that moved forward.

        Both the mean of the window and the moving average must agree: the one forgets an outlier,
        the other is quick to see a turn.

        Returns:
            Whether the scales changed.
        """
        s = self.settings
        self._shares.append(share)
        average = share if self._average is None else self._average
        self._average = average + s.smoothing * (share - average)
        if self._rest > 0:
            self._rest -= 1
            return False
        mean = sum(self._shares) / len(self._shares)
        if max(mean, self._average) < s.low:
            return self._move(s.factor)
        if min(mean, self._average) > s.high:
            return self._move(1.0 / s.factor)
        return False

    def _move(self, factor: float) -> bool:
        s = self.settings
        wanted = Scales(
            self.scales.distance * factor,
            self.scales.entropy * factor,
            self.scales.rate * factor**0.5,
        )
        bounds = zip(wanted, s.lowest, s.highest, strict=True)
        moved = Scales(*(min(max(value, low), high) for value, low, high in bounds))
        changed = moved != self.scales
        self.scales = moved
        if changed:
            self._rest = s.cool_down
        return changed

    def applied(self, scale: float, base: float, annealed: float) -> float:
        """A value under its scale.

        Args:
            scale: One of `scales`.
            base: What the configuration says.
            annealed: What annealing has made of it.
        """
        locked = self.settings.lock and scale != 1.0
        return scale * (base if locked else annealed)

    def state_dict(self) -> dict[str, Any]:
        """Scales and what they follow from."""
        return {
            "scales": list(self.scales),
            "shares": list(self._shares),
            "average": self._average,
            "rest": self._rest,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Takes what `state_dict` gave."""
        self.scales = Scales(*state["scales"])
        self._shares = deque(state["shares"], maxlen=self.settings.window)
        self._average = state["average"]
        self._rest = state["rest"]
