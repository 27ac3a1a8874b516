"""Policies that can be watched: files of a folder, and runs with a checkpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from warpzone.dashboard.run_catalog import RunCatalog
from warpzone.errors import WarpzoneError
from warpzone.evaluation.policy_folder import find_policies
from warpzone.evaluation.trained import TrainedPolicy, load_policy

FILE, RUN = "file:", "run:"


class PolicyCatalog:
    """Names policies, so that a request never names a path."""

    def __init__(self, folder: Path, runs: RunCatalog) -> None:
        """Reads nothing yet.

        Args:
            folder: Of policy files; it need not exist.
            runs: The runs.
        """
        self._folder, self._runs = folder, runs

    def rows(self) -> list[dict[str, Any]]:
        """All policies: identifier, name and level."""
        files = [
            {"id": FILE + path.name, "name": path.stem, "level": path.stem.partition("+")[0]}
            for path in find_policies(self._folder)
        ]
        runs = [
            {"id": RUN + row["id"], "name": row["id"], "level": row["level"]}
            for row in self._runs.rows()[0]
        ]
        return files + runs

    def load(self, identifier: str) -> TrainedPolicy:
        """The policy of an identifier.

        Raises:
            WarpzoneError: There is none, or it cannot be loaded.
        """
        if identifier.startswith(RUN):
            return load_policy(self._runs.find(identifier.removeprefix(RUN)).path)
        for path in find_policies(self._folder):
            if identifier == FILE + path.name:
                return load_policy(path)
        raise WarpzoneError(f"there is no policy '{identifier}'")
