"""What a step of the single environment means: its reward, its end and its info.

One class per value of `reward`. `native/vector/episode_rules.hpp` has the same split; these are the
readable reference.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpzone import _native
from warpzone.envs.backends.machine import Machine
from warpzone.envs.endings import CLEAR, DEATHS, RUNNING, end_name
from warpzone.envs.setup import WHOLE_GAME, EnvSetup

_STATUS_NAMES = ("small", "tall", "fireball")
# Addresses and values that only the classic reward needs; native/mario/ram.hpp explains them.
_PLAYER_TASK, _LIFE_LOST, _DYING = 0x0E, 6, 11
_Y_PAGE, _LIVES, _NO_LIVES = 0xB5, 0x75A, 0xFF
_RAM_SIZE = 2048


class EpisodeRules(ABC):
    """Follows one episode on a machine."""

    def __init__(self, setup: EnvSetup, machine: Machine) -> None:
        """Follows nothing yet; `begin` comes first."""
        self._setup = setup
        self._machine = machine
        self._tracker = _native.Tracker()
        self._whole_game = False

    def begin(self, level: str) -> None:
        """An episode of `level` begins at the machine's present moment."""
        self._whole_game = level == WHOLE_GAME
        self._tracker.reset(self._machine.ram, self._setup.game)

    def begin_step(self) -> None:
        """An agent step begins."""
        self._tracker.begin_step()

    @abstractmethod
    def follow_frame(self) -> bool:
        """Follows an emulated frame; True when it ran further frames, which were not drawn."""

    @abstractmethod
    def finish_step(self, weights: _native.RewardWeights, run_step: int) -> float:
        """An agent step ends: returns its reward."""

    @abstractmethod
    def judge(self) -> str:
        """Why the step just taken terminates the episode."""

    @abstractmethod
    def info(self) -> dict[str, Any]:
        """Everything known about the present moment."""

    def _judge_events(self) -> str:
        """Judges the game's own events."""
        config, info = self._setup.config, self._tracker.info(self._machine.ram)
        one_life = not self._whole_game if config.one_life is None else config.one_life
        one_level = not self._whole_game if config.one_level is None else config.one_level
        if info["game_cleared"] or (one_level and info["flag_get"]):
            return CLEAR
        if one_life and info["death"]:
            return DEATHS[info["death_cause"]]
        if info["game_over"]:
            return "game_over"
        if one_level and info["level_changed"]:
            return "warp" if info["warp"] else "level_changed"
        return RUNNING


class ShapedRules(EpisodeRules):
    """Weighted reward terms, and ends that follow the game's events."""

    def follow_frame(self) -> bool:
        """Follows an emulated frame."""
        self._tracker.frame(self._machine.ram)
        return False

    def finish_step(self, weights: _native.RewardWeights, run_step: int) -> float:
        """The sum of the step's terms."""
        reward = 0.0
        # Not `sum`, which from Python 3.12 on rounds differently.
        for term in self._tracker.finish_step(self._machine.ram, weights, run_step):
            reward += term
        return float(np.float32(reward))

    def judge(self) -> str:
        """Judges the game's events."""
        return self._judge_events()

    def info(self) -> dict[str, Any]:
        """Everything known about the present moment."""
        return self._tracker.info(self._machine.ram)


class ClassicRules(EpisodeRules):
    """Rewards, ends and infos of gym-super-mario-bros 7.4.

    After each frame that package looks at the RAM, then skips scripted moments. What it reports is
    the RAM before that, so this keeps a copy.
    """

    def __init__(self, setup: EnvSetup, machine: Machine) -> None:
        """Follows nothing yet; `begin` comes first."""
        super().__init__(setup, machine)
        self._end = RUNNING
        self._flag_get = False
        self._ram: NDArray[np.uint8] = np.zeros(_RAM_SIZE, np.uint8)

    def begin(self, level: str) -> None:
        """An episode of `level` begins at the machine's present moment."""
        super().begin(level)
        self._end, self._flag_get = RUNNING, False
        self._ram = self._machine.ram.copy()

    def begin_step(self) -> None:
        """An agent step begins."""
        super().begin_step()
        self._flag_get = False

    def follow_frame(self) -> bool:
        """Does what the package does after each frame."""
        if self._end != RUNNING:  # Frames that are left of the last step.
            return False
        machine = self._machine
        self._tracker.frame(machine.ram)
        now = machine.frame_count
        ram = self._ram = machine.ram.copy()
        self._flag_get |= _native.classic_flag_get(ram)
        if self._whole_game:
            self._end = "game_over" if ram[_LIVES] == _NO_LIVES else RUNNING
            dying = ram[_PLAYER_TASK] == _DYING or ram[_Y_PAGE] > 1
            if dying and self._end == RUNNING:  # The package cuts the dying scene short.
                machine.poke(_PLAYER_TASK, _LIFE_LOST)
                machine.run_frame(0, render=False)
        else:
            self._end = end_name(_native.classic_end_reason(ram))
        if self._end == RUNNING:
            machine.skip_scripted()
        return machine.frame_count != now

    def finish_step(self, weights: _native.RewardWeights, run_step: int) -> float:
        """The sum of the package's rewards for the step's frames."""
        return self._tracker.finish_classic_step()

    def judge(self) -> str:
        """The package's own end, and in a whole game also the game's events."""
        if not self._whole_game or self._end != RUNNING:
            return self._end
        return self._judge_events()

    def info(self) -> dict[str, Any]:
        """What the package reports, and all else that is known."""
        info = self._tracker.classic_info(self._ram, self._flag_get)
        info["status"] = _STATUS_NAMES[min(info["status"], 2)]
        return info


def make_rules(setup: EnvSetup, machine: Machine) -> EpisodeRules:
    """The rules that `reward` asks for."""
    rules = ClassicRules if setup.config.reward == "classic" else ShapedRules
    return rules(setup, machine)
