"""Films of a run while it trains: a process of its own films a checkpoint, the loop never waits."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import TracebackType

_log = logging.getLogger(__name__)

_SECONDS_TO_END = 10.0


class BackgroundRecorder:
    """Films one checkpoint at a time, at the lowest priority and on one thread.

    The checkpoint on disk is the snapshot of the weights, so nothing of the trainer is shared.
    """

    def __init__(self) -> None:
        """Starts nothing yet."""
        self._process: subprocess.Popen[str] | None = None
        self._output = Path()

    def record(self, checkpoint: Path, output: Path) -> None:
        """Begins a film, unless the one before is still being made."""
        if self._process is not None and self._process.poll() is None:
            _log.info("%s is left out, since %s is still being made", output.name, self._output)
            return
        self._finish()
        self._output = output
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__, str(checkpoint), str(output)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
            start_new_session=True,  # Ctrl-C is for the trainer, which ends this process itself.
        )

    def close(self) -> None:
        """Gives up a film that is being made; nothing of it stays behind."""
        process = self._process
        if process is not None and process.poll() is None:
            process.send_signal(signal.SIGTERM if os.name == "nt" else signal.SIGINT)
            try:
                process.wait(_SECONDS_TO_END)
            except subprocess.TimeoutExpired:
                process.kill()
            process.communicate()
            self._process = None
        self._finish()

    def __enter__(self) -> BackgroundRecorder:
        """Returns itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Closes."""
        self.close()

    def _finish(self) -> None:
        """Tells how the film before went."""
        process, self._process = self._process, None
        if process is None:
            return
        _, text = process.communicate()
        if process.returncode == 0:
            _log.info("filmed %s", self._output)
        else:
            reason = text.strip().splitlines()[-1] if text.strip() else "no reason given"
            _log.warning("%s could not be filmed: %s", self._output, reason)


def main(checkpoint: str, output: str) -> None:
    """What the process does."""
    import psutil
    import torch

    from warpzone.video.policy_video import record_policy

    if sys.platform == "win32":
        psutil.Process().nice(psutil.IDLE_PRIORITY_CLASS)
    else:
        psutil.Process().nice(19)
    torch.set_num_threads(1)
    record_policy(Path(checkpoint), Path(output), tries=1)


if __name__ == "__main__":
    main(*sys.argv[1:])
