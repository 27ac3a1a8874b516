"""Reports are shared, so they name no folders of the machine that they were written on."""

from __future__ import annotations

import re

# An absolute path up to its last part: of Unix (also below ~), or of Windows. What precedes it must
# not make it part of a URL, a fraction or a relative path.
_FOLDERS = re.compile(
    r"""(?<![\w./:~\\-])
    (?: ~?/ (?: [^\s/\\'"`<>|,;:()\[\]{}=]+ / )+
      | (?: [A-Za-z]: | \\ ) \\ (?: [^\\/'"`<>|,;:()\[\]{}=\n]+ [\\/]+ )+
    )""",
    re.VERBOSE,
)


def without_folders(text: str) -> str:
    """Returns text in which absolute paths are reduced to their last part.

    Example:
        >>> without_folders("saved /home/user/runs/mario-1-1/best.pt")
        'saved …/best.pt'
    """
    return _FOLDERS.sub("…/", text)
