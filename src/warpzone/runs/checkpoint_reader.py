"""Reads torch's zip format without pickle: plain data and tensors, each bounded by the file.

`torch.load(weights_only=True)` runs no foreign code either, but believes what a file says about
sizes: a few kilobytes can ask for gigabytes, by compressed records, by tensors that repeat a small
storage, and by constructors that take a length. Here a small interpreter knows the operations that
checkpoints consist of and refuses all others.
"""

from __future__ import annotations

import pickletools
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

_MOST_REPEATED = 4
"""Tensors together may have this many times the bytes of their file; weights can be shared."""
_MOST_INTEGER_BITS = 1024
_CHUNK_BYTES = 1024 * 1024
_REBUILD = ("torch._utils _rebuild_tensor_v2", "torch._utils _rebuild_tensor_v3")
_ORDERED_DICT = "collections OrderedDict"
_UNTYPED = "torch.storage UntypedStorage"
_STORAGES = {
    "torch BFloat16Storage": torch.bfloat16,
    "torch BoolStorage": torch.bool,
    "torch ByteStorage": torch.uint8,
    "torch CharStorage": torch.int8,
    "torch ComplexDoubleStorage": torch.complex128,
    "torch ComplexFloatStorage": torch.complex64,
    "torch DoubleStorage": torch.float64,
    "torch FloatStorage": torch.float32,
    "torch HalfStorage": torch.float16,
    "torch IntStorage": torch.int32,
    "torch LongStorage": torch.int64,
    "torch ShortStorage": torch.int16,
    _UNTYPED: torch.uint8,
}
_DTYPES = {
    f"torch {name}": getattr(torch, name)
    for name in ("uint16", "uint32", "uint64", "float8_e4m3fn", "float8_e5m2")
}
_NAMES = {*_REBUILD, _ORDERED_DICT, *_STORAGES, *_DTYPES}


class FormatError(ValueError):
    """A file is damaged, holds more than plain data, or claims sizes that it does not have."""


def read_torch_file(path: Path, with_tensors: bool = True) -> Any:
    """Reads what `torch.save` wrote of plain data and tensors.

    Args:
        path: The file.
        with_tensors: Otherwise None stands for each tensor, and only their description is read.

    Raises:
        OSError: It cannot be read.
        FormatError: It is damaged, holds more than plain data, or its sizes contradict its length.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            records = _Records(archive, path.stat().st_size)
            interpreter = _Interpreter(records, with_tensors)
            return interpreter.run(records.read("data.pkl").numpy().tobytes())
    except FormatError:
        raise
    except (zipfile.BadZipFile, EOFError, NotImplementedError) as error:
        raise FormatError(f"it is damaged ({error})") from error
    except (ValueError, KeyError, IndexError, TypeError, OverflowError, RuntimeError) as error:
        raise FormatError(f"its content is wrong ({type(error).__name__}: {error})") from error


class _Records:
    """The parts of the archive, none of which is larger than the file itself."""

    def __init__(self, archive: zipfile.ZipFile, file_bytes: int) -> None:
        self.file_bytes = file_bytes
        self._archive = archive
        entries = archive.infolist()
        if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries):
            raise FormatError("its parts are compressed, which checkpoints never are")
        total = sum(entry.file_size for entry in entries)
        if total > file_bytes:
            raise FormatError(f"its parts claim {total:,} bytes; the file has {file_bytes:,}")
        (name,) = [entry.filename for entry in entries if entry.filename.endswith("/data.pkl")]
        self._prefix = name.removesuffix("data.pkl")
        self._read: dict[str, torch.Tensor] = {}
        if self.read("byteorder").numpy().tobytes() != b"little":
            raise FormatError("its numbers are in big-endian order, which is not supported")

    def size(self, name: str) -> int:
        return self._archive.getinfo(self._prefix + name).file_size

    def read(self, name: str) -> torch.Tensor:
        """The bytes of a part, read once; its checksum is verified."""
        if name not in self._read:
            buffer = torch.empty(self.size(name), dtype=torch.uint8)
            numbers = buffer.numpy()
            at = 0
            with self._archive.open(self._prefix + name) as part:
                while chunk := part.read(_CHUNK_BYTES):
                    numbers[at : at + len(chunk)] = np.frombuffer(chunk, np.uint8)
                    at += len(chunk)
            if at != len(numbers):
                raise FormatError(f"its part {name} is cut")
            self._read[name] = buffer
        return self._read[name]


@dataclass(frozen=True)
class _Name:
    """A class or function that the file mentions; none is ever looked up."""

    name: str


@dataclass(frozen=True)
class _Storage:
    """Where the numbers of tensors are: a part of the archive, and their type."""

    key: str
    dtype: torch.dtype
    count: int


_MARK = object()


class _Interpreter:
    """The operations of pickle, protocol 2, that plain data and tensors need."""

    def __init__(self, records: _Records, with_tensors: bool) -> None:
        self._records, self._with_tensors = records, with_tensors
        self._tensor_bytes = 0
        self._stack: list[Any] = []
        self._memo: dict[int, Any] = {}
        self._operations: dict[str, Callable[[Any], None]] = {
            "PROTO": lambda _: None,
            "NONE": lambda _: self._stack.append(None),
            "NEWTRUE": lambda _: self._stack.append(True),
            "NEWFALSE": lambda _: self._stack.append(False),
            "EMPTY_TUPLE": lambda _: self._stack.append(()),
            "EMPTY_LIST": lambda _: self._stack.append([]),
            "EMPTY_DICT": lambda _: self._stack.append({}),
            "MARK": lambda _: self._stack.append(_MARK),
            "TUPLE": lambda _: self._stack.append(tuple(self._pop_mark())),
            "TUPLE1": lambda _: self._tuple(1),
            "TUPLE2": lambda _: self._tuple(2),
            "TUPLE3": lambda _: self._tuple(3),
            "APPEND": lambda _: self._append([self._pop()]),
            "APPENDS": lambda _: self._append(self._pop_mark()),
            "SETITEM": lambda _: self._set([self._pop(), self._pop()][::-1]),
            "SETITEMS": lambda _: self._set(self._pop_mark()),
            "BINPUT": self._put,
            "LONG_BINPUT": self._put,
            "BINGET": self._get,
            "LONG_BINGET": self._get,
            "GLOBAL": self._name,
            "BINPERSID": lambda _: self._stack.append(self._storage(self._pop())),
            "REDUCE": lambda _: self._reduce(),
            **dict.fromkeys(("BININT", "BININT1", "BININT2"), self._stack.append),
            **dict.fromkeys(("LONG1", "LONG4"), self._integer),
            **dict.fromkeys(("BINFLOAT", "BINUNICODE"), self._stack.append),
        }

    def run(self, data: bytes) -> Any:
        """Returns what the operations leave."""
        for operation, argument, _ in pickletools.genops(data):
            if operation.name == "STOP":
                break
            if operation.name not in self._operations:
                raise FormatError(f"it holds more than plain data ({operation.name})")
            self._operations[operation.name](argument)
        value = self._pop()
        if self._stack:
            raise FormatError("its content is wrong (something is left over)")
        return value

    def _pop(self) -> Any:
        value = self._stack.pop()
        if value is _MARK:
            raise FormatError("its content is wrong (a list without items)")
        return value

    def _pop_mark(self) -> list[Any]:
        items = []
        while (value := self._stack.pop()) is not _MARK:
            items.append(value)
        return items[::-1]

    def _tuple(self, length: int) -> None:
        items = [self._pop() for _ in range(length)]
        self._stack.append(tuple(items[::-1]))

    def _append(self, items: list[Any]) -> None:
        self._of_type(self._stack[-1], list).extend(items)

    def _set(self, items: list[Any]) -> None:
        table = self._of_type(self._stack[-1], dict)
        for key, value in zip(items[::2], items[1::2], strict=True):
            if type(key) not in (str, int):
                raise FormatError(f"it has a key that is a {type(key).__name__}")
            table[key] = value

    def _integer(self, value: int) -> None:
        if value.bit_length() > _MOST_INTEGER_BITS:
            raise FormatError("it holds an integer of absurd size")
        self._stack.append(value)

    def _put(self, index: int) -> None:
        self._memo[index] = self._stack[-1]

    def _get(self, index: int) -> None:
        # Only what has no parts: a container within itself, or in several places, would grow
        # without bound when it is decoded.
        value = self._memo[index]
        if not isinstance(value, str | _Name):
            raise FormatError(f"it refers to a {type(value).__name__} twice")
        self._stack.append(value)

    def _name(self, argument: str) -> None:
        if argument not in _NAMES:
            raise FormatError(f"it holds more than plain data ({argument.replace(' ', '.')})")
        self._stack.append(_Name(argument))

    def _storage(self, description: Any) -> _Storage:
        kind, dtype, key, _, count = self._of_type(description, tuple)
        name = self._of_type(dtype, _Name).name
        if kind != "storage" or name not in _STORAGES:
            raise FormatError("it describes a tensor's numbers wrongly")
        storage = _Storage(
            f"data/{self._of_type(key, str)}", _STORAGES[name], self._of_type(count, int)
        )
        found = self._records.size(storage.key)
        if count * storage.dtype.itemsize != found:
            raise FormatError(f"it claims {count:,} numbers in {found:,} bytes of {storage.key}")
        return storage

    def _reduce(self) -> None:
        arguments = self._of_type(self._pop(), tuple)
        name = self._of_type(self._pop(), _Name).name
        if name in _REBUILD:
            self._stack.append(self._tensor(arguments))
        elif name == _ORDERED_DICT and not arguments:
            self._stack.append({})
        else:
            raise FormatError(f"it holds more than plain data ({name.replace(' ', '.')})")

    def _tensor(self, arguments: Sequence[Any]) -> torch.Tensor | None:
        storage, offset, size, stride, _, _, *more = arguments
        dtype = self._of_type(storage, _Storage).dtype
        if more:
            dtype = _DTYPES[self._of_type(more[0], _Name).name]
        available = storage.count * storage.dtype.itemsize // dtype.itemsize
        sides = (offset, *self._of_type(size, tuple), *self._of_type(stride, tuple))
        if any(type(side) is not int or side < 0 for side in sides) or len(size) != len(stride):
            raise FormatError("it describes a tensor's shape wrongly")
        numbers, last = 1, offset
        for side, step in zip(size, stride, strict=True):
            numbers *= side
            last += max(side - 1, 0) * step
        if numbers > available or (numbers and last >= available):
            raise FormatError(f"it claims {numbers:,} numbers where there are {available:,}")
        self._tensor_bytes += numbers * dtype.itemsize
        if self._tensor_bytes > _MOST_REPEATED * self._records.file_bytes:
            raise FormatError("its tensors repeat the same numbers too often")
        if not self._with_tensors:
            return None
        raw = self._records.read(storage.key)
        whole = raw[: available * dtype.itemsize].view(dtype)
        return whole.as_strided(size, stride, offset)

    @staticmethod
    def _of_type(value: Any, kind: type) -> Any:
        if type(value) is not kind:
            raise FormatError(f"it has a {type(value).__name__} where a {kind.__name__} belongs")
        return value
