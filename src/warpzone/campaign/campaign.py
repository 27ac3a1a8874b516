"""A campaign: every level trained in turn, checked, measured and put on the scoreboard.

Its progress is on disk at any moment: runs have their checkpoints, `campaign.json` records which
budgets are used up, and the scoreboard has the rows. Every step between two such records gives the
same result when it is repeated, so a campaign that was killed just repeats the unfinished step.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from warpzone.campaign.board_files import add_policy, open_board, publish
from warpzone.campaign.board_text import score_line
from warpzone.campaign.ending import Ending
from warpzone.campaign.measure import measure
from warpzone.campaign.options import CampaignOptions
from warpzone.campaign.plan import Budget, Task, budget_of, config_of, tasks_of
from warpzone.campaign.scoreboard import Measuring, Scoreboard
from warpzone.campaign.state import CampaignState, TaskState, write_state
from warpzone.config import TrainConfig
from warpzone.evaluation.policy_folder import INSIDE
from warpzone.evaluation.trained import load_policy
from warpzone.runs.checkpoint import read_meta
from warpzone.runs.checkpoint_store import find_best, find_latest
from warpzone.system.signals import StopRequest
from warpzone.telemetry.terminal import duration, short

RUNS = "runs"
Train = Callable[[Path, TrainConfig, Ending], StopRequest]
"""Trains the run of a folder, from the start or from where it left off."""

# After a failed check the next one waits for some steps, and for more the further the policy was
# from the goal: a check takes as long as 30,000 steps of training per level. In a small budget the
# pause is a fraction of it.
_PAUSE, _PAUSE_BY_GAP = 60_000, 600_000
_PAUSE_SHARE, _PAUSE_SHARE_BY_GAP = 0.05, 0.5
# Checks play other episodes than the scoreboard (see `protocols`), and each check plays new ones:
# repeating a test until it passes would bias the result.
_CHECK_SEED, _SEEDS_APART = 1_000_000, 100_000
_CHECK_EPISODES = 200


class Campaign:
    """Trains runs one after the other until each reaches the goal or has used up its budget."""

    def __init__(
        self,
        folder: Path,
        config: TrainConfig,
        options: CampaignOptions,
        state: CampaignState,
        *,
        train: Train,
        report: Callable[[str], None],
    ) -> None:
        """Reads the scoreboard; trains nothing yet.

        Args:
            folder: The campaign's folder.
            config: The configuration that all runs share.
            options: What is asked for.
            state: The campaign's progress.
            train: Trains a run.
            report: Shows a line.
        """
        self._folder, self._config, self._options = folder, config, options
        self._state, self._train, self._report = state, train, report
        others = min(options.episodes, Measuring().other_episodes)
        new = Scoreboard(options.goal, Measuring(options.episodes, others))
        self.board = replace(open_board(folder, new), goal=options.goal)
        self._tasks = tasks_of(options)

    def run(self) -> StopRequest:
        """Trains whatever is not finished.

        Returns:
            The request to stop, if there was one.
        """
        self._keep(self._state)
        publish(self._folder, self.board)
        began, done = time.monotonic(), 0
        for number in range(1, self._options.rounds + 1):
            waiting = [task for task in self._tasks if not self._is_finished(task, number)]
            for index, task in enumerate(waiting):
                self._announce(task, number, index, len(waiting))
                stop = self._finish(task, number)
                if stop:
                    return stop
                done += 1
                left = len(waiting) - index - 1
                pace = (time.monotonic() - began) / done
                more = f"; about {duration(pace * left)} for the other {left}" if left else ""
                self._report(f"{self.board.summary}{more}")
        return StopRequest()

    def _is_finished(self, task: Task, number: int) -> bool:
        if task.distills and number < self._options.rounds:
            return True  # It learns from what the last round gives.
        return self._is_reached(task) or self._state.of(task.name).rounds >= number

    def _is_reached(self, task: Task) -> bool:
        """Whether one policy reaches the goal on all levels of a task."""
        policies = {
            self.board.rows[level].policy for level in task.levels if level in self.board.rows
        }
        return len(policies) == 1 and all(self.board.reaches(level) for level in task.levels)

    def _announce(self, task: Task, number: int, index: int, count: int) -> None:
        budget = self._budget(task, number)
        limit = f"{short(budget.steps)} steps"
        if budget.minutes:
            limit += f" or {duration(60 * budget.minutes)}"
        rounds = f", round {number} of {self._options.rounds}" if self._options.rounds > 1 else ""
        self._report(f"[{index + 1} of {count}] {task.name}{rounds}: up to {limit} of training")

    def _finish(self, task: Task, number: int) -> StopRequest:
        """Trains a run until it reaches the goal or has used up this round's budget."""
        budget = self._budget(task, number)
        run = self._folder / RUNS / task.name
        config = config_of(self._config, task, run.parent, budget.steps)
        while True:
            state = self._state.of(task.name)
            # A distillation uses its whole budget, since its learning rate falls with the steps.
            goal = math.inf if task.distills else self._options.goal
            ending = Ending(task.levels, goal, budget, state.check_from)
            stop = self._train(run, config, ending)
            if stop:
                return stop
            latest = find_latest(run)
            assert latest is not None, "a session that ends has saved"
            if not ending.promised:
                self._measure(task, self._choose(task, run, latest, state.checks))
                self._keep(self._state.having(task.name, replace(state, rounds=number)))
                return stop
            missing = self._missing(task, latest, state.checks)
            if missing == 0.0:
                self._measure(task, latest)
                if self._is_reached(task):
                    return stop
            self._postpone(task, state, latest, pause_after(missing, task, budget.steps // number))

    def _budget(self, task: Task, number: int) -> Budget:
        return budget_of(self._config, self._options, task, number)

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
        episodes = min(_CHECK_EPISODES, self.board.measuring.episodes)
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

    def _measure(self, task: Task, path: Path) -> None:
        whole = len(task.levels) > 1
        added = add_policy(self._folder, self.board, path, place=Path(INSIDE), whole=whole)
        self.board = added.board
        taken = {row.level for row in added.taken}
        for row in added.rows:
            before = score_line(self.board.rows[row.level])
            stays = "" if row.level in taken else f"; the earlier policy stays: {before}"
            effort = f"{short(row.steps)} steps, {duration(60 * row.minutes)}"
            self._report(f"{row.level}: {score_line(row)} after {effort}{stays}")

    def _postpone(self, task: Task, state: TaskState, latest: Path, pause: int) -> None:
        after = replace(state, checks=state.checks + 1, check_from=read_meta(latest).steps + pause)
        self._keep(self._state.having(task.name, after))

    def _keep(self, state: CampaignState) -> None:
        self._state = state
        write_state(self._folder, state)


def pause_after(missing: float, task: Task, steps: int) -> int:
    """Steps of training between two checks.

    Args:
        missing: How far the first check was from the goal.
        task: The run.
        steps: Its budget per round.
    """
    share = round((_PAUSE_SHARE + _PAUSE_SHARE_BY_GAP * missing) * steps)
    return max(1, min(share, _PAUSE * len(task.levels) + round(_PAUSE_BY_GAP * missing)))
