"""Policies as small files: weights in half precision and what is needed to play with them.

The first line is `warpzone-policy 1 SHA256`, the checksum of everything after it. The second is one
JSON object: the configuration, facts about the training, and names and shapes of the weights. The
rest is the weights: all low bytes, then all high bytes (which compress far better that way), by
zlib. Nothing in such a file can be run.
"""

from __future__ import annotations

import hashlib
import json
import math
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from warpzone.config.io import from_tree
from warpzone.config.options import TrainConfig
from warpzone.config.presets import preset
from warpzone.errors import CheckpointError, ConfigError
from warpzone.system.atomic_file import write_atomically

SUFFIX = ".policy"
_MAGIC = b"warpzone-policy 1 "
_LARGEST = 1 << 30
# What a policy needs of a configuration; the rest is kept for people, and later versions may have
# other options there.
_NEEDED = ("env", "model")
# What looking for things in content that somebody made up can raise.
_WRONG = (ValueError, KeyError, TypeError, AttributeError)


@dataclass(frozen=True)
class PolicyFacts:
    """Where a policy comes from.

    Attributes:
        levels: What it was trained on.
        steps: Environment steps of its training.
        updates: Updates of its training.
        minutes: Time that its training took.
        seed: Of its training.
        commit: Source that it was exported with; see `source_version`.
        checkpoint: Name of the checkpoint that it was made from.
        checkpoint_sha256: Of that file.
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
        config: Of the training; of a file that was read, only games and network are as they were.
        facts: Where it comes from.
        weights: Of the network, in full precision once read.
        sha256: Of the whole file.
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
        config: Of the training.
        facts: Where it comes from.
        weights: In any precision.

    Returns:
        The file's SHA-256.

    Raises:
        CheckpointError: A weight does not fit half precision, or the file cannot be written.
    """
    halves = {name: _half(name, tensor) for name, tensor in weights.items()}
    header = {
        "facts": asdict(facts),
        "config": asdict(config),
        "weights": {name: list(array.shape) for name, array in halves.items()},
    }
    numbers = np.concatenate([array.ravel() for array in halves.values()])
    planes = numbers.astype("<f2").view(np.uint8).reshape(-1, 2).T
    rest = json.dumps(header).encode() + b"\n" + zlib.compress(planes.tobytes(), 9)
    data = _MAGIC + hashlib.sha256(rest).hexdigest().encode() + b"\n" + rest
    try:
        return write_atomically(path, lambda file: file.write(data)).sha256
    except OSError as error:
        raise CheckpointError(f"{path} cannot be written ({error.strerror or error})") from error


def read_policy_file(path: Path) -> PolicyFile:
    """Reads and checks a policy.

    Raises:
        CheckpointError: It is missing, damaged, or no policy.
    """
    data = _read(path)
    try:
        header, packed = _parts(data)
        needed = {table: header["config"][table] for table in _NEEDED}
        config = from_tree(needed, preset("cpu"), str(path))
        weights = _unpack(packed, header["weights"])
        return PolicyFile(config, _facts(header), weights, hashlib.sha256(data).hexdigest())
    except (*_WRONG, zlib.error) as error:
        raise _refused(path, error) from error


def read_policy_facts(path: Path) -> PolicyFacts:
    """Reads where a policy comes from, without its weights.

    Raises:
        CheckpointError: It is missing, damaged, or no policy.
    """
    try:
        return _facts(_parts(_read(path))[0])
    except _WRONG as error:
        raise _refused(path, error) from error


def _read(path: Path) -> bytes:
    """The whole file, once its checksum is right."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise CheckpointError(f"{path} cannot be read: {error.strerror or error}") from error
    first, _, rest = data.partition(b"\n")
    if not first.startswith(_MAGIC):
        raise CheckpointError(f"{path} is no policy of this version of warpzone")
    if first.removeprefix(_MAGIC).decode(errors="replace") != hashlib.sha256(rest).hexdigest():
        raise CheckpointError(f"{path} is damaged: its checksum differs")
    return data


def _parts(data: bytes) -> tuple[dict[str, Any], bytes]:
    _, line, packed = data.split(b"\n", 2)
    header = json.loads(line)
    if not isinstance(header, dict):
        raise TypeError("its second line is no object")
    return header, packed


def _facts(header: Mapping[str, Any]) -> PolicyFacts:
    return PolicyFacts(**{item.name: header["facts"][item.name] for item in fields(PolicyFacts)})


def _refused(path: Path, error: Exception) -> CheckpointError:
    # A configuration of another version says what does not fit; the rest was never a policy.
    reason = str(error) if isinstance(error, ConfigError) else f"its content is wrong ({error})"
    return CheckpointError(f"{path} is refused: {reason}")


def _half(name: str, tensor: Tensor) -> np.ndarray[Any, np.dtype[np.float16]]:
    if not tensor.is_floating_point():
        raise CheckpointError(f"{name} is of {tensor.dtype}, which no policy file holds")
    half = tensor.detach().to("cpu", torch.float16)
    if not bool(torch.isfinite(half).all()):
        raise CheckpointError(f"{name} has values that half precision cannot hold")
    return half.contiguous().numpy()


def _unpack(packed: bytes, shapes: Mapping[str, list[int]]) -> dict[str, Tensor]:
    sizes = {name: math.prod(int(side) for side in shape) for name, shape in shapes.items()}
    size = 2 * sum(sizes.values())
    if not 0 < size <= _LARGEST or min(sizes.values()) < 0:
        raise ValueError(f"its weights would take {size} bytes")
    opened = zlib.decompressobj()
    planes = opened.decompress(packed, size)
    if len(planes) != size or opened.unconsumed_tail or not opened.eof:
        raise ValueError("its weights have another length than it says")
    numbers = np.frombuffer(planes, np.uint8).reshape(2, -1).T.copy().view("<f2").ravel()
    weights, at = {}, 0
    for name, shape in shapes.items():
        part = numbers[at : at + sizes[name]].astype(np.float32)
        weights[name] = torch.from_numpy(part.reshape(shape))
        at += sizes[name]
    return weights
