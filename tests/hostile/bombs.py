"""Small files that claim, or expand to, far more than they hold."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import damage as spoil
import torch
from damage import Damage

_MEGABYTE = 2**20
_GIGABYTE = 2**30


def _zeros(size: int) -> bytes:
    """Zeros as a zlib stream, made of one block again and again, so that it takes no time."""
    size -= size % _MEGABYTE
    adler = ((size % 65521) << 16 | 1).to_bytes(4, "big")
    return b"\x78\xda" + spoil.deflated_zeros(size) + adler


def _model(**options: object) -> Callable[[Any], Any]:
    def change(header: Any) -> Any:
        header["config"]["model"] |= options
        return header

    return change


def _weights(shapes: dict[str, list[int]]) -> Callable[[Any], Any]:
    return lambda header: header | {"weights": shapes}


def policy_bombs(name: str) -> dict[str, Damage]:
    """Policy files, by what they claim."""
    return {
        "a network of 13 terabytes": spoil.forged_policy(name, _model(hidden=10**9)),
        "a network that overflows": spoil.forged_policy(name, _model(hidden=10**18)),
        "a wide network": spoil.forged_policy(name, _model(hidden=50_000)),
        "a memory of 10^9": spoil.forged_policy(name, _model(memory="gru", memory_size=10**9)),
        "two gigabytes of zeros": spoil.forged_policy(
            name, _weights({"a": [_GIGABYTE]}), _zeros(2 * _GIGABYTE)
        ),
        "more zeros than it says": spoil.forged_policy(
            name, _weights({"a": [8]}), _zeros(2 * _GIGABYTE)
        ),
        "weights that are not there": spoil.forged_policy(name, _weights({"a": [2**28]})),
        "a deep header": spoil.forged_policy(name, lambda _: b"[" * 100_000),
        "a header of many lists": spoil.forged_policy(
            name, lambda _: b"[" + b"[]," * 10**6 + b"0]"
        ),
        "a huge integer": spoil.forged_policy(name, lambda _: b'{"facts": ' + b"9" * 9999 + b"}"),
        "a stack of 10^9": spoil.forged_policy(
            name,
            lambda header: header["config"]["env"].update(stack=10**9) or header,
        ),
    }


def checkpoint_bombs(name: str) -> dict[str, Damage]:
    """Checkpoints with sidecars that fit them, by what they claim."""
    one = torch.ones(100_000)
    states: dict[str, Any] = {
        "an expanded tensor": torch.ones(1).expand(5 * _GIGABYTE),
        "one storage in many tensors": [one.view(-1) for _ in range(3000)],
        "one list in many lists": _repeated([1], 12),
        "a tensor without its trainer": one,
    }
    return {what: _forged(name, {"average": {"weights": state}}) for what, state in states.items()}


def _repeated(value: Any, times: int) -> Any:
    for _ in range(times):
        value = [value] * 10
    return value


def _forged(name: str, state: Any) -> Damage:
    def damage(world: Path) -> None:
        path = world / name
        row = json.loads(path.with_suffix(".json").read_text())
        buffer = io.BytesIO()
        meta = json.dumps({"steps": 1, "updates": 1})
        torch.save({"format": 1, "meta": meta, "state": state}, buffer)
        data = buffer.getvalue()
        path.write_bytes(data)
        row |= {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        path.with_suffix(".json").write_text(json.dumps(row))

    return damage
