"""Rollouts for people who watch: who asks for them, and what a run leaves in its folder.

Emulation is deterministic, so a rollout is its start states and its actions. A run writes these for
the environments that somebody asks for, and the viewer plays them again in its own process.
"""

from __future__ import annotations

import itertools
import json
import os
import time
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpzone.errors import RunError
from warpzone.runs.directory import RunDirectory
from warpzone.system.json_file import entry, read_json

MOST_ENVS = 64
MOST_DETAILS = 8
FRESH_SECONDS = 10.0
"""Age from which a request no longer counts: whoever asked has gone away."""

_REQUEST, _ROLLOUT = "request.json", "rollout.npz"
_LARGEST_REQUEST = 16 * 1024
_LARGEST_ROLLOUT = 256 * 1024 * 1024


@dataclass(frozen=True)
class LiveRequest:
    """Asks a run for a rollout.

    Attributes:
        sequence: Number of the rollout; a run answers each number once.
        envs: Indices of environments.
        details: Those among them for which action probabilities are wanted.
    """

    sequence: str
    envs: tuple[int, ...]
    details: tuple[int, ...] = ()


@dataclass(frozen=True)
class LiveRollout:
    """One rollout of some environments.

    Attributes:
        sequence: That of the request.
        update: Number of the update that learned from it.
        resets_known: Whether environments reset by themselves; otherwise only the run knows where
            an episode after the first end begins.
        envs: Indices of the environments.
        levels: The level that each plays.
        states: Their save states before the first step.
        actions: [T, N].
        ended: Whether an episode ended with each step, [T, N].
        rewards: [T, N].
        values: The critic's values before each step, [T, N].
        details: Environments with action probabilities.
        probabilities: Theirs, [T, D, A].
    """

    sequence: str
    update: int
    resets_known: bool
    envs: tuple[int, ...]
    levels: tuple[str, ...]
    states: Sequence[bytes]
    actions: NDArray[np.int64]
    ended: NDArray[np.bool_]
    rewards: NDArray[np.float32]
    values: NDArray[np.float32]
    details: tuple[int, ...] = ()
    probabilities: NDArray[np.float32] = field(
        default_factory=lambda: np.zeros((0, 0, 0), np.float32)
    )


def write_request(run: RunDirectory, request: LiveRequest) -> None:
    """Asks for a rollout, or asks again.

    Raises:
        RunError: The run's folder cannot be written to.
    """
    row = {"sequence": request.sequence, "envs": request.envs, "details": request.details}
    try:
        run.live.mkdir(exist_ok=True)
        _replace(run.live / _REQUEST, json.dumps(row).encode())
    except OSError as error:
        raise RunError(f"{run.name} cannot be asked for its games: {error.strerror}") from error


def read_request(run: RunDirectory, num_envs: int) -> LiveRequest | None:
    """The present request; None if there is none, it is damaged, or whoever asked has gone away.

    Args:
        run: The run.
        num_envs: Environments of the run; others that are asked for are left out.
    """
    path = run.live / _REQUEST
    try:
        if abs(time.time() - path.stat().st_mtime) > FRESH_SECONDS:
            return None
        row = read_json(path, _LARGEST_REQUEST)
        sequence = entry(row, "sequence", str)
        envs = _indices(entry(row, "envs", list), num_envs, MOST_ENVS)
        details = _indices(entry(row, "details", list), num_envs, MOST_DETAILS)
    except (OSError, ValueError):
        return None
    return LiveRequest(sequence, envs, tuple(env for env in details if env in envs))


def _indices(values: list[Any], count: int, most: int) -> tuple[int, ...]:
    whole = [value for value in values if type(value) is int and 0 <= value < count]
    return tuple(dict.fromkeys(whole))[:most]


def write_rollout(run: RunDirectory, rollout: LiveRollout) -> None:
    """Leaves a rollout for whoever asked.

    Raises:
        OSError: The system refused.
    """
    path = run.live / _ROLLOUT
    part = path.with_name(f".{path.name}.{os.getpid()}.tmp.npz")
    try:
        np.savez(
            part,
            sequence=np.array(rollout.sequence),
            update=np.array(rollout.update),
            resets_known=np.array(rollout.resets_known),
            envs=np.array(rollout.envs, np.int64),
            levels=np.array(rollout.levels, np.str_),
            sizes=np.array([len(state) for state in rollout.states], np.int64),
            states=np.frombuffer(b"".join(rollout.states), np.uint8),
            actions=rollout.actions,
            ended=rollout.ended,
            rewards=rollout.rewards,
            values=rollout.values,
            details=np.array(rollout.details, np.int64),
            probabilities=rollout.probabilities,
        )
        # Not flushed to the disk: nobody needs it after a crash.
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def read_rollout(run: RunDirectory, sequence: str) -> LiveRollout | None:
    """The rollout that answers a request; None while there is none, or if it is damaged."""
    path = run.live / _ROLLOUT
    try:
        if path.stat().st_size > _LARGEST_ROLLOUT:
            return None
        with np.load(path, allow_pickle=False) as file:
            if str(file["sequence"]) != sequence:
                return None
            return _parse({name: file[name] for name in file.files})
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None


def _parse(arrays: dict[str, NDArray[Any]]) -> LiveRollout:
    sizes = arrays["sizes"].tolist()
    ends = np.cumsum([0, *sizes]).tolist()
    data = arrays["states"].tobytes()
    states = [data[begin:end] for begin, end in itertools.pairwise(ends)]
    shape = arrays["actions"].shape
    envs = tuple(arrays["envs"].tolist())
    if len(shape) != 2 or not len(states) == len(envs) == len(arrays["levels"]) == shape[1]:
        raise ValueError("its parts do not fit together")
    for name in ("ended", "rewards", "values"):
        if arrays[name].shape != shape:
            raise ValueError(f"its {name} do not fit its actions")
    return LiveRollout(
        sequence=str(arrays["sequence"]),
        update=int(arrays["update"]),
        resets_known=bool(arrays["resets_known"]),
        envs=envs,
        levels=tuple(arrays["levels"].tolist()),
        states=states,
        actions=arrays["actions"],
        ended=arrays["ended"],
        rewards=arrays["rewards"],
        values=arrays["values"],
        details=tuple(arrays["details"].tolist()),
        probabilities=arrays["probabilities"],
    )


def _replace(path: Path, data: bytes) -> None:
    part = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        part.write_bytes(data)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
