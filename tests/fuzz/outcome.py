"""What a fuzzed call may do: work, or refuse in a sentence."""

from __future__ import annotations

from collections.abc import Callable

# IndexError: an address that cannot be poked. FileNotFoundError: a text taken for a path.
REFUSALS = (ValueError, TypeError, IndexError, FileNotFoundError)


class FuzzFailureError(Exception):
    """The code under test did something it must not do."""


def refused(call: Callable[[], object]) -> bool:
    """Makes a call that may be refused.

    Returns:
        Whether it was.

    Raises:
        FuzzFailureError: It was refused with the wrong kind of error, or without a sentence.
    """
    try:
        call()
    except REFUSALS as error:
        if len(str(error).split()) < 3:
            raise FuzzFailureError(f"no sentence in {error!r}") from error
        return True
    except Exception as error:
        raise FuzzFailureError(f"{type(error).__name__}: {error}") from error
    return False
