"""Recording videos during training in a separate process, so that training never waits."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

_log = logging.getLogger(__name__)

_EXIT_SECONDS = 10.0


class BackgroundRecorder:
    """Records one checkpoint at a time, at the lowest priority and on one thread.

    The process reads the weights from the checkpoint and shares no state with the trainer.
    """

    def __init__(self, plugins: Sequence[str] = ()) -> None:
        """Creates a recorder; no process is started yet.

        Args:
            plugins: Plug-ins that the process imports first.
        """
        self._plugins = plugins
        self._process: subprocess.Popen[str] | None = None
        self._output = Path()

    def record(self, checkpoint: Path, output: Path) -> None:
        """Starts recording a video, unless the previous one is still being recorded."""
        if self._process is not None and self._process.poll() is None:
            _log.info("skipped %s: %s is still being recorded", output.name, self._output)
            return
        self._finish()
        self._output = output
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__, str(checkpoint), str(output), *self._plugins],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
            start_new_session=True,  # The trainer handles Ctrl-C and ends this process itself.
        )

    def close(self) -> None:
        """Cancels the current recording and removes its partial file."""
        process = self._process
        if process is not None and process.poll() is None:
            process.send_signal(signal.SIGTERM if os.name == "nt" else signal.SIGINT)
            try:
                process.wait(_EXIT_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
            process.communicate()
            self._process = None
        self._finish()

    def __enter__(self) -> BackgroundRecorder:
        """Returns the recorder."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Closes the recorder."""
        self.close()

    def _finish(self) -> None:
        """Logs how the previous recording ended."""
        process, self._process = self._process, None
        if process is None:
            return
        _, text = process.communicate()
        if process.returncode == 0:
            _log.info("recorded %s", self._output)
        else:
            reason = text.strip().splitlines()[-1] if text.strip() else "no error message"
            _log.warning("could not record %s: %s", self._output, reason)


def main(checkpoint: str, output: str, *plugins: str) -> None:
    """Entry point of the recording process."""
    import psutil
    import torch

    from warpzone.registry import load_plugins
    from warpzone.video.policy_video import record_policy

    if sys.platform == "win32":
        psutil.Process().nice(psutil.IDLE_PRIORITY_CLASS)
    else:
        psutil.Process().nice(19)
    torch.set_num_threads(1)
    load_plugins(plugins)
    record_policy(Path(checkpoint), Path(output), max_seeds=1)


if __name__ == "__main__":
    main(*sys.argv[1:])
