"""What a checkpoint claims is bounded by its own length, and it holds plain data alone."""

from __future__ import annotations

import io
import pickle
import subprocess
import sys
import zipfile
from collections import Counter, OrderedDict
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from warpzone.runs.checkpoint_reader import FormatError, read_torch_file

GIGABYTE = 1024**3


def saved(value: Any) -> bytes:
    buffer = io.BytesIO()
    torch.save(value, buffer)
    return buffer.getvalue()


def repacked(
    data: bytes,
    change: Callable[[str, bytes], bytes] = lambda name, content: content,
    compression: int = zipfile.ZIP_STORED,
) -> bytes:
    """The same archive with other contents or compression."""
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data)) as source,
        zipfile.ZipFile(buffer, "w", compression) as target,
    ):
        for name in source.namelist():
            target.writestr(name, change(name, source.read(name)))
    return buffer.getvalue()


def with_pickle(content: bytes) -> bytes:
    return repacked(
        saved({"x": torch.ones(3)}),
        lambda name, before: content if name.endswith("data.pkl") else before,
    )


def read(tmp_path: Path, data: bytes) -> Any:
    path = tmp_path / "a.pt"
    path.write_bytes(data)
    return read_torch_file(path)


PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**100), 2**100)
    | st.floats(allow_nan=False)
    | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text() | st.integers(-(2**40), 2**40), inner)
    ),
    max_leaves=20,
)


@settings(deadline=None, max_examples=60)
@given(value=PLAIN)
def test_plain_data_comes_back(tmp_path_factory: pytest.TempPathFactory, value: Any) -> None:
    assert read(tmp_path_factory.mktemp("plain"), saved(value)) == value


@pytest.mark.parametrize(
    "tensor",
    [
        torch.arange(6.0).reshape(2, 3),
        torch.arange(6).reshape(2, 3).T,
        torch.rand(2, 3, 4, 4).to(memory_format=torch.channels_last),
        torch.arange(10.0)[2:5],
        torch.zeros(0, 3),
        torch.tensor(5),
        *(
            torch.ones(3).to(getattr(torch, name))
            for name in ("bool", "bfloat16", "float16", "int8")
        ),
        *(
            torch.from_numpy(np.ones(3, kind))
            for kind in (np.uint16, np.uint32, np.int16, np.uint8)
        ),
    ],
    ids=lambda tensor: f"{tensor.dtype}-{tuple(tensor.shape)}",
)
def test_tensors_are_what_torch_reads(tmp_path: Path, tensor: torch.Tensor) -> None:
    found = read(tmp_path, saved({"x": tensor}))["x"]
    assert torch.equal(found, tensor)
    assert (found.dtype, found.shape, found.stride()) == (
        tensor.dtype,
        tensor.shape,
        tensor.stride(),
    )


class Calls:
    """Pickles as a call."""

    def __init__(self, function: Callable[..., Any], *arguments: Any) -> None:
        self._call = function, arguments

    def __reduce__(self) -> Any:
        return self._call


def nested(depth: int) -> Any:
    value: Any = [1]
    for _ in range(depth):
        value = [value] * 10  # The same list, so that the file stays small.
    return value


def many_views(tensor: torch.Tensor) -> list[torch.Tensor]:
    return [tensor.view(-1) for _ in range(2000)]


def endless() -> Any:
    value: list[Any] = []
    value.append(value)
    return value


def more_numbers(name: str, content: bytes) -> bytes:
    """Says that the storage of three numbers has 200 of them."""
    return content.replace(b"K\x03t", b"K\xc8t") if name.endswith("data.pkl") else content


BOMBS: dict[str, bytes] = {
    "an expanded tensor": saved({"x": torch.ones(1).expand(5_000_000_000)}),
    "many tensors of one storage": saved(many_views(torch.ones(100_000))),
    "a longer storage": repacked(saved({"x": torch.ones(3)}), more_numbers),
    "a compressed part": repacked(
        saved({"x": torch.zeros(1_000_000)}), compression=zipfile.ZIP_DEFLATED
    ),
    "bytearray": saved(Calls(bytearray, 20 * GIGABYTE)),
    "a tensor by its length": saved(Calls(torch.Tensor, 5 * GIGABYTE)),
    "a storage by its length": saved(Calls(torch.FloatStorage, 5 * GIGABYTE)),
    "a counter": saved(Counter("abc")),
    "lists of the same list": saved(nested(12)),
    "a list within itself": saved(endless()),
    "an ordered dict with content": saved(Calls(OrderedDict, [("a", 1)])),
    "a huge index": with_pickle(b"\x80\x02Nr\xff\xff\xff\x7f."),
    "a huge text": with_pickle(b"\x80\x02X\xff\xff\xff\x7fabc."),
    "a huge integer": with_pickle(b"\x80\x02\x8b\x00\x00\x10\x00" + bytes(2**20) + b"\x01."),
    "deep lists": with_pickle(b"\x80\x02" + b"]" * 100_000 + b"a" * 99_999 + b"."),
    "nothing": with_pickle(b"\x80\x02."),
    "an unknown operation": with_pickle(b"\x80\x02(i__main__\nsystem\n."),
    "a name": with_pickle(b"\x80\x02cposix\nsystem\n."),
    "no stop": with_pickle(b"\x80\x02N"),
    "an empty stack": with_pickle(b"\x80\x02a."),
    "a mark": with_pickle(b"\x80\x02(."),
    "a list as a key": with_pickle(b"\x80\x02}]Ns."),
    "a function as a value": with_pickle(
        pickle.dumps({"x": 1}, 2).replace(b"K\x01", b"ctorch._utils\n_rebuild_tensor_v2\n")
    ),
}
# These take no more memory than their files, and what is read of them is refused afterwards.
HARMLESS = {"deep lists", "a function as a value", "a huge index"}


@pytest.mark.parametrize("name", [name for name in BOMBS if name not in HARMLESS])
def test_bombs_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(FormatError):
        read(tmp_path, BOMBS[name])


LIMITED = """
import resource, sys
from pathlib import Path
from warpzone.errors import CheckpointError
from warpzone.runs import checkpoint
used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
limit = used + 300 * 1024**2
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
for path in sorted(Path(sys.argv[1]).glob("*.pt")):
    try:
        checkpoint.load(path)
    except CheckpointError as error:
        assert len(str(error)) < 1000, len(str(error))
    else:
        raise AssertionError(path)
print("all refused")
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is measured by /proc")
def test_no_bomb_takes_more_memory_than_its_file_explains(tmp_path: Path) -> None:
    for number, data in enumerate(BOMBS.values()):
        (tmp_path / f"{number}.pt").write_bytes(data)
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.stdout == "all refused\n", done.stderr


@settings(deadline=None, max_examples=150)
@given(
    flips=st.lists(st.tuples(st.integers(0, 10**6), st.integers(1, 255)), min_size=1, max_size=4)
)
def test_a_damaged_description_is_refused_or_harmless(
    tmp_path_factory: pytest.TempPathFactory, flips: list[tuple[int, int]]
) -> None:
    state = {"a": torch.ones(4, 5), "b": [1, (2, "x")], "c": {"d": None, 7: 2.5}}

    def damage(name: str, content: bytes) -> bytes:
        if not name.endswith("data.pkl"):
            return content
        altered = bytearray(content)
        for place, mask in flips:
            altered[place % len(altered)] ^= mask
        return bytes(altered)

    with suppress(FormatError):
        read(tmp_path_factory.mktemp("flips"), repacked(saved(state), damage))
