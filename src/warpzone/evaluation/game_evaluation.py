"""Evaluation of whole games: from 1-1 to the princess with three lives, as a person plays."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpzone import _native
from warpzone.envs.endings import CLEAR, DEATHS, end_name
from warpzone.evaluation.episodes import EpisodeStep, play_episodes
from warpzone.evaluation.evaluation import Progress, envs_for, episode_envs
from warpzone.evaluation.level_policies import LevelPolicies, level_names
from warpzone.evaluation.losses import Loss, counted, loss_at
from warpzone.evaluation.wilson import Interval, wilson

GAME = "game"
WARP = "warp"
"""How a game without warps ends that takes one."""
_FRAMES_PER_SECOND = 60
MAX_STEPS = 200_000
"""A limit that play never reaches: the game's clock ends each attempt at a level, so 32 levels and
a few lives take at most 2,700 steps each."""


@dataclass
class Game:
    """One played game.

    Attributes:
        seed: Seed of the episode.
        end: How it ended: 'clear' when the princess was rescued.
        reached: The furthest level that was entered.
        levels_cleared: Number of levels cleared.
        frames: Length in frames of the game.
        warps: Warp pipes taken.
        deaths: Lost lives, in order.
    """

    seed: int
    end: str = ""
    reached: str = ""
    levels_cleared: int = 0
    frames: int = 0
    warps: int = 0
    deaths: list[Loss] = field(default_factory=list)

    @property
    def won(self) -> bool:
        """Whether the princess was rescued."""
        return self.end == CLEAR


@dataclass(frozen=True)
class GameEvaluation:
    """Games of one policy, or of one policy per level."""

    games: tuple[Game, ...]
    warps_allowed: bool

    @property
    def wins(self) -> int:
        """Games in which the princess was rescued."""
        return sum(game.won for game in self.games)

    @property
    def interval(self) -> Interval:
        """The 95 % confidence interval of the rate of won games."""
        return wilson(self.wins, len(self.games))

    def summary(self) -> dict[str, Any]:
        """Plain numbers for JSON."""
        cleared = [game.levels_cleared for game in self.games]
        frames = [game.frames for game in self.games if game.won]
        return {
            "level": GAME,
            "warps_allowed": self.warps_allowed,
            "games": len(self.games),
            "wins": self.wins,
            "win_rate": self.wins / len(self.games),
            "interval_low": self.interval.low,
            "interval_high": self.interval.high,
            "levels_cleared_mean": float(np.mean(cleared)),
            "levels_cleared_max": max(cleared),
            "reached": self._reached(),
            "deaths": counted(death for game in self.games for death in game.deaths),
            "game_seconds_of_wins": float(np.mean(frames)) / _FRAMES_PER_SECOND if frames else None,
            "game_seconds": float(np.mean([game.frames for game in self.games]))
            / _FRAMES_PER_SECOND,
            "warps": sum(game.warps for game in self.games),
            "ends": dict(sorted(Counter(game.end for game in self.games).items())),
        }

    def _reached(self) -> dict[str, int]:
        """For each level, how many games entered it or a later one."""
        levels = _native.level_names("smb")
        furthest = [levels.index(game.reached) for game in self.games]
        counts = {level: sum(at >= index for at in furthest) for index, level in enumerate(levels)}
        return {level: count for level, count in counts.items() if count}


def evaluate_game(
    policies: LevelPolicies,
    *,
    games: int = 100,
    seed: int = 10_000,
    greedy: bool = False,
    eval_temperature: float | None = None,
    warps: bool = False,
    progress: Progress | None = None,
    **options: Any,
) -> GameEvaluation:
    """Plays whole games: three lives, power-ups carried over, levels in the order of the game.

    Args:
        policies: Chooses the actions by the current level.
        games: Number of games.
        seed: Seed of the first game; the others follow.
        greedy: Always take the most likely action.
        eval_temperature: Divides the logits before sampling; by default as each policy says.
        warps: Allow warp pipes. Without them, a game that takes one ends there and is not won.
        progress: Called after each step.
        options: Keywords of the environment; noise by default as in `evaluate`.
    """
    results = [Game(seed + number) for number in range(games)]
    settings = policies.env_options() | options
    ended = 0
    with episode_envs(GAME, games, settings.pop("max_steps", MAX_STEPS), settings) as env:
        player = policies.player(envs_for(games), seed, greedy, eval_temperature)
        seeds = [game.seed for game in results]
        for step in play_episodes(env, seeds, player, None if warps else _takes_warp):
            for index in np.flatnonzero(_eventful(step)):
                _record(results[int(step.playing[index])], step, int(index), warps)
            ended += int(step.ended.sum())
            if progress is not None:
                progress(ended, games)
    return GameEvaluation(tuple(results), warps)


def _takes_warp(info: dict[str, Any]) -> NDArray[np.bool_]:
    taken: NDArray[np.bool_] = info["warp"]
    return taken


def _eventful(step: EpisodeStep) -> NDArray[np.bool_]:
    info = step.info
    events: NDArray[np.bool_] = info["death"] | info["warp"] | info["level_changed"] | step.ended
    return events & (step.playing >= 0)


def _record(game: Game, step: EpisodeStep, index: int, warps: bool) -> None:
    info = step.info
    if info["death"][index]:
        game.deaths.append(
            loss_at(
                level_names(step.before)[index],
                int(step.before["x_pos"][index]),
                DEATHS[int(info["death_cause"][index])],
            )
        )
    warped = bool(info["warp"][index])
    game.warps += warped
    entered = (level_names(step.before)[index], level_names(info)[index])
    known = _native.level_names("smb")
    game.reached = max((game.reached, *entered), key=lambda name: _order(name, known))
    if step.ended[index]:
        end = end_name(int(info["end_reason"][index]))
        game.end = WARP if warped and not warps else end
        game.levels_cleared = int(info["clears"][index])
        game.frames = int(info["frames"][index])


def _order(level: str, known: list[str]) -> int:
    return known.index(level) if level in known else -1
