"""Choosing the episode to record among those of several seeds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from warpzone.video.episode import Outcome

OnProgress = Callable[[str, int, int], None]
"""Called with what is being done, the number of finished parts and of all parts."""


@dataclass(frozen=True)
class Choice:
    """An episode that was chosen.

    Attributes:
        seed: Its seed.
        tried: Number of episodes that were played to choose it; 0 if there was no choice.
        cleared: Whether it clears the level, if it was played.
        steps: Its steps, if it was played.
    """

    seed: int
    tried: int = 0
    cleared: bool = False
    steps: int | None = None

    @property
    def reason(self) -> str:
        """Why it was chosen, in one line."""
        if self.tried == 0:
            return f"kept the episode of seed {self.seed}, the only one played"
        if self.cleared:
            tried = "the first one played" if self.tried == 1 else f"{self.tried} were played"
            return f"kept the episode of seed {self.seed}, the first that clears ({tried})"
        return (
            f"kept the episode of seed {self.seed}, which gets furthest: none of {self.tried} "
            "clears"
        )

    def on_step(self, progress: OnProgress | None) -> Callable[[int], None] | None:
        """Returns the `on_step` of the recording; without a known length it reports nothing."""
        steps = self.steps
        if progress is None or steps is None:
            return None
        return lambda step: progress("recording", step, steps)


@dataclass(frozen=True)
class Recording:
    """A recorded episode: the file, why it was chosen, and how it ended."""

    path: Path
    choice: Choice
    outcome: Outcome


def choose_episode(
    play: Callable[[int], Outcome],
    seeds: range,
    distance: Callable[[Outcome], int],
    progress: OnProgress | None = None,
) -> Choice:
    """Returns the first episode that clears, or else the one that gets furthest.

    Args:
        play: Plays the episode of a seed.
        seeds: Seeds to try; a single one is chosen without playing it.
        distance: How far an episode got; the earliest of equals is chosen.
        progress: Called before each episode.
    """
    if len(seeds) == 1:
        return Choice(seeds[0])
    played: dict[int, Outcome] = {}
    for seed in seeds:
        if progress is not None:
            progress(f"trying seed {seed}", len(played), len(seeds))
        played[seed] = play(seed)
        if played[seed].cleared:
            break
    else:
        seed = max(played, key=lambda one: distance(played[one]))
    outcome = played[seed]
    return Choice(seed, len(played), outcome.cleared, int(outcome.info["steps"]))
