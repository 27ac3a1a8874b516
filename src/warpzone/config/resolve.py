"""Resolves explicit values into a whole configuration, including options that depend on others.

Layers, from lowest to highest precedence: defaults; values suited to the observation; the preset;
values suited to teachers, the algorithm, the recurrent core and solutions; explicit values from a
TOML file, environment variables, the command line and keywords. An option therefore gives the same
run through every channel, and an explicit value is never overridden.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
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
# and many small updates need fewer steps than a few large ones. An image encoder takes longer to
# learn than a tile encoder, and the policy must not become deterministic before it has. Replay
# helps with images; tiles are learned as quickly without it.
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

# Found by a sweep on 1-1 (docs/decisions/presets.md): many small gradient steps, and an entropy
# bonus that is small and fades with the first clears.
_FOR_QUICK_TILES: dict[str, dict[str, Any]] = {
    "learn": {
        "minibatch_size": 512,
        "learning_rate": 1.2e-3,
        "gae_lambda": 0.89,
        "ent_coef": 0.0041,
        "ent_coef_fade": 0.37,
    }
}
_QUICK_PRESET = "cpu-quick"

# 1-1 took a quarter more steps with it (seed 0), so quick presets keep the smaller encoder.
_FOR_HARD_LEVELS = {"model": {"encoder": "tiles-v2"}}
_HARD_LEVEL_PRESETS = ("campaign", "refine")

# With solutions, most episodes start within the level.
_FOR_SOLUTIONS = {"starts": {"share": 0.7}}

# For policies that play levels as parts of a whole game: Mario brings power-ups, and keeping them
# pays; levels begin as they do in a game.
_FOR_WHOLE_GAMES: dict[str, dict[str, Any]] = {
    "env": {"random_power": 0.35, "game_start_prob": 0.4, "reseed_game": True},
    "reward": {"power": 0.5},
}
# The network that plays them all also starts within levels, if it knows places there.
_FOR_GENERALISTS: dict[str, dict[str, Any]] = {
    "env": {"num_envs": 128, "max_steps": 3000},
    "starts": {"random_steps": 24},
}
_GENERALIST_START_SHARE = 0.2

# A network that learns from teachers on its own states. The learning rate falls with the steps and
# not with success, and the network samples closer to greedily than it learned.
_FOR_TEACHERS: dict[str, dict[str, Any]] = {
    "env": {"obs": "tiles", "actions": "whole-game", "num_envs": 96, "level_order": "curriculum"},
    "model": {"hidden": 512, "eval_temperature": 0.35},
    "learn": {
        "rollout_steps": 32,
        "learning_rate": 1e-3,
        "lr_schedule": "cosine",
        "lr_final_factor": 0.1,
        "lr_success_factor": 1.0,
        "advantage_norm": "level",
    },
    "replay": {"capacity": 0},
}


def resolve(explicit: Partial, preset: str = DEFAULT_PRESET) -> TrainConfig:
    """Resolves the configuration of a new run.

    Args:
        explicit: Options that were set explicitly, from any source.
        preset: Name of the preset to start from.

    Raises:
        ConfigError: The preset is unknown, or the values are inconsistent.
    """
    defaults, chosen = asdict(TrainConfig()), preset_tree(preset)
    if explicit.get("distill", {}).get("teachers"):
        chosen = merged(chosen, _FOR_TEACHERS)
    asked = merged(defaults, chosen, explicit)
    suited: list[Partial] = []
    if asked["env"]["obs"] != "tiles":
        suited.append(_FOR_IMAGES)
    elif asked["env"]["wrap"] == "none" and (
        preset in _HARD_LEVEL_PRESETS or asked["distill"]["teachers"]
    ):
        suited.append(_FOR_HARD_LEVELS)
    if asked["env"]["obs"] == "tiles" and preset == _QUICK_PRESET:
        suited.append(_FOR_QUICK_TILES)
    tuned = merged(defaults, *suited, chosen)
    if asked["learn"]["algo"] == "vtrace":
        tuned = merged(tuned, _for_vtrace(tuned["learn"]))
    if asked["model"]["memory"] != "none":
        tuned = merged(tuned, {"replay": {"capacity": 0}})  # Replay samples single steps.
    if asked["starts"]["solutions"]:
        tuned = merged(tuned, _FOR_SOLUTIONS)
    config = overlaid(TrainConfig(), merged(tuned, explicit))
    config.verify()
    return config


def with_teachers(config: TrainConfig, teachers: str) -> TrainConfig:
    """The configuration of a generalist: it learns from teachers and plays whole games.

    Args:
        config: The resolved configuration of the teachers, whose actions the student has.
        teachers: A policy file, or a folder of policy files.
    """
    own: dict[str, dict[str, Any]] = {
        "env": {"actions": config.env.actions},
        "distill": {"teachers": teachers},
        "starts": {"share": _GENERALIST_START_SHARE if config.starts.solutions else 0.0},
    }
    games = _unless_set(_FOR_WHOLE_GAMES, asdict(config))
    changed = overlaid(config, merged(_FOR_TEACHERS, games, _FOR_GENERALISTS, own))
    changed.verify()
    return changed


def with_refining(config: TrainConfig, source: str, *, whole_games: bool = False) -> TrainConfig:
    """A configuration that continues a run with the preset `refine`.

    Args:
        config: The resolved configuration of the run. What neither its preset, `campaign`, nor
            `refine` sets stays.
        source: The run.
        whole_games: Also learn to play the level as part of a whole game, as far as the
            configuration does not say how.
    """
    defaults, current = asdict(TrainConfig()), asdict(config)
    unset = {
        table: {
            name: defaults[table][name]
            for name, value in values.items()
            if current[table][name] == value
        }
        for table, values in preset_tree("campaign").items()
    }
    kept: dict[str, dict[str, Any]] = {
        "env": {"obs": config.env.obs, "actions": config.env.actions},
        "run": {"init_from": source},
    }
    games = _unless_set(_FOR_WHOLE_GAMES, current) if whole_games else {}
    changed = overlaid(config, merged(unset, preset_tree("refine"), games, kept))
    changed.verify()
    return changed


def _unless_set(values: Partial, current: Partial) -> Partial:
    """Returns the values of options that are still at their defaults."""
    defaults = asdict(TrainConfig())
    return {
        table: {
            name: value
            for name, value in options.items()
            if current[table][name] == defaults[table][name]
        }
        for table, options in values.items()
    }


def with_threads(config: TrainConfig, threads: int) -> TrainConfig:
    """Limits a configuration to a number of threads where it would use every core."""
    return replace(
        config,
        env=replace(config.env, num_threads=config.env.num_threads or threads),
        run=replace(config.run, torch_threads=config.run.torch_threads or threads),
    )


def make_config(
    preset: str = DEFAULT_PRESET,
    *,
    file: Path | str | None = None,
    environment: Mapping[str, str] | None = None,
    **options: Any,
) -> TrainConfig:
    """Makes the configuration of a new run, as `warpzone train` does.

    Args:
        preset: Name of the preset to start from.
        file: TOML file of options.
        environment: Environment variables; defaults to those of this process.
        options: Options by their flags, with underscores: `obs="tiles"`, `reward_distance=0.02`.

    Raises:
        ConfigError: An option is unknown or a value is invalid; the message names it.
    """
    explicit = merged(
        {} if file is None else from_file(Path(file)),
        from_environment(environment),
        from_keywords(options),
    )
    return resolve(explicit, preset)


def _for_vtrace(learn: Mapping[str, Any]) -> Partial:
    """Returns values suited to V-trace: one epoch, with as many gradient steps per env step as PPO.

    With several epochs, as in PPO, V-trace did not learn 1-1; and without PPO's clipping, the
    policy occasionally collapses at PPO's learning rate.
    """
    return {
        "learn": {
            "epochs": 1,
            "rollout_steps": 32,
            "minibatch_size": max(256, learn["minibatch_size"] // 4),
            "learning_rate": learn["learning_rate"] / 2,
        }
    }
