from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from warpzone.errors import LockError
from warpzone.system.file_lock import file_lock

HOLD = textwrap.dedent(
    """
    import sys
    from pathlib import Path
    from warpzone.system.file_lock import file_lock
    with file_lock(Path(sys.argv[1]), 60):
        print("held", flush=True)
        sys.stdin.read()
    """
)


def test_lock_waits_names_its_holder_and_ends_with_its_process(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(LockError, match=rf"held by another process \({holder.pid}\)"):  # noqa: SIM117
        with file_lock(path, 0.1):
            pass
    holder.kill()
    holder.communicate()
    with file_lock(path, 60):
        assert path.read_text() == str(os.getpid())


def test_lock_in_a_missing_folder_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(LockError, match="cannot be opened"):  # noqa: SIM117
        with file_lock(tmp_path / "missing" / "lock", 0.1):
            pass
