"""From the configuration to where episodes begin."""

from __future__ import annotations

from pathlib import Path

from warpzone.config import TrainConfig
from warpzone.envs.vectors.make import AnyVectorEnv
from warpzone.runs.levels import draws_levels, trained_levels
from warpzone.training.curriculum.levels import LevelChooser, LevelCurriculum, RandomLevels
from warpzone.training.curriculum.solutions import read_guides
from warpzone.training.curriculum.starts import PLACE_SPACING, EpisodeStarts


def make_starts(config: TrainConfig, env: AnyVectorEnv, seed: int) -> EpisodeStarts:
    """Makes what chooses the level and the place of each episode."""
    options, levels = config.starts, trained_levels(config.env)
    chooser: LevelChooser | None = None
    if config.env.level_order == "curriculum":
        chooser = LevelCurriculum(levels)
    elif draws_levels(config.env) and config.env.vector == "native":
        chooser = RandomLevels(levels, seed)
    guides = (
        read_guides(Path(options.solutions), levels, PLACE_SPACING, config.env.rom or None)
        if options.solutions
        else None
    )
    return EpisodeStarts(env, options, seed, guides=guides, chooser=chooser)
