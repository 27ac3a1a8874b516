"""What a fuzzed call may do: succeed, or raise an expected error with a clear message."""

from __future__ import annotations

from collections.abc import Callable

# IndexError: an address that cannot be poked. FileNotFoundError: a string taken for a path.
EXPECTED_ERRORS = (ValueError, TypeError, IndexError, FileNotFoundError)


class FuzzFailureError(Exception):
    """The code under test misbehaved."""


def rejected(call: Callable[[], object]) -> bool:
    """Makes a call that may be rejected.

    Returns:
        Whether it was rejected.

    Raises:
        FuzzFailureError: If it raised an unexpected error, or one without a clear message.
    """
    try:
        call()
    except EXPECTED_ERRORS as error:
        if len(str(error).split()) < 3:
            raise FuzzFailureError(f"no clear message in {error!r}") from error
        return True
    except Exception as error:
        raise FuzzFailureError(f"{type(error).__name__}: {error}") from error
    return False
