"""A campaign: which run is trained next, until all have reached the goal or used up their budgets.

What is left to do follows from `campaign.json` and the scoreboard alone, whoever wrote them: this
process, its workers, or a campaign that was killed.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

from warpzone.campaign.board_files import open_board, publish
from warpzone.campaign.options import CampaignOptions
from warpzone.campaign.plan import Task, budget_of, tasks_of
from warpzone.campaign.scoreboard import Measuring, Scoreboard
from warpzone.campaign.state import CampaignState, read_state, write_state
from warpzone.campaign.task_training import Report, TaskTraining, is_reached
from warpzone.config import TrainConfig
from warpzone.system.signals import StopRequest
from warpzone.telemetry.terminal import duration, short


@dataclass(frozen=True)
class Step:
    """A run that gets the budget of a round.

    Attributes:
        task: The run.
        number: Number of the round, from 1.
    """

    task: Task
    number: int


class Campaign:
    """What a campaign has to do, in which order, and how far it is."""

    def __init__(
        self,
        folder: Path,
        config: TrainConfig,
        options: CampaignOptions,
        state: CampaignState,
        *,
        report: Report,
    ) -> None:
        """Writes `campaign.json` and the scoreboard; trains nothing yet.

        Args:
            folder: The campaign's folder.
            config: The configuration that all runs share.
            options: What is asked for.
            state: The campaign's progress.
            report: Shows a line.
        """
        self.folder, self._config, self._options = folder, config, options
        self._state, self.report = state, report
        others = min(options.episodes, Measuring().other_episodes)
        self._new = Scoreboard(options.goal, Measuring(options.episodes, others))
        self.board = self._open_board()
        self._tasks = tasks_of(options)
        self._began = time.monotonic()
        self._done: Counter[int] = Counter()
        write_state(folder, state)
        publish(folder, self.board)

    def next_step(self, busy: Collection[str] = (), failed: Collection[str] = ()) -> Step | None:
        """Returns what to train next; None if nothing is left, or must wait for what is busy.

        Args:
            busy: Names of runs that are being trained.
            failed: Names of runs that have failed, and are not tried again.
        """
        taken = {*busy, *failed}
        for number in range(1, self._options.rounds + 1):
            unfinished = self._unfinished(number)
            pending = taken | {task.name for task in unfinished}
            for task in unfinished:
                if task.name not in taken and not any(map(task.waits_for, pending)):
                    return Step(task, number)
        return None

    def announce(self, step: Step) -> None:
        """Reports that a step begins."""
        number, rounds = step.number, self._options.rounds
        waiting = len(self._unfinished(number))
        first = self._done[number] + 1
        budget = budget_of(self._config, self._options, step.task, number)
        limit = f"{short(budget.steps)} steps"
        if budget.minutes:
            limit += f" or {duration(60 * budget.minutes)}"
        of_rounds = f", round {number} of {rounds}" if rounds > 1 else ""
        self.report(
            f"[{first} of {first - 1 + waiting}] {step.task.name}{of_rounds}: up to {limit} of "
            "training"
        )

    def record(self, step: Step) -> None:
        """Reads what a finished step has written, and reports how far the campaign is."""
        state = read_state(self.folder)
        assert state is not None, "the campaign has written it"
        self._state, self.board = state, self._open_board()
        self._done[step.number] += 1
        left = len(self._unfinished(step.number))
        pace = (time.monotonic() - self._began) / self._done.total()
        more = f"; about {duration(pace * left)} for the other {left}" if left else ""
        self.report(f"{self.board.summary}{more}")

    def _unfinished(self, number: int) -> list[Task]:
        return [task for task in self._tasks if not self._is_finished(task, number)]

    def _is_finished(self, task: Task, number: int) -> bool:
        if task.round not in (0, number) or self._state.of(task.name).rounds >= number:
            return True
        # Whatever a level's policy can do, it is refined once.
        must_run = task.is_refined or (task.kind == "refine" and number == 1)
        return not must_run and is_reached(self.board, task)

    def _open_board(self) -> Scoreboard:
        return replace(open_board(self.folder, self._new), goal=self._options.goal)


def train_in_turn(campaign: Campaign, training: TaskTraining) -> StopRequest:
    """Trains whatever is not finished, one run after the other, in this process.

    Returns:
        The request to stop, if there was one.
    """
    while (step := campaign.next_step()) is not None:
        campaign.announce(step)
        stop = training.finish(step.task, step.number)
        if stop:
            return stop
        campaign.record(step)
    return StopRequest()
