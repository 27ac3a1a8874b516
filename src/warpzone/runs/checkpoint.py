"""One checkpoint: written in one step, checked by a checksum, loaded without running code.

`update-00000042.pt` is torch's zip format with `{"format", "meta", "state"}`. Beside it lies
`update-00000042.json`, for people and quick looks: the same meta, with size and checksum. The order
of writing is: old side-car away, checkpoint in place, new side-car. So a side-car, where there is
one, always belongs to the checkpoint, and a missing one can be made again.
"""

from __future__ import annotations

import hashlib
import json
import logging
import platform
import time
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch

from warpzone import __version__
from warpzone.errors import CheckpointError
from warpzone.runs.checkpoint_tree import decode, encode
from warpzone.system.atomic_file import HashingFile, write_atomically, write_text_atomically

_log = logging.getLogger(__name__)

SUFFIX = ".pt"
Sidecar = Literal["whole", "missing", "unreadable"]
_FORMAT = 1


@dataclass(frozen=True)
class CheckpointMeta:
    """What can be known of a checkpoint without loading it.

    Attributes:
        steps: Environment steps done.
        updates: Updates done.
        config: The run's configuration as plain data.
        extra: Anything else worth reading, such as replay settings or the clear rate.
        serial: Counts the checkpoints of a run in the order of writing, from 1.
        created: UTC time of writing; filled in by `save`.
        versions: Of python, torch, numpy and warpzone; filled in by `save`.
    """

    steps: int
    updates: int
    config: Mapping[str, Any] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)
    serial: int = 0
    created: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_row(cls, row: Any) -> CheckpointMeta:
        """Reads what `asdict` gave; unknown fields of later versions are left out.

        Raises:
            CheckpointError: It is something else.
        """
        if not isinstance(row, dict) or not {"steps", "updates"} <= row.keys():
            raise CheckpointError("it has no steps and updates")
        names = {item.name for item in fields(cls)}
        return cls(**{name: value for name, value in row.items() if name in names})


@dataclass(frozen=True)
class Checkpoint:
    """A loaded checkpoint.

    Attributes:
        path: Where it came from.
        state: The tree that was saved.
        meta: About it.
    """

    path: Path
    state: dict[str, Any]
    meta: CheckpointMeta


def save(folder: Path, name: str, state: Mapping[str, Any], meta: CheckpointMeta) -> Path:
    """Writes a checkpoint and its side-car.

    Args:
        folder: Made if missing.
        name: Without the suffix.
        state: A tree that `checkpoint_tree.encode` accepts.
        meta: About it; creation time and versions are filled in.

    Returns:
        The checkpoint's path.

    Raises:
        CheckpointError: It cannot be written; what was there before is untouched.
    """
    path = folder / (name + SUFFIX)
    meta = replace(meta, created=_now(), versions=_versions())
    payload = {"format": _FORMAT, "meta": json.dumps(asdict(meta)), "state": encode(state)}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = write_atomically(
            path,
            lambda file: _torch_save(payload, file),
            before_rename=lambda: path.with_suffix(".json").unlink(missing_ok=True),
        )
        _write_sidecar(path, meta, file.size, file.sha256)
    except OSError as error:
        raise CheckpointError(
            f"{path} cannot be written ({error.strerror or error}); "
            "earlier checkpoints are untouched"
        ) from error
    return path


def load(path: Path) -> Checkpoint:
    """Checks and loads a checkpoint; nothing in the file is ever run.

    Args:
        path: The `.pt` file.

    Raises:
        CheckpointError: It is missing, damaged, or holds more than plain data.
    """
    meta = verify(path)
    payload = _torch_load(path)
    return Checkpoint(path, decode(payload["state"]), meta)


def verify(path: Path) -> CheckpointMeta:
    """Checks a checkpoint against its checksum and returns what its side-car says.

    A missing side-car is made again from the checkpoint itself.

    Raises:
        CheckpointError: It is missing or damaged.
    """
    sidecar = path.with_suffix(".json")
    try:
        try:
            row = json.loads(sidecar.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return _rebuild_sidecar(path)
        except ValueError:
            _log.warning("%s is unreadable and is made again", sidecar)
            return _rebuild_sidecar(path)
        size = path.stat().st_size
        if size != row.get("size"):
            raise CheckpointError(f"{path} has {size} bytes instead of {row.get('size')}")
        if sha256_of(path) != row.get("sha256"):
            raise CheckpointError(f"{path} is damaged: its checksum differs")
    except OSError as error:
        raise CheckpointError(f"{path} cannot be read: {error.strerror or error}") from error
    return _meta_of(path, row)


def sidecar_of(path: Path) -> Sidecar:
    """How the side-car of a checkpoint is found; `verify` makes a bad one again."""
    try:
        json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return "missing"
    except (OSError, ValueError):
        return "unreadable"
    return "whole"


def read_meta(path: Path) -> CheckpointMeta:
    """Returns what a checkpoint's side-car says, or its own copy, without checking the whole.

    Raises:
        CheckpointError: Neither can be read.
    """
    try:
        return _meta_of(path, json.loads(path.with_suffix(".json").read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return read_embedded_meta(path)


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def _versions() -> dict[str, str]:
    return {
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "numpy": np.__version__,
        "warpzone": __version__,
    }


def _torch_save(payload: dict[str, Any], file: HashingFile) -> None:
    try:
        torch.save(payload, file)  # type: ignore[arg-type]  # it needs no more than `write`
    except RuntimeError:
        if file.error is not None:
            raise file.error from None
        raise


def _torch_load(path: Path, only_look: bool = False) -> dict[str, Any]:
    if not zipfile.is_zipfile(path):
        raise CheckpointError(f"{path} is no checkpoint, or only a part of one")
    try:
        payload = torch.load(path, map_location="cpu", weights_only=True, mmap=only_look)
    except Exception as error:
        # What torch raises for bad content is not documented: anything means the same here.
        raise CheckpointError(
            f"{path} is refused: it is damaged or holds more than plain data "
            f"({type(error).__name__}: {str(error).strip().splitlines()[0]})"
        ) from error
    if not isinstance(payload, dict) or not {"format", "meta", "state"} <= payload.keys():
        raise CheckpointError(f"{path} is no checkpoint of warpzone")
    if payload["format"] != _FORMAT:
        raise CheckpointError(
            f"{path} has format {payload['format']}; this version reads {_FORMAT}"
        )
    return payload


def read_embedded_meta(path: Path) -> CheckpointMeta:
    """Returns what the checkpoint itself says, whatever its side-car does.

    Raises:
        CheckpointError: It cannot be read.
    """
    try:
        return _meta_of(path, json.loads(_torch_load(path, only_look=True)["meta"]))
    except (OSError, ValueError, TypeError) as error:
        raise CheckpointError(f"{path} cannot be read: {error}") from error


def _meta_of(path: Path, row: Any) -> CheckpointMeta:
    try:
        return CheckpointMeta.from_row(row)
    except CheckpointError as error:
        raise CheckpointError(f"the description of {path} is wrong: {error}") from error


def _write_sidecar(path: Path, meta: CheckpointMeta, size: int, sha256: str) -> None:
    row = {"format": _FORMAT, "file": path.name, "size": size, "sha256": sha256, **asdict(meta)}
    write_text_atomically(path.with_suffix(".json"), json.dumps(row, indent=2) + "\n")


def _rebuild_sidecar(path: Path) -> CheckpointMeta:
    """Makes a side-car from the checkpoint, whose own format has a checksum for each part."""
    if not path.exists():
        raise CheckpointError(f"{path} does not exist")
    meta = read_embedded_meta(path)
    with zipfile.ZipFile(path) as archive:
        try:
            damaged = archive.testzip()
        except (zipfile.BadZipFile, EOFError) as error:
            raise CheckpointError(f"{path} is damaged: {error}") from error
    if damaged is not None:
        raise CheckpointError(f"{path} is damaged in {damaged}")
    try:
        _write_sidecar(path, meta, path.stat().st_size, sha256_of(path))
        _log.warning("the side-car of %s was missing and is made again from it", path)
    except OSError as error:
        _log.warning("the side-car of %s is missing and cannot be made again: %s", path, error)
    return meta


def sha256_of(path: Path) -> str:
    """The checksum of a file, in hex digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
