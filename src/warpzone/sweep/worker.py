"""The process of one trial: `python -m warpzone.sweep.worker FOLDER TRIAL`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from warpzone.errors import WarpzoneError
from warpzone.registry import load_plugins
from warpzone.sweep.files import SweepFolder, read_plan
from warpzone.sweep.study import open_study
from warpzone.system.file_lock import file_lock
from warpzone.system.workers import EXIT_INTERRUPTED, stop_with_parent

# A worker whose sweep was killed needs this long at most to save its run.
_LOCK_SECONDS = 300.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs or continues a trial, and returns the exit code."""
    parser = argparse.ArgumentParser(prog="warpzone.sweep.worker")
    parser.add_argument("folder", type=Path)
    parser.add_argument("trial", type=int)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--plugin", action="append", default=[])
    given = parser.parse_args(arguments)
    stop_with_parent()
    load_plugins(given.plugin)
    folder = SweepFolder(given.folder)
    folder.locks.mkdir(exist_ok=True)
    with file_lock(folder.lock(given.trial), _LOCK_SECONDS):
        return run_trial(folder, given.trial, given.threads)


def run_trial(folder: SweepFolder, number: int, threads: int) -> int:
    """Trains the runs of a trial that has not ended yet; errors of its runs end it as failed."""
    from warpzone.campaign.measure import measure
    from warpzone.evaluation.trained import load_policy
    from warpzone.sweep.trial import TrialInterruptedError, TrialRuns
    from warpzone.training.session import RunTraining

    def rates(checkpoint: Path, levels: Sequence[str], episodes: int, seed: int) -> list[float]:
        trained = load_policy(checkpoint)
        return [measure(trained, level, episodes, seed).clear_rate for level in levels]

    study = open_study(folder, read_plan(folder.path))
    if study.trial(number).state.is_finished():
        return 0  # By a worker that outlived its sweep.
    try:
        train = RunTraining("plain")
        TrialRuns(folder, study, number, train=train, measure=rates, threads=threads).run()
    except TrialInterruptedError:
        return EXIT_INTERRUPTED
    except WarpzoneError as error:
        print(f"error: {error}", file=sys.stderr)
        study.fail(number, str(error))
    return 0


if __name__ == "__main__":
    sys.exit(main())
