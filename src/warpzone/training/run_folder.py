"""Recovery of a run folder that is deleted during training."""

from __future__ import annotations

import logging
from contextlib import ExitStack

from warpzone.runs.directory import RunDirectory

_log = logging.getLogger(__name__)


class RunFolder:
    """Restores a deleted run folder, starting with the configuration, which resuming needs."""

    def __init__(self, run: RunDirectory, config: str, stack: ExitStack) -> None:
        """Creates the object without touching the folder.

        Args:
            run: Directory of the run.
            config: Text of the configuration.
            stack: Releases the lock of a restored folder at the end of the session.
        """
        self._run, self._config, self._stack = run, config, stack
        self._failing = False

    def set_config(self, config: str) -> None:
        """Sets the text of a changed configuration."""
        self._config = config

    def restore_if_deleted(self) -> bool:
        """Recreates the folder if it was deleted; True if it had to be recreated."""
        if self._run.config.is_file():
            return False
        try:
            self._run.make(self._config)
        except OSError as error:
            if not self._failing:
                _log.warning("%s was deleted and cannot be recreated: %s", self._run.path, error)
            self._failing = True
            return False
        self._failing = False
        self._stack.enter_context(self._run.lock())
        _log.warning(
            "%s was deleted during training; it is recreated without its previous contents",
            self._run.path,
        )
        return True
