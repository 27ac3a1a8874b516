"""Creates the episode starts of a run from its configuration."""

from __future__ import annotations

from warpzone import _native
from warpzone.config import TrainConfig
from warpzone.envs.vectors.make import AnyVectorEnv
from warpzone.runs.level_shares import level_shares
from warpzone.runs.levels import draws_levels, trained_levels
from warpzone.search.solution import solutions_folder
from warpzone.training.curriculum.delivery import QueuedDelivery
from warpzone.training.curriculum.levels import LevelChooser, LevelCurriculum, RandomLevels
from warpzone.training.curriculum.solutions import read_guides
from warpzone.training.curriculum.starts import PLACE_SPACING, EpisodeStarts

# Episodes are rarely shorter, which bounds the number of starts to queue per rollout.
_SHORT_EPISODE = 32


def make_starts(
    config: TrainConfig,
    env: AnyVectorEnv,
    seed: int,
    player: _native.RolloutPlayer | None = None,
) -> EpisodeStarts:
    """Creates the object that chooses the level and start of each episode.

    Args:
        config: Configuration of the run.
        env: Environments of the run.
        seed: Random seed of the choices.
        player: Native player of whole rollouts; None if environments are stepped from Python.
    """
    options, levels = config.starts, trained_levels(config.env)
    chooser: LevelChooser | None = None
    if config.env.level_order == "curriculum":
        chooser = LevelCurriculum(levels)
    elif draws_levels(config.env) and config.env.vector == "native":
        chooser = RandomLevels(levels, seed)
    if chooser is not None:
        chooser.set_factors(level_shares(config.env))
    guides = None
    if options.solutions:
        folder = solutions_folder(options.solutions)
        guides = read_guides(folder, levels, PLACE_SPACING, config.env.rom or None)
    delivery = None
    if player is not None:
        ahead = 1 + config.learn.rollout_steps // _SHORT_EPISODE
        spacing = PLACE_SPACING if options.share > 0 else 0
        delivery = QueuedDelivery(player, env.num_envs, ahead, spacing)
    return EpisodeStarts(env, options, seed, guides=guides, chooser=chooser, delivery=delivery)
