"""Whole-game episodes: event flags describe one step, and only the last castle clears the game."""

from __future__ import annotations

from typing import Any

import pytest
from env_support import RIGHT_RUN, RIGHT_RUN_JUMP

import warpzone
from warpzone import _native

TO_THE_FLAG = [*[RIGHT_RUN_JUMP] * 8, *[RIGHT_RUN] * 4] * 12
EVENTS = ("flag_get", "game_cleared", "death", "warp", "level_changed")


def play(kind: str, level: str, chosen: list[int], **options: Any) -> list[dict[str, Any]]:
    """The infos of an episode in the single or the vector env, `ended` among them."""
    options = {"obs": "tiles", **options}
    if kind == "single":
        single = warpzone.MarioEnv(level, **options)
        single.reset(seed=0)
    else:
        vector = warpzone.make_vec(level, num_envs=1, autoreset="disabled", **options)
        vector.reset(seed=0)
    infos: list[dict[str, Any]] = []
    for action in chosen:
        if kind == "single":
            _, _, terminated, truncated, info = single.step(action)
        else:
            _, _, terminated, truncated, batch = vector.step([action])
            info = {name: values[0] for name, values in batch.items()}
        infos.append(info | {"ended": bool(terminated or truncated)})
        if infos[-1]["ended"]:
            break
    return infos


def steps_with(infos: list[dict[str, Any]], event: str) -> int:
    return sum(bool(info[event]) for info in infos)


@pytest.mark.parametrize("kind", ["single", "vector"])
def test_clearing_a_level_does_not_clear_the_game(kind: str, before_the_flag: bytes) -> None:
    infos = play(kind, "game", TO_THE_FLAG + [0] * 150, start_state=before_the_flag)
    assert (infos[-1]["world"], infos[-1]["stage"]) == (1, 2)
    assert infos[-1]["clears"] == 1
    assert {event: steps_with(infos, event) for event in EVENTS} == {
        "flag_get": 1,
        "game_cleared": 0,
        "death": 0,
        "warp": 0,
        "level_changed": 1,
    }


@pytest.mark.parametrize("kind", ["single", "vector"])
def test_each_lost_life_is_reported_in_one_step(kind: str) -> None:
    infos = play(kind, "game", [0] * 600, actions=["RIGHT+B"], frame_skip=8)
    assert infos[-1]["ended"]
    assert infos[-1]["game_over"]
    assert steps_with(infos, "death") == infos[-1]["deaths"] == 3
    causes = [int(info["death_cause"]) for info in infos if info["death_cause"]]
    assert len(causes) == 3, "the cause is that of the step, too"


@pytest.mark.parametrize("kind", ["single", "vector"])
@pytest.mark.parametrize("level", ["game", "8-4"])
def test_the_last_axe_clears_the_game_and_ends_the_episode(
    kind: str, level: str, before_the_last_axe: tuple[bytes, list[int]]
) -> None:
    state, inputs = before_the_last_axe
    buttons = sorted(set(inputs))
    actions = [buttons.index(pressed) for pressed in inputs]
    infos = play(kind, level, actions, actions=buttons, start_state=state)
    assert [info["game_cleared"] for info in infos] == [False] * (len(infos) - 1) + [True]
    assert infos[-1]["flag_get"]
    assert infos[-1]["ended"]


@pytest.mark.parametrize("kind", ["single", "vector"])
def test_a_levels_last_info_has_the_event_that_ended_it(kind: str, before_the_flag: bytes) -> None:
    cleared = play(kind, "1-1", TO_THE_FLAG, start_state=before_the_flag)[-1]
    assert cleared["ended"]
    assert cleared["flag_get"]
    assert not cleared["death"]
    died = play(kind, "1-1", [RIGHT_RUN] * 100)[-1]
    assert died["ended"]
    assert died["death"]
    assert died["death_cause"] == 1
    assert not died["flag_get"]


def test_every_event_is_an_info_flag() -> None:
    assert set(EVENTS) <= set(_native.INFO_FLAGS)
