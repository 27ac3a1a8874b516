"""Random streams of a run: seeded from one number, saved and restored."""

from __future__ import annotations

import ast
import random
from typing import Any

import numpy as np
import torch

_COLLECT_SEED, _LEARN_SEED, _START_SEED, _REPLAY_SEED = 1, 2, 3, 5
_SESSIONS_APART = 1_000_003


class RandomStreams:
    """Global generators, generators of collector and learner, and seeds for other parts."""

    def __init__(self, seed: int):
        """Seeds Python, NumPy and PyTorch, process-wide."""
        self._seed = seed
        random.seed(seed)
        np.random.seed(seed % 2**32)
        torch.manual_seed(seed)
        self.collect = torch.Generator().manual_seed(seed * 2 + _COLLECT_SEED)
        """Generator that samples the policy's actions."""
        self.learn = torch.Generator().manual_seed(seed * 2 + _LEARN_SEED)
        """Generator that shuffles minibatches."""

    @property
    def starts_seed(self) -> int:
        """Returns the seed for episode starts, which have their own stream."""
        return self._seed * 4 + _START_SEED

    @property
    def replay_seed(self) -> int:
        """Returns the seed for replay sampling, which has its own stream."""
        return self._seed * 8 + _REPLAY_SEED

    def envs_seed(self, session: int) -> int:
        """Returns the seed for environments that cannot resume their previous episodes."""
        return self._seed + session * _SESSIONS_APART

    def restart(self, session: int) -> None:
        """Seeds the generators of collector and learner for environments that start anew."""
        seed = self.envs_seed(session)
        self.collect.manual_seed(seed * 2 + _COLLECT_SEED)
        self.learn.manual_seed(seed * 2 + _LEARN_SEED)

    def state_dict(self) -> dict[str, Any]:
        """Returns the state of every stream, as plain data."""
        return {
            "python": repr(random.getstate()),
            "numpy": _numpy_state(),
            "torch": torch.get_rng_state(),
            "collect": self.collect.get_state(),
            "learn": self.learn.get_state(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restores the state returned by `state_dict`."""
        _set_python_state(state["python"])
        _set_numpy_state(state["numpy"])
        torch.set_rng_state(state["torch"])
        self.collect.set_state(state["collect"])
        self.learn.set_state(state["learn"])


def _numpy_state() -> dict[str, Any]:
    kind, keys, position, has_gauss, gauss = np.random.get_state()
    return {
        "kind": kind,
        "keys": torch.from_numpy(np.asarray(keys).astype(np.int64)),
        "position": int(position),
        "has_gauss": int(has_gauss),
        "gauss": float(gauss),
    }


def _set_numpy_state(state: dict[str, Any]) -> None:
    keys = state["keys"].numpy().astype(np.uint32)
    np.random.set_state(
        (state["kind"], keys, state["position"], state["has_gauss"], state["gauss"])
    )


def _set_python_state(text: str) -> None:
    version, internal, gauss = ast.literal_eval(text)
    random.setstate((version, tuple(internal), gauss))
