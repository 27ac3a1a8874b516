"""Named starting points for a run. Tuned by benchmarks/time_to_clear.py, not by taste.

A preset is a partial tree. What suits a kind of observation or an algorithm is not part of it; see
`config.resolve`.
"""

from __future__ import annotations

from typing import Any

from warpzone.config.sources import Partial, checked_tree, merged
from warpzone.config.values import suggestion
from warpzone.errors import ConfigError

# A GPU takes large batches and needs no replay; what suits a CPU is not for it.
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
        # penalty per step keeps Mario running, and a shorter trace offsets the longer horizon.
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
    # Environments in worker processes, for emulators that need one each: workers are started one
    # after the other after a trial in the parent, dead ones are replaced, and if none can be
    # started, training continues in one process.
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
    """What a preset sets.

    Raises:
        ConfigError: There is no preset of this name.
    """
    if name not in _PRESETS:
        raise ConfigError(
            f"there is no preset {name!r}; the presets are {', '.join(_PRESETS)}"
            f"{suggestion(name, _PRESETS)}"
        )
    return checked_tree(_PRESETS[name], f"preset {name}")
