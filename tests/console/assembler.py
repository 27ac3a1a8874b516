"""A small 6502 assembler: test programs are text, so that a failing one can be printed.

    assemble("LDX #$10; loop: DEX; BNE loop", origin=0x8000)

Statements are separated by semicolons or newlines. Numbers are hexadecimal with `$`. Labels are
local to their text. `.byte $02 $EA` inserts bytes, for example unofficial instructions.
"""

from __future__ import annotations

import re
from functools import lru_cache

from py65.devices.mpu6502 import MPU

# The syntax of each addressing mode, by py65's name; py65 knows the official instructions.
_SYNTAX = {
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
_PATTERNS = {mode: re.compile(pattern) for mode, pattern in _SYNTAX.items()}
_ZERO_PAGE = {"abs": "zpg", "abx": "zpx", "aby": "zpy"}
_LENGTHS = {"imp": 1, "acc": 1, "abs": 3, "abx": 3, "aby": 3, "ind": 3}  # every other mode: 2

OPCODES: dict[tuple[str, str], int] = {
    entry: opcode for opcode, entry in enumerate(MPU.disassemble) if entry[0] != "???"
}


def assemble(source: str, origin: int, symbols: dict[str, int] | None = None) -> bytes:
    """Assembles a text at a given address.

    Args:
        source: The statements.
        origin: Address of the first byte.
        symbols: Labels of other texts.

    Returns:
        The machine code.

    Raises:
        ValueError: If a statement is invalid or a branch target is out of range.
    """
    labels = dict(symbols or {})
    located: list[tuple[int, str]] = []
    address = origin
    for statement in _statements(source):
        if statement.endswith(":"):
            labels[statement[:-1]] = address
            continue
        located.append((address, statement))
        address += len(_encode(statement, address, None))
    return b"".join(_encode(statement, at, labels) for at, statement in located)


@lru_cache(maxsize=65536)
def _statements(source: str) -> tuple[str, ...]:
    parts = re.sub(r"(\w+:)\s", r"\1;", source.replace("\n", ";") + " ").split(";")
    return tuple(stripped for part in parts if (stripped := part.strip()))


def _encode(statement: str, address: int, labels: dict[str, int] | None) -> bytes:
    """Encodes one statement; in the first pass, labels are unknown and assumed to be absolute."""
    opcode, mode, operand = _decode(statement)
    if mode == "byte":
        return bytes(int(number.lstrip("$"), 16) for number in operand.split())
    if not operand:
        return bytes((opcode,))
    value = _value(operand, address, labels)
    if mode == "rel":
        offset = value - address - 2 if labels is not None else 0
        if not -128 <= offset < 128:
            raise ValueError(f"the branch in {statement!r} is out of range: {offset} bytes")
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


def _value(operand: str, address: int, labels: dict[str, int] | None) -> int:
    if operand.startswith("$"):
        return int(operand[1:], 16)
    if operand == "*":
        return address
    if labels is None:
        return 0x8000
    if operand not in labels:
        raise ValueError(f"unknown label: {operand!r}")
    return labels[operand]
