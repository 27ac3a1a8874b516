"""Worker processes of a sweep, one per trial."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from warpzone.sweep.files import SweepFolder


@dataclass
class Worker:
    """A process that runs a trial."""

    trial: int
    process: subprocess.Popen[bytes]

    def stop(self) -> None:
        """Asks the process to save its run and end."""
        if self.process.poll() is None:
            self.process.terminate()


def launch(folder: SweepFolder, trial: int, threads: int, plugins: Sequence[str]) -> Worker:
    """Starts the process of a trial; its output is appended to the trial's log.

    Args:
        folder: Folder of the sweep.
        trial: Number of the trial.
        threads: Threads that it may use.
        plugins: Plug-ins to import.
    """
    command = [sys.executable, "-m", "warpzone.sweep.worker", str(folder.path), str(trial)]
    command += ["--threads", str(threads)]
    command += [f"--plugin={plugin}" for plugin in plugins]
    folder.logs.mkdir(exist_ok=True)
    folder.locks.mkdir(exist_ok=True)
    with folder.log(trial).open("ab") as log:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
            # Ctrl-C reaches the sweep alone, which then stops its workers.
            start_new_session=os.name == "posix",
        )
    return Worker(trial, process)
