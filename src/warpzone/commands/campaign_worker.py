"""The process of one run of a campaign: `python -m warpzone.commands.campaign_worker`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from warpzone.campaign.board_files import updating
from warpzone.campaign.open import print_line
from warpzone.campaign.plan import tasks_of
from warpzone.campaign.state import asked_for
from warpzone.campaign.task_training import TaskTraining
from warpzone.config import with_threads
from warpzone.errors import WarpzoneError
from warpzone.registry import load_plugins
from warpzone.system.file_lock import file_lock
from warpzone.system.workers import EXIT_INTERRUPTED, stop_with_parent

LOCKS = "locks"
# A worker whose campaign was killed needs this long at most to save its run.
_LOCK_SECONDS = 300.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Trains a run until it reaches the goal or has used up the budget of a round."""
    parser = argparse.ArgumentParser(prog="warpzone.commands.campaign_worker")
    parser.add_argument("folder", type=Path)
    parser.add_argument("run")
    parser.add_argument("round", type=int)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--resume-with-changes", action="store_true")
    given = parser.parse_args(arguments)
    stop_with_parent()
    try:
        with updating(given.folder):
            (given.folder / LOCKS).mkdir(exist_ok=True)
        with file_lock(given.folder / LOCKS / f"{given.run}.lock", _LOCK_SECONDS):
            return _train(given)
    except WarpzoneError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def _train(given: argparse.Namespace) -> int:
    from warpzone.training.session import RunTraining
    from warpzone.video.background import BackgroundRecorder

    config, options = asked_for(given.folder)
    load_plugins(config.run.plugins)
    config = with_threads(config, given.threads)
    [task] = [task for task in tasks_of(options) if task.name == given.run]
    with BackgroundRecorder(config.run.plugins) as recorder:
        train = RunTraining("plain", recorder.record, given.resume_with_changes)
        training = TaskTraining(given.folder, config, options, train=train, report=print_line)
        return EXIT_INTERRUPTED if training.finish(task, given.round) else 0


if __name__ == "__main__":
    sys.exit(main())
