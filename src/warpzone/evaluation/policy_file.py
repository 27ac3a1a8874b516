"""Policies as small files: weights, and what is needed to play with them.

The first line is `warpzone-policy 3 SHA256`, the checksum of everything after it. The second is one
JSON object: the configuration, facts about the training, and names, shapes and steps of the
weights. The rest is the weights (`weight_packing`). Version 2 compressed them with zlib instead of
LZMA, and version 1 had no steps: all weights were in half precision. Nothing in such a file can be
run, and no size that it claims is believed unless its own length explains it.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import re
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from warpzone.config import TrainConfig, checked_tree, overlaid
from warpzone.errors import CheckpointError, ConfigError
from warpzone.evaluation.weight_packing import PackedWeights, pack_weights, unpack_weights
from warpzone.system.atomic_file import write_atomically
from warpzone.system.json_file import entry, parse_json, read_bytes

SUFFIX = ".policy"
_MAGIC = b"warpzone-policy 3 "
_WITH_ZLIB = (b"warpzone-policy 1 ", b"warpzone-policy 2 ")
_READABLE = (_MAGIC, *_WITH_ZLIB)
_MOST_FILE_BYTES = 512 * 1024**2
_MOST_HEADER_BYTES = 1024**2
# What a policy needs of a configuration; the rest is kept for people, and later versions may have
# other options there.
_NEEDED = ("env", "model")
_LEVEL = re.compile(r"[\w-]{1,16}")  # It becomes part of a file's name.


@dataclass(frozen=True)
class PolicyFacts:
    """Where a policy comes from.

    Attributes:
        levels: Levels that it was trained on.
        steps: Environment steps of its training.
        updates: Updates of its training.
        minutes: Duration of its training.
        seed: Random seed of its training.
        commit: Source that it was exported with; see `source_version`.
        checkpoint: Name of the checkpoint that it was exported from.
        checkpoint_sha256: SHA-256 of that file.
        created: When the checkpoint was written, in UTC.
    """

    levels: list[str]
    steps: int
    updates: int
    minutes: float
    seed: int
    commit: str
    checkpoint: str
    checkpoint_sha256: str
    created: str


@dataclass(frozen=True)
class PolicyFile:
    """What such a file holds.

    Attributes:
        config: Configuration of the training; of a file that was read, only env, network and the
            names of plug-ins are as they were.
        facts: Where it comes from.
        weights: Weights of the network, in full precision once read.
        sha256: SHA-256 of the whole file.
    """

    config: TrainConfig
    facts: PolicyFacts
    weights: Mapping[str, Tensor]
    sha256: str


def write_policy_file(
    path: Path, config: TrainConfig, facts: PolicyFacts, weights: Mapping[str, Tensor]
) -> str:
    """Writes a policy; the same content always gives the same bytes.

    Args:
        path: Its folder must exist.
        config: Configuration of the training.
        facts: Where it comes from.
        weights: Weights in any precision.

    Returns:
        The file's SHA-256.

    Raises:
        CheckpointError: A weight does not fit half precision, or the file cannot be written.
    """
    packed = pack_weights(weights)
    header = {
        "facts": asdict(facts),
        "config": asdict(config),
        "weights": packed.shapes,
        "steps": packed.steps,
    }
    rest = json.dumps(header).encode() + b"\n" + packed.data
    data = _MAGIC + hashlib.sha256(rest).hexdigest().encode() + b"\n" + rest
    try:
        return write_atomically(path, lambda file: file.write(data)).sha256
    except OSError as error:
        raise CheckpointError(f"{path} cannot be written ({error.strerror or error})") from error


def read_policy_file(path: Path) -> PolicyFile:
    """Reads and verifies a policy.

    Raises:
        CheckpointError: It is missing, damaged, or not a policy.
    """
    data = _read(path)
    try:
        header, packed = _parts(data)
        given = entry(header, "config", dict)
        needed = {table: entry(given, table, dict) for table in _NEEDED} | _plugins(given)
        config = overlaid(TrainConfig(), checked_tree(needed, str(path)))
        weights = unpack_weights(
            PackedWeights(_shapes(header), _steps(header), packed, data.startswith(_WITH_ZLIB))
        )
        return PolicyFile(config, _facts(header), weights, hashlib.sha256(data).hexdigest())
    except (ValueError, zlib.error, lzma.LZMAError) as error:
        raise _refused(path, error) from error


def read_policy_facts(path: Path) -> PolicyFacts:
    """Reads where a policy comes from, without its weights.

    Raises:
        CheckpointError: It is missing, damaged, or not a policy.
    """
    data = _read(path)
    try:
        return _facts(_parts(data)[0])
    except ValueError as error:
        raise _refused(path, error) from error


def _read(path: Path) -> bytes:
    """The whole file, once its checksum is verified."""
    try:
        data = read_bytes(path, _MOST_FILE_BYTES)
    except OSError as error:
        raise CheckpointError(f"{path} cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        raise CheckpointError(f"{path} cannot be a policy: {error}") from error
    first, _, rest = data.partition(b"\n")
    magic, checksum = first[: len(_MAGIC)], first[len(_MAGIC) :]
    if magic not in _READABLE:
        raise CheckpointError(f"{path} is not a policy of this version of warpzone")
    if checksum.decode(errors="replace") != hashlib.sha256(rest).hexdigest():
        raise CheckpointError(f"{path} is damaged: its checksum differs")
    return data


def _parts(data: bytes) -> tuple[Any, bytes]:
    _, _, rest = data.partition(b"\n")
    line, _, packed = rest.partition(b"\n")
    if len(line) > _MOST_HEADER_BYTES:
        raise ValueError(f"its second line has {len(line):,} bytes")
    return parse_json(line), packed


def _facts(header: Any) -> PolicyFacts:
    facts = entry(header, "facts", dict)
    levels = entry(facts, "levels", list)
    if not levels or not all(isinstance(name, str) and _LEVEL.fullmatch(name) for name in levels):
        raise ValueError("'levels' is not a list of levels")
    return PolicyFacts(
        levels=levels,
        steps=entry(facts, "steps", int, least=0),
        updates=entry(facts, "updates", int, least=0),
        minutes=entry(facts, "minutes", float, least=0),
        seed=entry(facts, "seed", int),
        commit=entry(facts, "commit", str),
        checkpoint=entry(facts, "checkpoint", str),
        checkpoint_sha256=entry(facts, "checkpoint_sha256", str),
        created=entry(facts, "created", str),
    )


def _plugins(config: dict[str, Any]) -> dict[str, Any]:
    """The table that names the plug-ins, if the file has one."""
    run = config.get("run")
    if not isinstance(run, dict) or "plugins" not in run:
        return {}
    return {"run": {"plugins": run["plugins"]}}


def _shapes(header: Any) -> dict[str, list[int]]:
    shapes = entry(header, "weights", dict)
    for name in shapes:
        sides = entry(shapes, name, list)
        if not all(type(side) is int and side >= 0 for side in sides):
            raise ValueError(f"the shape of '{name}' is not a list of whole numbers")
    return shapes


def _steps(header: Any) -> dict[str, float]:
    steps = header.get("steps", {})
    if not isinstance(steps, dict):
        raise ValueError("'steps' is not a table")
    return {name: entry(steps, name, float, least=0) for name in steps}


def _refused(path: Path, error: Exception) -> CheckpointError:
    # A configuration of another version says what does not fit; the rest was never a policy.
    reason = str(error) if isinstance(error, ConfigError) else f"its content is wrong ({error})"
    return CheckpointError(f"{path} is refused: {reason}")
