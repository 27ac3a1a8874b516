"""Errors of the operating system as one sentence: which path, why, and what to do."""

from __future__ import annotations

import errno
import os

from warpzone.system.text import printable

_REMEDIES = {
    errno.ENOSPC: "free some space on the disk",
    errno.EDQUOT: "free some space, or ask for a larger quota",
    errno.EROFS: "use a folder on a file system that can be written",
    errno.EACCES: "check the permissions",
    errno.EPERM: "check the permissions",
    errno.EMFILE: "raise the limit on open files, for example with `ulimit -n 1024`",
    errno.ENFILE: "close other programs: the whole system has too many open files",
    errno.ENOENT: "check the path",
    errno.ENOTDIR: "check the path",
    errno.EISDIR: "name a file instead of a folder",
    errno.ENAMETOOLONG: "use a shorter name",
    errno.EFBIG: "raise the limit on file sizes, for example with `ulimit -f unlimited`",
    errno.EIO: "check the disk",
}


def describe_os_error(error: OSError) -> str:
    """Says what could not be done, in one sentence.

    Example:
        >>> describe_os_error(OSError(errno.ENOSPC, "No space left on device", "runs/a"))
        'runs/a: No space left on device; free some space on the disk'
    """
    if error.errno is None:
        return printable(" ".join(str(error).split())) or type(error).__name__
    paths = " -> ".join(os.fsdecode(path) for path in _paths(error))
    reason = error.strerror or os.strerror(error.errno)
    remedy = _REMEDIES.get(error.errno)
    return printable(": ".join(filter(None, [paths, reason])) + (f"; {remedy}" if remedy else ""))


def _paths(error: OSError) -> list[str | bytes]:
    return [name for name in (error.filename, error.filename2) if isinstance(name, str | bytes)]
