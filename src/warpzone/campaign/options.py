"""The options of a campaign; nothing heavy is imported here, for the command line."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CampaignOptions:
    """What is trained, how well, and for how long."""

    levels: str = "all"
    """Levels to train: '1-1', '1-1,1-2', '1-1..2-4', or 'all'."""
    together: bool = False
    """Train one policy for all of them instead of one a level."""
    goal: float = 0.9
    """A level is done when its policy clears it so often in fresh episodes."""
    minutes_per_level: float = 0.0
    """Time of training a level; 0 means no limit but that of steps."""
    steps_per_level: int = 0
    """Environment steps for each level; 0 means as many as --steps says."""
    rounds: int = 1
    """So often the levels below the goal get a level's budget; from the second round on their runs
    are resumed."""
    episodes: int = 100
    """Episodes of each check and of each number on the scoreboard."""
