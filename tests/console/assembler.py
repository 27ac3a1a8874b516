"""A 6502 assembler small enough to read: test programs are text, so a failing one can be printed.

    assemble("LDX #$10; loop: DEX; BNE loop", origin=0x8000)

Statements are parted by semicolons or line ends. Numbers are hexadecimal with `$`. Labels live in
the text they stand in. `.byte $02 $EA` puts bytes, for what has no official name.
"""

from __future__ import annotations

import re
from functools import lru_cache

from py65.devices.mpu6502 import MPU

# py65 knows the official instructions; what it calls each addressing mode, and how it is written.
_WRITTEN = {
    "imm": r"#(?P<n>\S+)",
    "inx": r"\((?P<n>\S+),X\)",
    "iny": r"\((?P<n>\S+)\),Y",
    "ind": r"\((?P<n>\S+)\)",
    "abx": r"(?P<n>[^\s,]+),X",
    "aby": r"(?P<n>[^\s,]+),Y",
    "acc": r"A",
    "imp": r"",
    "abs": r"(?P<n>[^\s,()#]+)",
}
_PATTERNS = {mode: re.compile(pattern) for mode, pattern in _WRITTEN.items()}
_ZERO_PAGE = {"abs": "zpg", "abx": "zpx", "aby": "zpy"}
_LENGTHS = {"imp": 1, "acc": 1, "abs": 3, "abx": 3, "aby": 3, "ind": 3}  # every other mode: 2

OPCODES: dict[tuple[str, str], int] = {
    entry: opcode for opcode, entry in enumerate(MPU.disassemble) if entry[0] != "???"
}


def assemble(source: str, origin: int, symbols: dict[str, int] | None = None) -> bytes:
    """Assembles a text for a place in memory.

    Args:
        source: Statements.
        origin: Address of the first byte.
        symbols: Labels of other texts.

    Returns:
        The machine code.

    Raises:
        ValueError: A statement is not understood, or a branch goes too far.
    """
    labels = dict(symbols or {})
    placed: list[tuple[int, str]] = []
    place = origin
    for statement in _statements(source):
        if statement.endswith(":"):
            labels[statement[:-1]] = place
            continue
        placed.append((place, statement))
        place += len(_encode(statement, place, None))
    return b"".join(_encode(statement, at, labels) for at, statement in placed)


@lru_cache(maxsize=65536)
def _statements(source: str) -> tuple[str, ...]:
    parts = re.sub(r"(\w+:)\s", r"\1;", source.replace("\n", ";") + " ").split(";")
    return tuple(stripped for part in parts if (stripped := part.strip()))


def _encode(statement: str, place: int, labels: dict[str, int] | None) -> bytes:
    """Encodes one statement; labels are unknown (and count as far away) in the first pass."""
    opcode, mode, operand = _decode(statement)
    if mode == "byte":
        return bytes(int(number.lstrip("$"), 16) for number in operand.split())
    if not operand:
        return bytes((opcode,))
    value = _value(operand, place, labels)
    if mode == "rel":
        offset = value - place - 2 if labels is not None else 0
        if not -128 <= offset < 128:
            raise ValueError(f"the branch in {statement!r} goes {offset} bytes")
        return bytes((opcode, offset & 0xFF))
    return bytes((opcode,)) + value.to_bytes(_LENGTHS.get(mode, 2) - 1, "little")


@lru_cache(maxsize=65536)
def _decode(statement: str) -> tuple[int, str, str]:
    """Returns opcode, addressing mode and operand text."""
    name, _, operand = statement.partition(" ")
    operand = operand.strip()
    if name == ".byte":
        return 0, "byte", operand
    if (name, "rel") in OPCODES:
        return OPCODES[name, "rel"], "rel", operand
    for mode, pattern in _PATTERNS.items():
        match = pattern.fullmatch(operand)
        if match is None:
            continue
        number = match.groupdict().get("n") or ""
        short = _ZERO_PAGE.get(mode, "")
        if re.fullmatch(r"\$[0-9A-F]{2}", number) and (name, short) in OPCODES:
            return OPCODES[name, short], short, number
        if (name, mode) in OPCODES:
            return OPCODES[name, mode], mode, number
    raise ValueError(f"not an instruction: {statement!r}")


def _value(operand: str, place: int, labels: dict[str, int] | None) -> int:
    if operand.startswith("$"):
        return int(operand[1:], 16)
    if operand == "*":
        return place
    if labels is None:
        return 0x8000
    if operand not in labels:
        raise ValueError(f"no such label: {operand!r}")
    return labels[operand]
