"""JSON from strangers is bounded, and its entries have the types that were asked for."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpzone.system.json_file import entry, parse_json, read_bytes, read_json

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, '{"a":' * 100_000, "9" * 5000, "NaN", "-Infinity", "{half", "", "\\ud800"],
)
def test_what_is_not_json_is_a_value_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(ValueError):  # noqa: PT011 - whatever the text is
        read_json(path)


@given(st.binary(max_size=200))
def test_no_bytes_raise_anything_else(data: bytes) -> None:
    with suppress(ValueError):
        parse_json(data)


def test_devices_pipes_and_large_files_are_not_read(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not a regular file"):
        read_bytes(Path(os.devnull))
    with pytest.raises(ValueError, match="not a regular file"):
        read_bytes(tmp_path)
    large = tmp_path / "large"
    with large.open("wb") as file:
        file.truncate(10**12)
    with pytest.raises(ValueError, match="1,000,000,000,000 bytes"):
        read_bytes(large)


@given(JSON)
def test_entries_have_the_type_that_was_asked_for(value: object) -> None:
    for kind in (int, float, str, bool, dict, list):
        with suppress(ValueError):
            found = entry({"a": value}, "a", kind)
            assert type(found) is kind
            assert found == value


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([], r"it is \[\]; it must be a table"),
        ({}, "it has no 'a'"),
        ({"a": True}, "'a' is true; it must be a whole number"),
        ({"a": "9" * 500}, r"'a' is \"9{59}\.\.\.; it must be a whole number"),
        ({"a": -1}, "'a' is -1; it must be at least 0"),
    ],
)
def test_the_text_says_what_is_wrong(row: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        entry(row, "a", int, least=0)


def test_whole_numbers_are_numbers_but_not_beyond_what_floats_hold() -> None:
    assert entry({"a": 3}, "a", float) == 3.0
    with pytest.raises(ValueError, match="must be a number"):
        entry({"a": 10**400}, "a", float)
