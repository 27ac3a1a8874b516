"""Prepared starts are used in order, and places that are entered are saved."""

from __future__ import annotations

import numpy as np
import pytest
from player_support import Played, make_env
from policy_support import SOLUTIONS

from warpzone import _native
from warpzone.errors import ConfigError, EnvError
from warpzone.search.route import start_states
from warpzone.search.solution import read_solution

NUMBERS = list(_native.INFO_NUMBERS)
OWN = -1


@pytest.fixture(autouse=True)
def _game(rom_path: object) -> None:
    """All of these play the real game."""


def places(level: str = "1-1") -> list[bytes]:
    return [state.blob for state in start_states(read_solution(SOLUTIONS / f"{level}.solution"))]


def column(ends: dict[str, np.ndarray], name: str) -> np.ndarray:
    return ends["numbers"][:, NUMBERS.index(name)]


def test_episodes_begin_at_queued_starts_in_order_and_then_at_the_levels_own() -> None:
    env = make_env(num_envs=2, max_steps=5)
    env.reset(seed=0)
    played = Played(env, 25)
    states = places()
    for number, state in enumerate(states[3:6]):
        played.player.push_start(0, 10 + number, "1-1", state)
    assert played.player.waiting_starts(0) == [10, 11, 12]
    rollout = played.play()
    ends = played.player.ends()
    mine = ends["env"] == 0
    assert ends["start"][mine].tolist() == [OWN, 10, 11, 12, OWN]
    assert ends["start"][~mine].tolist() == [OWN] * 5
    assert played.player.waiting_starts(0) == []
    assert played.player.present_start(0) == (OWN, "1-1")
    # Observations are those of an environment that was put there.
    other = make_env(num_envs=1)
    for number, state in enumerate(states[3:6]):
        other.set_start_state(state)
        obs, _ = other.reset(seed=0)
        np.testing.assert_array_equal(rollout.grids[5 * (1 + number), 0], obs["tiles"][0])
    np.testing.assert_array_equal(rollout.grids[20, 0], rollout.grids[0, 0])


def test_starts_that_were_not_used_wait_for_the_next_rollout() -> None:
    env = make_env(num_envs=1, max_steps=5)
    env.reset(seed=0)
    played = Played(env, 5)
    for number in range(3):
        played.player.push_start(0, number, "1-1", places()[number + 1])
    played.play()
    assert played.player.present_start(0) == (0, "1-1")
    assert played.player.waiting_starts(0) == [1, 2]
    played.play()
    assert played.player.ends()["start"].tolist() == [0]
    assert played.player.present_start(0) == (1, "1-1")
    # One that comes after the queue ran dry is used by the next episode all the same.
    played.play()
    played.play()
    assert played.player.waiting_starts(0) == []
    played.player.push_start(0, 7, "1-1", places()[4])
    played.play()
    assert played.player.present_start(0) == (7, "1-1")


def test_a_start_brings_its_level_route_and_step_limit() -> None:
    env = make_env(num_envs=1, max_steps=30)
    env.reset(seed=0)
    played = Played(env, 90)
    route = _native.Route([(0, 0, 0)])
    played.player.push_start(0, 1, "2-2", step_limit=4)
    played.player.push_start(0, 2, "1-4", route=route, step_limit=7)
    played.play()
    ends = played.player.ends()
    assert ends["level"][:3] == ["1-1", "2-2", "1-4"]
    assert column(ends, "steps")[1:3].tolist() == [4, 7]
    assert [column(ends, name)[1] for name in ("world", "stage")] == [2, 2]
    # The route of the third episode is elsewhere, so nothing counts as progress.
    assert column(ends, "progress")[2] == 0
    assert ends["level"][3] == "1-4"
    assert column(ends, "steps")[3] > 7


def test_a_lane_loaded_in_the_middle_of_an_episode_can_be_told_where_it_began() -> None:
    env = make_env(num_envs=1, max_steps=5)
    env.reset(seed=0)
    played = Played(env, 6)
    played.player.set_present_start(0, 42, "1-1")
    played.play()
    assert played.player.ends()["start"].tolist() == [42]


def test_a_damaged_start_state_names_the_environment() -> None:
    env = make_env(num_envs=2, max_steps=2)
    env.reset(seed=0)
    played = Played(env, 6)
    played.player.push_start(1, 0, "1-1", b"nonsense")
    with pytest.raises(EnvError, match="1: this is not a save state"):
        played.play()


def test_starts_that_make_no_sense_are_refused() -> None:
    env = make_env(num_envs=2)
    played = Played(env, 6)
    with pytest.raises(ConfigError, match="environment 2 does not exist"):
        played.player.push_start(2, 0, "1-1")
    with pytest.raises(ConfigError, match="9-9"):
        played.player.push_start(0, 0, "9-9")
    with pytest.raises(ConfigError, match="must not be negative"):
        played.player.push_start(0, -3, "1-1")


def expected_snapshots(played: Played, spacing: int, seed: int) -> list[tuple[int, int, int]]:
    """(step, env, cell) of newly entered cells, as the Python path finds them."""
    env = make_env(num_envs=played.env.num_envs, max_steps=100)
    env.reset(seed=seed)
    last = np.full(env.num_envs, -1)
    found: list[tuple[int, int, int]] = []
    for step, actions in enumerate(played.rollout.actions):
        _, _, terminated, truncated, info = env.step(actions)
        ended = terminated | truncated
        cells = info["area"].astype(np.int64)
        for part in (info["loop_correct"], info["loop_passes"]):
            cells = cells * 256 + part
        cells = cells * 4096 + info["x_pos"] // spacing
        stands = info["in_control"] & (info["on_ground"] | info["swimming"]) & ~ended
        news = stands & (cells != last)
        last[news] = cells[news]
        last[ended] = -1
        for index in np.flatnonzero(news).tolist():
            seen = {(env, cell) for _, env, cell in found}
            if (index, int(cells[index])) not in seen:
                found.append((step, index, int(cells[index])))
    return found


def test_newly_entered_cells_are_saved_as_the_python_path_does() -> None:
    env = make_env(num_envs=4, max_steps=100)
    env.reset(seed=3)
    played = Played(env, 150)
    played.player.set_snapshot_spacing(64)
    played.play()
    taken = played.player.snapshots()
    assert len(taken) > 12
    assert [(s["step"], s["env"], s["cell"]) for s in taken] == expected_snapshots(played, 64, 3)
    for snapshot in taken:
        assert snapshot["level"] == "1-1"
        step, index = snapshot["step"], snapshot["env"]
        assert snapshot["progress"] == played.rollout.progress[step, index]
    # A snapshot is the machine at that moment.
    chosen = next(s for s in taken if s["step"] > 5)
    env.set_start_state(chosen["state"], [0])
    obs, _ = env.reset()
    step, index = chosen["step"], chosen["env"]
    newest = played.rollout.grids[step + 1, index, 5:]
    np.testing.assert_array_equal(obs["tiles"][0, 5:], newest)


def test_known_cells_are_not_saved_again() -> None:
    env = make_env(num_envs=2, max_steps=100)
    env.reset(seed=3)
    played = Played(env, 80)
    state = [env.save_state(index) for index in range(2)]
    played.player.set_snapshot_spacing(64)
    played.play()
    cells = sorted({s["cell"] for s in played.player.snapshots()})
    assert len(cells) > 3
    for index, blob in enumerate(state):
        env.load_state(blob, [index])
        played.player.set_cell(index, -1)
    played.rollout.random[:] = [100, 101]
    played.player.set_known_cells("1-1", np.array(cells[:-1]))
    played.play()
    assert {s["cell"] for s in played.player.snapshots()} == {cells[-1]}
    assert played.player.cell(0) >= 0


def test_nothing_is_saved_without_spacing() -> None:
    env = make_env(num_envs=1)
    env.reset(seed=3)
    played = Played(env, 60)
    played.play()
    assert played.player.snapshots() == []
