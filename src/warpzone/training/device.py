"""Device and precision of the network."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Literal

import torch

from warpzone.config import TrainConfig
from warpzone.errors import ConfigError

_ALLOW_CPU = "WARPZONE_ALLOW_CPU_AUTO"
Precision = Literal["float32", "bfloat16", "float16"]
_DTYPES: dict[Precision, torch.dtype] = {
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
}


def choose_device(config: TrainConfig) -> torch.device:
    """Returns the device of the network.

    Raises:
        ConfigError: The device is not available, or a network meant for GPUs would run on a CPU.
    """
    wanted = config.run.device
    if wanted == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda")
        if torch.backends.mps.is_available():
            return torch.device("mps")
        large = config.model.encoder == "impala"
        if large and os.environ.get(_ALLOW_CPU) != "1":
            raise ConfigError(
                "model.encoder 'impala' is meant for GPUs and none was found; use --device cpu (or "
                f"set {_ALLOW_CPU}=1) to train it slowly on the CPU anyway"
            )
        return torch.device("cpu")
    try:
        device = torch.device(wanted)
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError) as error:
        raise ConfigError(f"run.device is {wanted!r}, which is not usable here: {error}") from error
    return device


def choose_precision(
    config: TrainConfig, device: torch.device, *, native: bool = False
) -> Precision:
    """Returns the precision of a run: the configured one, or the fastest on this machine.

    Args:
        config: Configuration of the run.
        device: Device of the network.
        native: Whether native code chooses actions or computes convolutions. Its results are
            float32, and the learner must agree with it on probabilities.
    """
    if config.run.precision != "auto":
        return config.run.precision
    if native:
        return "float32"
    fast = device.type == "cuda" or "avx512_bf16" in _cpu_flags()
    return "bfloat16" if fast else "float32"


def _cpu_flags() -> str:
    information = Path("/proc/cpuinfo")
    return information.read_text() if information.exists() else ""


def make_autocast(
    precision: Precision, device: torch.device
) -> Callable[[], AbstractContextManager[Any]]:
    """Returns a factory of context managers for the network's forward pass."""
    dtype = _DTYPES[precision]
    enabled = dtype != torch.float32
    return lambda: torch.autocast(device.type, dtype=dtype if enabled else None, enabled=enabled)


def make_scaler(precision: Precision, device: torch.device) -> torch.amp.GradScaler:
    """Returns a gradient scaler, which is enabled only for float16."""
    return torch.amp.GradScaler(device.type, enabled=precision == "float16")
