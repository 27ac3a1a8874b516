"""Presets: named starting points for a run, tuned with benchmarks/time_to_clear.py.

A preset is a partial tree. Values that depend on the observation or the algorithm are not part of
it; see `config.resolve`.
"""

from __future__ import annotations

from typing import Any

from warpzone.config.sources import Partial, checked_tree, merged
from warpzone.config.values import suggestion
from warpzone.errors import ConfigError

# A GPU handles large batches and does not need replay, so the values tuned for CPUs are reset.
_GPU: dict[str, dict[str, Any]] = {
    "env": {"stack": 0, "actions": "simple"},
    "model": {"encoder": "impala"},
    "learn": {
        "rollout_steps": 64,
        "epochs": 4,
        "ent_coef": 0.01,
        "ent_coef_fade": 1.0,
        "ema_decay": 0.95,
    },
    "replay": {"capacity": 0},
}

_PRESETS: dict[str, dict[str, dict[str, Any]]] = {
    "cpu": {"run": {"steps": 2_000_000}},
    "cpu-quick": {
        "env": {"obs": "tiles"},
        "run": {"steps": 800_000, "stop_at_clear_rate": 0.9},
    },
    "campaign": {
        "env": {"obs": "tiles", "actions": "simple"},
        # Rewards are discounted by distance instead of time, since castle levels reward waiting; a
        # penalty per step keeps Mario running, and a smaller gae_lambda offsets the longer horizon.
        "reward": {"time": 0.01},
        "learn": {
            "gamma": 0.998,
            "progress_gamma": 0.95,
            "gae_lambda": 0.92,
            "ent_coef_fade": 0.5,
            "ema_decay": 0.98,
        },
        "run": {"steps": 2_000_000, "video_minutes": 0.0},
    },
    # For policies that already clear their level in part. In "campaign", 20 steps of waiting cost
    # as much as a chance of 9 % to die, so policies run where they should wait; here it is 3 %.
    "refine": {
        "env": {"obs": "tiles", "actions": "simple", "num_envs": 256, "reseed_game": True},
        "model": {"eval_temperature": 0.35},
        "starts": {"random_steps": 24},
        "reward": {"time": 0.002, "death": 3.0},
        # Large batches at a high rate: the remaining failures are rare, so gradients are noisy.
        "learn": {
            "gamma": 0.999,
            "progress_gamma": 0.95,
            "stagnation_penalty": 3.0,  # As for a death: neither clears the level.
            "epochs": 3,
            "minibatch_size": 2048,
            "learning_rate": 7e-4,
            "lr_schedule": "cosine",
            "lr_success_factor": 1.0,
            # Levels that were never cleared need exploration. With the first clears the bonus fades
            # to nearly 0, which gained some points on 8-2 (docs/decisions/presets.md).
            "ent_coef": 0.01,
            "ent_coef_at_success": 0.0,
            "ent_coef_fade": 0.1,
            "ema_decay": 0.98,
        },
        "run": {"steps": 4_000_000, "video_minutes": 0.0},
    },
    "gpu": merged(
        _GPU,
        {
            "env": {"num_envs": 128},
            "learn": {"learning_rate": 5e-4, "minibatch_size": 2048},
            "run": {"steps": 20_000_000},
        },
    ),
    "gpu-large": merged(
        _GPU,
        {
            "env": {"num_envs": 256},
            "model": {"hidden": 512, "memory": "lstm", "memory_size": 512},
            "learn": {"learning_rate": 3e-4, "rollout_steps": 128, "minibatch_size": 4096},
            "run": {"steps": 100_000_000},
        },
    ),
    # Environments in worker processes, for emulators that need a process each. One environment is
    # tried in the parent first, workers start one after the other, dead workers are replaced, and
    # if none can be started, training continues in one process.
    "stable-async": {
        "env": {"vector": "async", "num_envs": 8},
        "workers": {
            "prewarm": 1,
            "start_delay": 0.25,
            "replacements": 16,
            "fallback_sync": True,
        },
        "learn": {"rollout_steps": 128, "minibatch_size": 256},
        "run": {"steps": 2_000_000},
    },
}

PRESET_NAMES = tuple(_PRESETS)


def preset(name: str) -> Partial:
    """Returns the options that a preset sets.

    Raises:
        ConfigError: The preset does not exist.
    """
    if name not in _PRESETS:
        raise ConfigError(
            f"there is no preset {name!r}; the presets are {', '.join(_PRESETS)}"
            f"{suggestion(name, _PRESETS)}"
        )
    return checked_tree(_PRESETS[name], f"preset {name}")
