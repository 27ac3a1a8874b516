"""Recording videos during training in a separate process, so that training never waits."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from warpzone.system.background_process import BackgroundProcess, lower_priority

_log = logging.getLogger(__name__)


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
        self._process = BackgroundProcess(__name__)
        self._output = Path()

    def record(self, checkpoint: Path, output: Path) -> None:
        """Starts recording a video, unless the previous one is still being recorded."""
        if self._process.is_running:
            _log.info("skipped %s: %s is still being recorded", output.name, self._output)
            return
        self._finish()
        self._output = output
        self._process.start([str(checkpoint), str(output), *self._plugins])

    def close(self) -> None:
        """Cancels the current recording, which removes its partial file."""
        self._process.cancel()
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
        outcome = self._process.take_outcome()
        if outcome is None:
            return
        if outcome.error is None:
            _log.info("recorded %s", self._output)
        else:
            _log.warning("could not record %s: %s", self._output, outcome.error)


def main(checkpoint: str, output: str, *plugins: str) -> None:
    """Entry point of the recording process."""
    import torch

    from warpzone.registry import load_plugins
    from warpzone.video.policy_video import record_policy

    lower_priority()
    torch.set_num_threads(1)
    load_plugins(plugins)
    record_policy(Path(checkpoint), Path(output), max_seeds=1)


if __name__ == "__main__":
    main(*sys.argv[1:])
