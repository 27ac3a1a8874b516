"""Optional dependencies: which extra of the package installs a module."""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Iterator

from warpzone.errors import MissingExtraError

EXTRAS: dict[str, tuple[str, ...]] = {
    "train": ("torch", "pyarrow", "tensorboard"),
    "dashboard": ("fastapi", "uvicorn", "websockets", "starlette"),
    "play": ("pygame",),
    "sb3": ("stable_baselines3",),
    "gpu": ("pynvml",),
    "sweep": ("optuna", "scipy"),
    "cluster": ("ray",),
    "nes-py": ("nes_py", "gym_super_mario_bros", "gym"),
}
"""Modules that each extra installs, by the names under which they are imported."""


def extra_of(module: str | None) -> str | None:
    """The extra that installs a module; None if it does not belong to one."""
    top = (module or "").partition(".")[0]
    return next((extra for extra, modules in EXTRAS.items() if top in modules), None)


def missing_module(module: str | None) -> MissingExtraError | None:
    """The error for a module that is not installed; None if no extra installs it."""
    extra = extra_of(module)
    if extra is None:
        return None
    return MissingExtraError(
        f'{module} is not installed; run `pip install "warpzone[{extra}]"`', name=module
    )


@contextlib.contextmanager
def naming_extras() -> Iterator[None]:
    """Says which extra installs a module that the block imports in vain.

    Raises:
        MissingExtraError: A module of an extra is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise missing_module(error.name) or error from None


def require_extra(extra: str) -> None:
    """Checks that the modules of an extra are installed, without importing them.

    Raises:
        MissingExtraError: One is missing; the message names the extra.
    """
    for module in EXTRAS[extra]:
        if importlib.util.find_spec(module) is None:
            raise MissingExtraError(
                f'{module} is not installed; run `pip install "warpzone[{extra}]"`', name=module
            )
