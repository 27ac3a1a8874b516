"""A run folder that is deleted while the run trains."""

from __future__ import annotations

import logging
from contextlib import ExitStack

from warpzone.runs.directory import RunDirectory

_log = logging.getLogger(__name__)


class RunFolder:
    """Restores a deleted run folder, its configuration first: without it nothing can be resumed."""

    def __init__(self, run: RunDirectory, config: str, stack: ExitStack) -> None:
        """Touches nothing yet.

        Args:
            run: The run.
            config: Text of its configuration.
            stack: Releases the lock of a restored folder at the end of the session.
        """
        self._run, self._config, self._stack = run, config, stack
        self._failing = False

    def set_config(self, config: str) -> None:
        """Takes the text of a changed configuration."""
        self._config = config

    def restore_if_deleted(self) -> bool:
        """Makes the folder again if it was deleted; True when it had to be made."""
        if self._run.config.is_file():
            return False
        try:
            self._run.make(self._config)
        except OSError as error:
            if not self._failing:
                _log.warning("%s was deleted and cannot be made again: %s", self._run.path, error)
            self._failing = True
            return False
        self._failing = False
        self._stack.enter_context(self._run.lock())
        _log.warning(
            "%s was deleted during training; it is made again, without what it held before",
            self._run.path,
        )
        return True
