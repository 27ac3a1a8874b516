"""From explicit values to a whole configuration: options that depend on others are settled here.

Layers, later ones winning: defaults; what suits the observation; the preset; what suits the
algorithm, the recurrent core and solutions; then what was set explicitly by a TOML file, a
variable, the command line or a keyword, in this order. So an option gives the same run whichever
way it was set, and an explicit value is never changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from warpzone.config.presets import preset as preset_tree
from warpzone.config.sources import (
    Partial,
    from_environment,
    from_file,
    from_keywords,
    merged,
    overlaid,
)
from warpzone.config.tree import TrainConfig

DEFAULT_PRESET = "cpu"

# Advantages look about a dozen steps ahead (gamma x lambda = 0.92), so short rollouts lose nothing,
# and many small updates learn from fewer steps than few large ones. Frames take longer to be
# understood than tiles, and the policy must not settle before. What once went well is worth more
# than one look; tiles are learned as quickly without replay.
_FOR_IMAGES: dict[str, dict[str, Any]] = {
    "env": {"stack": 2},
    "learn": {
        "rollout_steps": 32,
        "minibatch_size": 256,
        "epochs": 2,
        "learning_rate": 5e-4,
        "ent_coef": 0.02,
        "ent_coef_fade": 0.5,
        "ema_decay": 0.98,
    },
    "replay": {"capacity": 32_768},
}

# Along known solutions most episodes start within the level.
_FOR_SOLUTIONS = {"starts": {"share": 0.7}}


def resolve(explicit: Partial, preset: str = DEFAULT_PRESET) -> TrainConfig:
    """Makes the configuration of a new run.

    Args:
        explicit: What was set, by whichever channel.
        preset: The starting point.

    Raises:
        ConfigError: For an unknown preset, or values that do not fit together.
    """
    defaults, chosen = asdict(TrainConfig()), preset_tree(preset)
    asked = merged(defaults, chosen, explicit)
    suited: list[Partial] = []
    if asked["env"]["obs"] != "tiles":
        suited.append(_FOR_IMAGES)
    tuned = merged(defaults, *suited, chosen)
    if asked["learn"]["algo"] == "vtrace":
        tuned = merged(tuned, _for_vtrace(tuned["learn"]))
    if asked["model"]["memory"] != "none":
        tuned = merged(tuned, {"replay": {"capacity": 0}})  # It samples single steps.
    if asked["starts"]["solutions"]:
        tuned = merged(tuned, _FOR_SOLUTIONS)
    config = overlaid(TrainConfig(), merged(tuned, explicit))
    config.verify()
    return config


def make_config(
    preset: str = DEFAULT_PRESET,
    *,
    file: Path | str | None = None,
    environment: Mapping[str, str] | None = None,
    **options: Any,
) -> TrainConfig:
    """Makes the configuration of a new run, as `warpzone train` does.

    Args:
        preset: The starting point.
        file: A TOML file of options.
        environment: Variables to look at; by default those of this process.
        options: By their names on the command line, with underscores: `obs="tiles"`,
            `reward_distance=0.02`.

    Raises:
        ConfigError: For anything that is unknown or not allowed; the text names it.
    """
    explicit = merged(
        {} if file is None else from_file(Path(file)),
        from_environment(environment),
        from_keywords(options),
    )
    return resolve(explicit, preset)


def _for_vtrace(learn: Mapping[str, Any]) -> Partial:
    """V-trace learns from a rollout once, with as many gradients per step as PPO.

    Several passes, as PPO makes, did not learn 1-1, and without PPO's clipping the policy collapses
    now and then at PPO's learning rate.
    """
    return {
        "learn": {
            "epochs": 1,
            "rollout_steps": 32,
            "minibatch_size": max(256, learn["minibatch_size"] // 4),
            "learning_rate": learn["learning_rate"] / 2,
        }
    }
