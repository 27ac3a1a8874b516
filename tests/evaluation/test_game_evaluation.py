"""Whole games: who acts in which level, what is counted, and what a warp means."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from small_campaign import small_config

from warpzone.envs.vector import MarioVectorEnv
from warpzone.errors import ConfigError
from warpzone.evaluation.episodes import play_episodes
from warpzone.evaluation.game_evaluation import Game, GameEvaluation, evaluate_game
from warpzone.evaluation.game_results import game_table
from warpzone.evaluation.level_policies import LevelPolicies, level_names
from warpzone.evaluation.trained import TrainedPolicy
from warpzone.models.build import make_model
from warpzone.models.tree import to_tensors

RIGHT = 1


class Scripted:
    """Stands in for policies: plays the same actions in every environment."""

    def __init__(self, actions: list[int], buttons: Any = "simple") -> None:
        self.actions, self.buttons, self.step = actions, buttons, 0

    def env_options(self) -> dict[str, Any]:
        return {"obs": "tiles", "actions": self.buttons}

    def player(self, *_: Any) -> Any:
        def act(obs: Any, first: NDArray[np.bool_], info: dict[str, Any]) -> NDArray[np.int64]:
            self.step += 1
            return np.full(len(first), self.actions[(self.step - 1) % len(self.actions)])

        return act


def play(policies: Any, **options: Any) -> GameEvaluation:
    return evaluate_game(policies, games=2, sticky_prob=0, noop_max=0, **options)


def test_lost_lives_are_counted_by_place_and_cause(rom_path: Path) -> None:
    result = play(Scripted([RIGHT]))
    assert [(game.end, game.reached, len(game.deaths)) for game in result.games] == [
        ("game_over", "1-1", 3)
    ] * 2
    summary = result.summary()
    assert summary["deaths"] == [{"level": "1-1", "x": 256, "cause": "enemy", "count": 6}]
    assert summary["reached"] == {"1-1": 2}
    assert (summary["wins"], summary["game_seconds_of_wins"]) == (0, None)
    page = "\n".join(game_table(summary))
    assert "| 0% |" in page
    assert "| 1-1 | 256-511 | enemy | 6 |" in page


def test_a_game_is_won_when_the_princess_is_rescued(
    before_the_last_axe: tuple[bytes, list[int]], rom_path: Path
) -> None:
    state, inputs = before_the_last_axe
    buttons = sorted(set(inputs))
    policies = Scripted([buttons.index(pressed) for pressed in inputs], buttons)
    summary = play(policies, start_state=state).summary()
    assert (summary["wins"], summary["ends"]) == (2, {"clear": 2})
    assert summary["game_seconds_of_wins"] > 0
    assert summary["reached"]["8-4"] == 2


def test_a_game_that_takes_a_warp_counts_as_lost_unless_warps_are_allowed() -> None:
    games = (Game(1, "warp", "4-1", 1, 600, 1), Game(2, "clear", "8-4", 32, 60_000))
    summary = GameEvaluation(games, warps_allowed=False).summary()
    assert (summary["wins"], summary["warps"]) == (1, 1)
    assert (summary["reached"]["4-1"], summary["reached"]["8-4"]) == (2, 1)


def test_an_episode_can_end_where_the_environment_would_continue(rom_path: Path) -> None:
    env = MarioVectorEnv("1-1", num_envs=2, autoreset="disabled", obs="tiles")
    steps = list(
        play_episodes(
            env,
            [1, 2, 3],
            lambda obs, first, info: np.zeros(2, np.int64),
            lambda info: info["steps"] >= 5,
        )
    )
    env.close()
    assert sum(step.ended.sum() for step in steps) == 3
    assert len(steps) == 10
    assert [step.playing.tolist() for step in (steps[0], steps[5])] == [[0, 1], [2, -1]]


def trained(name: str, actions: str, **env: Any) -> TrainedPolicy:
    """A network with random weights that prefers its last action."""
    config = small_config()
    config = replace(config, env=replace(config.env, actions=actions, **env))
    with closing(MarioVectorEnv(num_threads=1, **config.env.policy_env_options())) as vector:
        space, count = vector.single_observation_space, len(vector.config.actions)
    model = make_model(config.model, space, count).eval()
    with torch.no_grad():
        model.policy.bias[-1] = 1000.0
    return TrainedPolicy(model, config, Path(name))


def test_the_policy_of_the_current_level_acts_with_its_own_buttons(rom_path: Path) -> None:
    first, other = trained("1-1", "NOOP,RIGHT"), trained("other", "RIGHT,LEFT+A")
    policies = LevelPolicies({"1-1": first}, other)
    names = policies.env_options()["actions"]
    env = MarioVectorEnv(["1-1", "2-1"], num_envs=2, **policies.env_options())
    obs, info = env.reset(seed=0)
    assert level_names(info) == ["1-1", "2-1"]
    player = policies.player(2, 0, greedy=False)
    actions = player(obs, np.ones(2, np.bool_), info)
    env.close()
    assert [names[action] for action in actions] == ["RIGHT", "LEFT+A"]
    with torch.inference_mode():
        alone = first.model.step(to_tensors(obs), first.model.initial_state(2), torch.ones(2) > 0)
    assert player.values[0] == pytest.approx(float(alone.values[0]), abs=1e-6)


def test_policies_with_different_observations_cannot_play_together(rom_path: Path) -> None:
    policies = LevelPolicies({"1-1": trained("a", "simple")}, trained("b", "simple", frame_skip=2))
    with pytest.raises(ConfigError, match="frame_skip is 4 for one and 2 for the other"):
        policies.env_options()
