"""Training of one run of a campaign, until it reaches the goal or has used up its budget.

Its progress is on disk at any moment: the run has its checkpoints, `campaign.json` records which
budgets are used up, and the scoreboard has the rows. Every step between two such records gives the
same result when it is repeated, so a run that was killed just repeats the unfinished step.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from warpzone.campaign.board_files import add_policy
from warpzone.campaign.board_json import read_board
from warpzone.campaign.board_text import score_line
from warpzone.campaign.ending import Ending
from warpzone.campaign.measure import measure
from warpzone.campaign.measurer import Measurer
from warpzone.campaign.options import CampaignOptions
from warpzone.campaign.plan import Budget, Task, budget_of, config_of, refining_steps
from warpzone.campaign.scoreboard import Scoreboard
from warpzone.campaign.state import TaskState, record_task, task_state
from warpzone.campaign.update_lock import update_lock
from warpzone.config import TrainConfig
from warpzone.evaluation.policy_folder import INSIDE
from warpzone.evaluation.trained import load_policy
from warpzone.runs.checkpoint import read_meta
from warpzone.runs.checkpoint_store import find_best, find_latest
from warpzone.system.cpu import processor_cores
from warpzone.system.signals import StopRequest
from warpzone.telemetry.terminal import duration, short

RUNS = "runs"
Train = Callable[[Path, TrainConfig, Ending], StopRequest]
"""Trains the run of a folder, from the start or from where it left off."""
Report = Callable[[str], None]
"""Shows a line."""

# After a failed check the next one waits for some steps, and for more the further the policy was
# from the goal: a check takes as long as 30,000 steps of training per level. In a small budget the
# pause is a fraction of it.
_PAUSE, _PAUSE_BY_GAP = 60_000, 600_000
_PAUSE_SHARE, _PAUSE_SHARE_BY_GAP = 0.05, 0.5
# Checks play other episodes than the scoreboard (see `protocols`), and each check plays new ones:
# repeating a test until it passes would bias the result.
_CHECK_SEED, _SEEDS_APART = 1_000_000, 100_000
_CHECK_EPISODES = 200


class TaskTraining:
    """Trains single runs of a campaign whose `campaign.json` and scoreboard exist."""

    def __init__(
        self,
        folder: Path,
        config: TrainConfig,
        options: CampaignOptions,
        *,
        train: Train,
        report: Report,
    ) -> None:
        """Trains nothing yet.

        Args:
            folder: The campaign's folder.
            config: The configuration that all runs share.
            options: What is asked for.
            train: Trains a run.
            report: Shows a line.
        """
        self._folder, self._config, self._options = folder, config, options
        self._train, self._report = train, report

    def finish(self, task: Task, number: int) -> StopRequest:
        """Trains a run until it reaches the goal or has used up the budget of a round.

        Args:
            task: The run.
            number: Number of the round, from 1.

        Returns:
            The request to stop, if there was one.
        """
        budget = self._budget(task, number)
        run = self._folder / RUNS / task.name
        config = config_of(self._config, self._options, task, run.parent, budget.steps)
        while True:
            state = task_state(self._folder, task.name)
            goal = self._options.goal if task.kind == "train" else math.inf
            ending = Ending(task.levels, goal, budget, state.check_from)
            stop = self._train(run, config, ending)
            if stop:
                return stop
            latest = find_latest(run)
            assert latest is not None, "a session that ends has saved"
            if task.is_refined or not ending.promised:
                if not task.is_refined:
                    self._measure(task, self._choose(task, run, latest, state.checks))
                record_task(self._folder, task.name, replace(state, rounds=number))
                return stop
            missing = self._missing(task, latest, state.checks)
            if missing == 0.0 and is_reached(self._measure(task, latest), task):
                return stop
            self._postpone(task, state, latest, pause_after(missing, task, budget.steps // number))

    def _budget(self, task: Task, number: int) -> Budget:
        """The budget of a run; a level is first refined by how hard it was to learn."""
        budget = budget_of(self._config, self._options, task, number)
        if task.kind != "refine" or task.source != task.levels[0]:
            return budget
        learned = find_latest(self._folder / RUNS / task.source)
        assert learned is not None, "its run is over"
        whole = budget_of(self._config, self._options, Task(task.source, task.levels), number)
        return Budget(refining_steps(self._options, read_meta(learned).steps / whole.steps), 0.0)

    def _missing(self, task: Task, path: Path, checks: int) -> float:
        """How far fresh episodes stay below the goal; 0 when they confirm that it is reached."""
        for level, rate in self._rates(task, path, checks):
            if rate < self._options.goal:
                self._report(f"{level}: {rate:.0%} in a check; training continues")
                return self._options.goal - rate
        return 0.0

    def _rates(self, task: Task, path: Path, checks: int) -> Iterator[tuple[str, float]]:
        trained = load_policy(path)
        seed = _CHECK_SEED + _SEEDS_APART * checks
        episodes = min(_CHECK_EPISODES, self._options.episodes)
        for level in task.levels:
            yield level, measure(trained, level, episodes, seed).clear_rate

    def _choose(self, task: Task, run: Path, latest: Path, checks: int) -> Path:
        """The better of the latest checkpoint and the one with the best clear rate in training."""
        best = find_best(run)
        if best is None or best == latest:
            return latest
        return max(
            (latest, best),
            key=lambda path: sum(rate for _, rate in self._rates(task, path, checks)),
        )

    def _measure(self, task: Task, path: Path) -> Scoreboard:
        """Puts a policy on the scoreboard if it is better, and returns the scoreboard."""
        whole = len(task.levels) > 1
        added = add_policy(
            self._folder,
            read_board(self._folder),
            path,
            place=Path(INSIDE),
            whole=whole,
            measurer=self._measurer() if whole else None,
            lock=update_lock(self._folder),
        )
        taken = {row.level for row in added.taken}
        for row in added.rows:
            before = score_line(added.board.rows[row.level])
            stays = "" if row.level in taken else f"; the earlier policy stays: {before}"
            effort = f"{short(row.steps)} steps, {duration(60 * row.minutes)}"
            self._report(f"{row.level}: {score_line(row)} after {effort}{stays}")
        return added.board

    def _measurer(self) -> Measurer:
        """Uses all cores of the run, which is over by now."""
        cores = self._config.env.num_threads or processor_cores()
        return Measurer(cores, self._config.run.plugins)

    def _postpone(self, task: Task, state: TaskState, latest: Path, pause: int) -> None:
        after = replace(state, checks=state.checks + 1, check_from=read_meta(latest).steps + pause)
        record_task(self._folder, task.name, after)


def is_reached(board: Scoreboard, task: Task) -> bool:
    """Whether one policy reaches the goal on all levels of a task."""
    policies = {board.rows[level].policy for level in task.levels if level in board.rows}
    return len(policies) == 1 and all(board.reaches(level) for level in task.levels)


def pause_after(missing: float, task: Task, steps: int) -> int:
    """Steps of training between two checks.

    Args:
        missing: How far the first check was from the goal.
        task: The run.
        steps: Its budget per round.
    """
    share = round((_PAUSE_SHARE + _PAUSE_SHARE_BY_GAP * missing) * steps)
    return max(1, min(share, _PAUSE * len(task.levels) + round(_PAUSE_BY_GAP * missing)))
