"""A campaign whose training takes no time."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from small_campaign import made_up_row, small_config

from warpzone.campaign import task_training as module
from warpzone.campaign.board_files import Added, publish
from warpzone.campaign.campaign import Campaign, train_in_turn
from warpzone.campaign.ending import Ending
from warpzone.campaign.measurer import Measurer
from warpzone.campaign.options import CampaignOptions
from warpzone.campaign.scoreboard import Scoreboard
from warpzone.campaign.state import (
    asked_of,
    open_state,
)
from warpzone.campaign.task_training import TaskTraining
from warpzone.config import TrainConfig
from warpzone.system.signals import StopRequest


@dataclass
class World:
    """Training that takes no time: a run's skill is what its script says for each session."""

    folder: Path
    skills: dict[str, list[tuple[int, int, bool]]]
    """For each run and session: steps at its end, clears of 100, and whether it promised."""
    stop_at: int = 10**9
    sessions: list[tuple[str, int]] = field(default_factory=list)
    """Run and steps that were allowed."""
    teachers: list[str] = field(default_factory=list)
    begun_with: list[str] = field(default_factory=list)
    seeds: list[int] = field(default_factory=list)
    reported: list[str] = field(default_factory=list)
    now: dict[str, tuple[int, int]] = field(default_factory=dict)

    def train(self, run: Path, config: TrainConfig, ending: Ending) -> StopRequest:
        stop = StopRequest()
        if len(self.sessions) >= self.stop_at:
            stop.ask("Ctrl-C")
            return stop
        self.sessions.append((run.name, config.run.steps))
        self.teachers.append(config.distill.teachers)
        self.begun_with.append(config.run.init_from)
        steps, clears, ending.promised = self.skills[run.name].pop(0)
        self.now[run.name] = steps, clears
        return stop

    def measure(self, trained: Path, level: str, episodes: int, seed: int) -> Any:
        assert episodes <= 200
        self.seeds.append(seed)
        return SimpleNamespace(clear_rate=self.now[trained.name][1] / 100)

    def add(
        self,
        folder: Path,
        board: Scoreboard,
        target: Path,
        *,
        place: Path,
        whole: bool,
        measurer: Measurer | None,
        lock: Any,
    ) -> Added:
        assert (measurer is not None) == whole, "many levels are measured on all cores"
        clears = self.now[target.name][1]
        both = target.name == "together" or target.name.startswith("generalist")
        levels = ["1-1", "1-2"] if both else [target.name.partition("-refined")[0]]
        assert whole == (len(levels) > 1)
        rows = [made_up_row(level, clears, f"{target.name}.policy") for level in levels]
        board = board.with_rows(rows)
        publish(folder, board)
        return Added(board, rows, rows)


def pretended_world(folder: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """A world in whose folder campaigns train nothing."""
    world = World(folder, {})
    monkeypatch.setattr(module, "find_latest", lambda run: run)
    monkeypatch.setattr(module, "find_best", lambda run: None)
    monkeypatch.setattr(module, "load_policy", lambda path: path)
    monkeypatch.setattr(
        module, "read_meta", lambda path: SimpleNamespace(steps=world.now[path.name][0])
    )
    monkeypatch.setattr(module, "measure", world.measure)
    monkeypatch.setattr(module, "add_policy", world.add)
    return world


def go(world: World, **options: Any) -> StopRequest:
    """Runs the command, so to speak, in the folder of the world."""
    asked = CampaignOptions(**{"levels": "1-1,1-2", "steps_per_level": 1000} | options)
    config = small_config()
    state, _ = open_state(world.folder, asked_of(config, asked), False)
    report = world.reported.append
    training = TaskTraining(world.folder, config, asked, train=world.train, report=report)
    return train_in_turn(Campaign(world.folder, config, asked, state, report=report), training)
