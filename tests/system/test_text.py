"""Text of strangers reaches a terminal without effect, and errors of the system as a sentence."""

from __future__ import annotations

import errno
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpzone.system.os_errors import describe_os_error
from warpzone.system.text import is_utf8, printable

ANY_TEXT = st.text(st.characters(exclude_categories=()))


@given(ANY_TEXT)
def test_nothing_that_a_terminal_obeys_is_left(text: str) -> None:
    shown = printable(text)
    assert is_utf8(shown)
    assert not [c for c in shown if unicodedata.category(c) == "Cc" and c not in "\n\t"]


@given(st.text(st.characters(categories=["L", "N", "P", "S"])))
def test_readable_text_stays_as_it_is(text: str) -> None:
    assert printable(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2J\x07", "\\x1b[2J\\x07"),
        ("\x9b31m", "\\x9b31m"),
        ("caf\udce9", "caf\\udce9"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("Bär \U0001f344", "Bär \U0001f344"),
    ],
)
def test_what_is_replaced_shows_its_code(text: str, shown: str) -> None:
    assert printable(text) == shown


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "a/b"), "a/b: No space left on device; "),
        (OSError(errno.EMFILE, "Too many open files"), "Too many open files; raise the limit"),
        (OSError(errno.EXDEV, "Invalid link", "a", None, "b"), "a -> b: Invalid link"),
        (OSError("of some library\nin two lines"), "of some library in two lines"),
        (OSError(), "OSError"),
        (OSError(errno.EACCES, "Permission denied", b"\x1b\xff"), "\\x1b\\udcff: Permission"),
    ],
)
def test_an_error_of_the_system_is_one_sentence(error: OSError, sentence: str) -> None:
    assert describe_os_error(error).startswith(sentence)
    assert "\n" not in describe_os_error(error)
