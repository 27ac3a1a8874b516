"""Evaluating checkpoints during training in a separate process, so that training never waits."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from warpzone.system.background_process import BackgroundProcess, lower_priority

_log = logging.getLogger(__name__)

EPISODES = 100
"""Episodes per level, as in `warpzone eval`."""

_SEED = 10_000
_LEVEL_FACTS = (
    *("level", "episodes", "clears", "clear_rate", "interval_low", "interval_high"),
    *("held_out", "progress_mean", "ends"),
)


class BackgroundEvaluator:
    """Evaluates one checkpoint at a time, at the lowest priority and on one thread."""

    def __init__(
        self, publish: Callable[[Mapping[str, Any]], None], plugins: Sequence[str] = ()
    ) -> None:
        """Creates an evaluator; no process is started yet.

        Args:
            publish: Receives a row with the facts of `start`, and `levels` or `error`.
            plugins: Plug-ins that the process imports first.
        """
        self._publish, self._plugins = publish, plugins
        self._process = BackgroundProcess(__name__)
        self._facts: Mapping[str, Any] = {}

    @property
    def is_running(self) -> bool:
        """Whether a checkpoint is being evaluated."""
        return self._process.is_running

    def start(self, checkpoint: Path, facts: Mapping[str, Any]) -> None:
        """Starts evaluating a checkpoint; the previous evaluation must have ended.

        Args:
            checkpoint: The checkpoint.
            facts: Facts that become part of the published row.
        """
        self.poll()
        self._facts = {"checkpoint": checkpoint.name, **facts}
        self._process.start([str(checkpoint), *self._plugins])

    def poll(self) -> None:
        """Publishes the result of an evaluation that has ended; returns at once otherwise."""
        if self._process.is_running:
            return
        outcome = self._process.take_outcome()
        if outcome is None:
            return
        if outcome.error is None:
            levels = json.loads(outcome.output.splitlines()[-1])
            _log.info("evaluation of %s: %s", self._facts["checkpoint"], _sentence(levels))
            self._publish({**self._facts, "levels": levels, "error": None})
        else:
            name = self._facts["checkpoint"]
            _log.warning("could not evaluate %s: %s", name, outcome.error)
            self._publish({**self._facts, "levels": [], "error": outcome.error})

    def close(self) -> None:
        """Publishes a result that is ready, or cancels the evaluation."""
        self.poll()
        if self._process.cancel():
            self._publish({**self._facts, "levels": [], "error": "the run ended first"})


def _sentence(levels: Sequence[Mapping[str, Any]]) -> str:
    return "; ".join(
        f"{row['level']} cleared in {row['clears']} of {row['episodes']} episodes "
        f"({row['clear_rate']:.0%}, 95 % interval {row['interval_low']:.0%} to "
        f"{row['interval_high']:.0%})"
        for row in levels
    )


def main(checkpoint: str, *plugins: str) -> None:
    """Entry point of the evaluating process: prints one row per level as JSON."""
    import torch

    from warpzone.evaluation.run_evaluation import EvaluationOptions, evaluate_run
    from warpzone.registry import load_plugins

    lower_priority()
    torch.set_num_threads(1)
    load_plugins(plugins)
    noise = {"sticky_prob": 0.25, "sticky": "frame", "noop_max": 30}
    options = EvaluationOptions(level=None, episodes=EPISODES, seed=_SEED, env=noise)
    results, _ = evaluate_run(Path(checkpoint), options)
    print(json.dumps([{name: row[name] for name in _LEVEL_FACTS} for row in results["levels"]]))


if __name__ == "__main__":
    main(*sys.argv[1:])
