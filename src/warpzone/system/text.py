"""Text from files, paths and other programs, made fit for a terminal and for UTF-8."""

from __future__ import annotations

import unicodedata

# Control characters, format characters such as right-to-left overrides, lone surrogates, and
# line and paragraph separators.
_UNPRINTABLE = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def printable(text: object) -> str:
    r"""Replaces what a terminal would obey or cannot show by its escaped form.

    Newlines and tabs stay. Use it wherever text that this program did not write is printed: names
    of files, fields of policies and scoreboards, messages that quote them.

    Example:
        >>> printable("\x1b[2Jname")
        '\\x1b[2Jname'
    """
    return "".join(map(_visible, str(text)))


def is_utf8(text: str) -> bool:
    """Whether text can be written to a file; names that are not UTF-8 cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _visible(character: str) -> str:
    if character in "\n\t" or unicodedata.category(character) not in _UNPRINTABLE:
        return character
    return character.encode("unicode_escape").decode("ascii")
