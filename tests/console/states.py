"""The binary format of save states: reading headers, and forging states with a valid checksum.

The layout is defined in `native/nes/console.cpp`, the hash in `native/nes/hash.hpp`.
"""

from __future__ import annotations

import struct
from dataclasses import astuple, dataclass, replace

_HEADER = struct.Struct("<IIQQQ")
HEADER_SIZE = _HEADER.size
_WORD = 0xFFFFFFFFFFFFFFFF
_PRIME_1, _PRIME_2 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F


@dataclass(frozen=True)
class Header:
    """The first bytes of a save state."""

    magic: int
    version: int
    size: int
    cartridge: int
    checksum: int

    def packed(self) -> bytes:
        """Returns the header as bytes."""
        return _HEADER.pack(*astuple(self))


def header_of(state: bytes) -> Header:
    """Reads the header of a save state."""
    return Header(*_HEADER.unpack_from(state))


def hash_bytes(data: bytes, seed: int = 0) -> int:
    """Returns the 64-bit hash that protects save states."""
    value = seed ^ (len(data) * _PRIME_1 & _WORD)
    whole = len(data) // 8
    for word in struct.unpack_from(f"<{whole}Q", data):
        value = (value ^ word) * _PRIME_1 & _WORD
        value ^= value >> 29
    for byte in data[whole * 8 :]:
        value = (value ^ byte) * _PRIME_2 & _WORD
    value ^= value >> 32
    value = value * _PRIME_2 & _WORD
    return value ^ (value >> 29)


def forged(state: bytes, body: bytes) -> bytes:
    """Replaces the body of a save state and updates the checksum."""
    return replace(header_of(state), checksum=hash_bytes(body)).packed() + body
