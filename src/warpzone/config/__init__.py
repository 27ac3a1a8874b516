"""The configuration of a run: one tree of options, presets, and where values come from."""

from warpzone.config.distillation import DistillOptions
from warpzone.config.environment import EnvOptions, RewardOptions, StartOptions, WorkerOptions
from warpzone.config.files import to_toml, tree_to_toml
from warpzone.config.guidance import AdaptiveOptions, RescueOptions, ScriptOptions
from warpzone.config.kinds import Weight
from warpzone.config.learning import LearnOptions, ModelOptions, ReplayOptions
from warpzone.config.presets import PRESET_NAMES
from warpzone.config.resolve import (
    make_config,
    resolve,
    with_refining,
    with_teachers,
    with_threads,
)
from warpzone.config.run import RunOptions, WatchOptions
from warpzone.config.sources import (
    Partial,
    checked_tree,
    explicit_options,
    from_environment,
    from_file,
    from_keywords,
    from_toml,
    merged,
    overlaid,
)
from warpzone.config.tree import TrainConfig, train_options

__all__ = [
    "PRESET_NAMES",
    "AdaptiveOptions",
    "DistillOptions",
    "EnvOptions",
    "LearnOptions",
    "ModelOptions",
    "Partial",
    "ReplayOptions",
    "RescueOptions",
    "RewardOptions",
    "RunOptions",
    "ScriptOptions",
    "StartOptions",
    "TrainConfig",
    "WatchOptions",
    "Weight",
    "WorkerOptions",
    "checked_tree",
    "explicit_options",
    "from_environment",
    "from_file",
    "from_keywords",
    "from_toml",
    "make_config",
    "merged",
    "overlaid",
    "resolve",
    "to_toml",
    "train_options",
    "tree_to_toml",
    "with_refining",
    "with_teachers",
    "with_threads",
]
