"""Ways to spoil a file."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

Damage = Callable[[Path], None]
"""Spoils something in a world's folder."""

TERABYTE = 10**12

NOT_JSON: dict[str, bytes] = {
    "empty": b"",
    "half": b'{"a": ',
    "a list": b"[]",
    "a number": b"3",
    "null": b"null",
    "deep": b"[" * 100_000,
    "NaN": b'{"steps": NaN, "goal": Infinity}',
    "a huge integer": b'{"format": ' + b"9" * 5000 + b"}",
    "binary": b"\xff\xfe\x00\x80",
    "escape codes": b'"\\u001b[2J\\u0007\\ud800"',
}


def content(name: str, data: bytes) -> Damage:
    """Replaces a file's content."""

    def damage(world: Path) -> None:
        path = world / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    return damage


def cut(name: str, share: float = 0.5) -> Damage:
    """Keeps the first part of a file."""

    def damage(world: Path) -> None:
        data = (world / name).read_bytes()
        kept = data[: int(len(data) * share)]
        if name.endswith(".toml"):  # Cut between two lines, it would still be valid.
            kept = kept[: kept.rfind(b"=") + 1]
        (world / name).write_bytes(kept)

    return damage


def flipped(name: str, place: float = 0.5) -> Damage:
    """Changes a bit of a file."""

    def damage(world: Path) -> None:
        data = bytearray((world / name).read_bytes())
        data[int((len(data) - 1) * place)] ^= 0x10
        (world / name).write_bytes(bytes(data))

    return damage


def sparse(name: str, size: int = TERABYTE) -> Damage:
    """Makes a file of absurd length that takes no space."""

    def damage(world: Path) -> None:
        (world / name).parent.mkdir(parents=True, exist_ok=True)
        with (world / name).open("wb") as file:
            file.truncate(size)

    return damage


def folder(name: str) -> Damage:
    """Puts a folder where a file belongs."""

    def damage(world: Path) -> None:
        (world / name).unlink(missing_ok=True)
        (world / name).mkdir(parents=True)

    return damage


def device(name: str) -> Damage:
    """Puts an endless device where a file belongs."""

    def damage(world: Path) -> None:
        (world / name).unlink(missing_ok=True)
        (world / name).symlink_to("/dev/zero")

    return damage


def link(name: str, target: str) -> Damage:
    """Puts a link where a folder belongs."""

    def damage(world: Path) -> None:
        (world / name).parent.mkdir(parents=True)
        (world / name).symlink_to(world / target)

    return damage


def replaced(name: str, old: str, new: str) -> Damage:
    """Replaces a text within a file."""

    def damage(world: Path) -> None:
        text = (world / name).read_text()
        assert old in text
        (world / name).write_text(text.replace(old, new))

    return damage


def gone(name: str) -> Damage:
    """Removes a file."""

    def damage(world: Path) -> None:
        (world / name).unlink()

    return damage


def nothing(world: Path) -> None:
    """Spoils nothing: the arguments are what is wrong."""


def both(*damages: Damage) -> Damage:
    """Spoils several things."""

    def damage(world: Path) -> None:
        for one in damages:
            one(world)

    return damage


def json_change(name: str, change: dict[str, Any]) -> Damage:
    """Replaces entries of a JSON file."""

    def damage(world: Path) -> None:
        tree = json.loads((world / name).read_text())
        (world / name).write_text(json.dumps(tree | change))

    return damage


def deflated_zeros(size: int) -> bytes:
    """A raw deflate stream of zeros: one block of a megabyte, again and again."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    block = packer.compress(bytes(2**20)) + packer.flush(zlib.Z_FULL_FLUSH)
    return block * (size // 2**20) + b"\x03\x00"


def gzip_bomb(name: str, size: int) -> Damage:
    """Writes a compressed file that expands a thousand times; its end is cut off."""
    header = b"\x1f\x8b\x08" + bytes(7)
    return content(name, header + deflated_zeros(size))


def split_policy(data: bytes) -> tuple[bytes, Any, bytes]:
    """Magic, header and packed weights of a policy file."""
    first, line, packed = data.split(b"\n", 2)
    return b" ".join(first.split(b" ")[:2]), json.loads(line), packed


def join_policy(magic: bytes, header: Any, packed: bytes) -> bytes:
    """A policy file with the checksum that belongs to its content."""
    line = header if isinstance(header, bytes) else json.dumps(header).encode()
    rest = line + b"\n" + packed
    return magic + b" " + hashlib.sha256(rest).hexdigest().encode() + b"\n" + rest


def forged_policy(name: str, change: Callable[[Any], Any], packed: bytes | None = None) -> Damage:
    """Changes the header of a policy, or its weights, and corrects the checksum."""

    def damage(world: Path) -> None:
        magic, header, old = split_policy((world / name).read_bytes())
        forged = join_policy(magic, change(header), old if packed is None else packed)
        (world / name).write_bytes(forged)

    return damage
