"""Judges the error output of a command that may fail."""

from __future__ import annotations


def assert_one_sentence(code: int, err: str) -> None:
    """A failure prints exactly one error line, a success none, and nobody sees a traceback."""
    assert "Traceback" not in err, err
    assert code in (0, 1, 2), err
    errors = [line for line in err.splitlines() if line.startswith("error: ")]
    assert len(errors) == (1 if code == 2 else 0), err
