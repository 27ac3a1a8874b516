"""One checkpoint: written atomically, verified by a checksum, loaded without running code.

`update-00000042.pt` is torch's zip format with `{"format", "meta", "state"}`. Its sidecar,
`update-00000042.json`, is for people and quick lookups: the same meta, with size and checksum. The
order of writing is: remove the old sidecar, replace the checkpoint, write the new sidecar. So a
sidecar, if there is one, always belongs to its checkpoint, and a missing one can be rebuilt.
"""

from __future__ import annotations

import hashlib
import json
import logging
import platform
import time
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch

from warpzone import __version__
from warpzone.errors import CheckpointError
from warpzone.runs.checkpoint_reader import FormatError, read_torch_file
from warpzone.runs.checkpoint_tree import decode, encode
from warpzone.system.atomic_file import HashingFile, write_atomically, write_text_atomically
from warpzone.system.json_file import entry, parse_json, read_json

_log = logging.getLogger(__name__)

SUFFIX = ".pt"
Sidecar = Literal["whole", "missing", "unreadable"]
_FORMAT = 1


@dataclass(frozen=True)
class CheckpointMeta:
    """What is known about a checkpoint without loading it.

    Attributes:
        steps: Environment steps done.
        updates: Updates done.
        config: The run's configuration as plain data: tables of options.
        extra: Anything else worth reading, such as replay settings or the clear rate.
        serial: Counts the checkpoints of a run in the order of writing, from 1.
        created: UTC time of writing; filled in by `save`.
        versions: Versions of python, torch, numpy and warpzone; filled in by `save`.
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
        """Reads what `asdict` returned; fields that later versions add are ignored.

        Raises:
            CheckpointError: It is something else; the text says which field.
        """
        try:
            given: dict[str, Any] = {
                name: entry(row, name, kind, least=0 if kind is int else None)
                for name, kind in _META_TYPES.items()
                if name in _REQUIRED or (isinstance(row, Mapping) and name in row)
            }
            for table in given.get("config", {}):
                entry(given["config"], table, dict)
            if "clear_rate" in given.get("extra", {}):
                entry(given["extra"], "clear_rate", float, least=0)
        except ValueError as error:
            raise CheckpointError(str(error)) from error
        return cls(**given)


_REQUIRED = ("steps", "updates")
_META_TYPES: dict[str, type] = {
    "steps": int,
    "updates": int,
    "config": dict,
    "extra": dict,
    "serial": int,
    "created": str,
    "versions": dict,
}


@dataclass(frozen=True)
class Checkpoint:
    """A loaded checkpoint.

    Attributes:
        path: Its file.
        state: The tree that was saved.
        meta: Its description.
    """

    path: Path
    state: dict[str, Any]
    meta: CheckpointMeta


def save(folder: Path, name: str, state: Mapping[str, Any], meta: CheckpointMeta) -> Path:
    """Writes a checkpoint and its sidecar.

    Args:
        folder: Created if missing.
        name: Its name without the suffix.
        state: A tree that `checkpoint_tree.encode` accepts.
        meta: Its description; creation time and versions are filled in.

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
    """Verifies and loads a checkpoint; nothing in the file is ever run.

    Args:
        path: The `.pt` file.

    Raises:
        CheckpointError: It is missing, damaged, or holds more than plain data.
    """
    meta = verify(path)
    payload = _read_payload(path)
    try:
        state = decode(payload["state"])
    except ValueError as error:
        raise CheckpointError(f"{path} is refused: {error}") from error
    if not isinstance(state, dict):
        raise CheckpointError(f"{path} is refused: its state is not a table")
    return Checkpoint(path, state, meta)


def verify(path: Path) -> CheckpointMeta:
    """Compares a checkpoint with its checksum and returns what its sidecar says.

    A missing or unreadable sidecar is rebuilt from the checkpoint itself.

    Raises:
        CheckpointError: It is missing or damaged.
    """
    try:
        row, meta = _read_sidecar(path)
    except FileNotFoundError:
        return _rebuild_sidecar(path)
    except (OSError, ValueError, CheckpointError) as error:
        _log.warning("%s is unreadable (%s) and is rebuilt", path.with_suffix(".json"), error)
        return _rebuild_sidecar(path)
    try:
        size = path.stat().st_size
        if size != row.get("size"):
            raise CheckpointError(f"{path} has {size} bytes instead of {row.get('size')}")
        if sha256_of(path) != row.get("sha256"):
            raise CheckpointError(f"{path} is damaged: its checksum differs")
    except OSError as error:
        raise CheckpointError(f"{path} cannot be read: {error.strerror or error}") from error
    return meta


def sidecar_of(path: Path) -> Sidecar:
    """Whether a checkpoint's sidecar can be read; `verify` rebuilds a bad one."""
    try:
        _read_sidecar(path)
    except FileNotFoundError:
        return "missing"
    except (OSError, ValueError, CheckpointError):
        return "unreadable"
    return "whole"


def read_meta(path: Path) -> CheckpointMeta:
    """Returns what a checkpoint's sidecar says, or else its own copy, without verifying the file.

    Raises:
        CheckpointError: Neither can be read.
    """
    try:
        return _read_sidecar(path)[1]
    except (OSError, ValueError, CheckpointError):
        return read_embedded_meta(path)


def read_embedded_meta(path: Path) -> CheckpointMeta:
    """Returns what the checkpoint says about itself, whatever its sidecar says.

    Raises:
        CheckpointError: It cannot be read.
    """
    payload = _read_payload(path, with_tensors=False)
    try:
        return CheckpointMeta.from_row(parse_json(payload["meta"]))
    except (ValueError, CheckpointError) as error:
        raise CheckpointError(f"the description in {path} is wrong: {error}") from error


def _read_sidecar(path: Path) -> tuple[dict[str, Any], CheckpointMeta]:
    row = read_json(path.with_suffix(".json"))
    return row, CheckpointMeta.from_row(row)


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
        if file.failure is not None:
            raise OSError(*file.failure) from None
        raise


def _read_payload(path: Path, with_tensors: bool = True) -> dict[str, Any]:
    if not path.is_file():
        raise CheckpointError(f"{path} does not exist")
    try:
        payload = read_torch_file(path, with_tensors)
    except OSError as error:
        raise CheckpointError(f"{path} cannot be read: {error.strerror or error}") from error
    except FormatError as error:
        raise CheckpointError(f"{path} is refused: {error}") from error
    if not isinstance(payload, dict) or not {"format", "meta", "state"} <= payload.keys():
        raise CheckpointError(f"{path} is not a checkpoint of warpzone")
    if payload["format"] != _FORMAT:
        raise CheckpointError(
            f"{path} has format {payload['format']}; this version reads {_FORMAT}"
        )
    if not isinstance(payload["meta"], str):
        raise CheckpointError(f"{path} is refused: its description is not text")
    return payload


def _write_sidecar(path: Path, meta: CheckpointMeta, size: int, sha256: str) -> None:
    row = {"format": _FORMAT, "file": path.name, "size": size, "sha256": sha256, **asdict(meta)}
    write_text_atomically(path.with_suffix(".json"), json.dumps(row, indent=2) + "\n")


def _rebuild_sidecar(path: Path) -> CheckpointMeta:
    """Writes a sidecar from the checkpoint, whose own format has a checksum for each part."""
    meta = read_embedded_meta(path)
    try:
        with zipfile.ZipFile(path) as archive:
            damaged = archive.testzip()
    except (OSError, EOFError, zipfile.BadZipFile) as error:
        raise CheckpointError(f"{path} is damaged: {error}") from error
    if damaged is not None:
        raise CheckpointError(f"{path} is damaged in {damaged}")
    try:
        _write_sidecar(path, meta, path.stat().st_size, sha256_of(path))
        _log.warning("the sidecar of %s was missing and has been rebuilt from it", path)
    except OSError as error:
        _log.warning("the sidecar of %s is missing and cannot be rebuilt: %s", path, error)
    return meta


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, in hex digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
