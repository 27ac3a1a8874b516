"""Choice of the acting path: native code for whole rollouts, or PyTorch step by step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch

from warpzone.config import TrainConfig
from warpzone.errors import ConfigError
from warpzone.training.guidance.guidance import Guidance


@dataclass(frozen=True)
class Acting:
    """How actions are chosen; decided once when a run starts.

    Attributes:
        native: Whether native code plays whole rollouts.
        reason: Reason for the choice.
    """

    native: bool
    reason: str

    def __str__(self) -> str:
        """Returns a line for the log."""
        return f"actions are chosen by {'native code' if self.native else 'PyTorch'}: {self.reason}"


def choose_acting(
    config: TrainConfig,
    device: torch.device,
    guidance: Guidance,
    *,
    is_wrapped: bool,
    is_observed: bool,
) -> Acting:
    """Chooses native code if it applies, unless the configuration says otherwise.

    Args:
        config: Configuration of the run.
        device: Device of the network.
        guidance: Guidance of the run.
        is_wrapped: Whether the environments are inside a user's wrappers.
        is_observed: Whether a callback needs every step as it is taken.

    Raises:
        ConfigError: Native acting is requested but does not apply.
    """
    wanted = config.run.acting
    if wanted == "torch":
        return Acting(False, "run.acting is 'torch'")
    obstacles = [
        *_obstacles(config),
        *(["the network is not on the CPU"] if device.type != "cpu" else []),
        *(["episodes start with a script"] if guidance.override.has_script else []),
        *(["the environments are wrapped"] if is_wrapped else []),
        *(["steps are observed one by one"] if is_observed else []),
    ]
    if obstacles and wanted == "native":
        raise ConfigError(
            f"run.acting is 'native', which does not apply here: {obstacles[0]}; use --acting auto "
            "to choose actions with PyTorch where necessary"
        )
    return Acting(not obstacles, obstacles[0] if obstacles else "whole rollouts, from tiles")


def _obstacles(config: TrainConfig) -> Iterator[str]:
    """Yields the parts of a configuration that require PyTorch."""
    env, model, run = config.env, config.model, config.run
    levels_chosen = config.starts.share > 0 or env.level_order != "cycle"
    for obstacle, applies in (
        (f"env.obs is {env.obs!r}", env.obs != "tiles"),
        (f"env.vector is {env.vector!r}", env.vector != "native"),
        (f"model.encoder is {model.encoder!r}", model.encoder not in _ENCODERS),
        (f"model.memory is {model.memory!r}", model.memory != "none"),
        (f"reward.kind is {config.reward.kind!r}", config.reward.kind not in _REWARDS),
        (f"run.precision is {run.precision!r}", run.precision not in ("auto", "float32")),
        ("run.compile is on", run.compile),
        ("env.start_state replaces the starts of levels", bool(env.start_state) and levels_chosen),
    ):
        if applies:
            yield obstacle


_ENCODERS = ("auto", "tiles", "tiles-v2")
_REWARDS = ("shaped", "classic")
