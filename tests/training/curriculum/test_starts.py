"""Episodes that start at places earlier episodes reached."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from warpzone.algorithms.ranks import Ranks
from warpzone.config import StartOptions
from warpzone.envs.endings import end_number
from warpzone.envs.vector import MarioVectorEnv
from warpzone.step_info import step_info
from warpzone.telemetry.episodes import EpisodeStatistics
from warpzone.training.curriculum.starts import EpisodeStarts, Place, Start
from warpzone.training.episode_log import EpisodeLog

NUM_ENVS = 4
RIGHT, STAND = 1, 0


def make_env(**options: int) -> MarioVectorEnv:
    return MarioVectorEnv(
        "1-1",
        num_envs=NUM_ENVS,
        num_threads=1,
        obs="tiles",
        actions=[[], ["right", "B"]],
        autoreset="same-step",
        **options,
    )


@pytest.fixture
def env(rom_path: Path) -> Iterator[MarioVectorEnv]:
    env = make_env(max_steps=30, noop_max=30)
    yield env
    env.close()


def play(env: MarioVectorEnv, starts: EpisodeStarts, steps: int, action: int) -> list[int]:
    """Plays, and returns Mario's x at the first step of every episode."""
    begun: list[int] = []
    first = np.zeros(NUM_ENVS, np.bool_)
    for _ in range(steps):
        _, _, terminated, truncated, info = env.step(np.full(NUM_ENVS, action))
        info = step_info(info)
        begun += info["x_pos"][first].tolist()
        first = terminated | truncated
        starts.observe(info, first)
    return begun


def test_without_a_share_every_episode_begins_at_the_level_start(env: MarioVectorEnv) -> None:
    starts = EpisodeStarts(env, StartOptions(share=0.0), 0)
    env.reset(seed=1)
    assert set(play(env, starts, 100, STAND)) == {40}


def test_episodes_begin_at_places_that_were_reached(env: MarioVectorEnv) -> None:
    starts = EpisodeStarts(env, StartOptions(share=1.0), 0, spacing=32)
    env.reset(seed=1)
    # The first start was fixed before anything was reached, the second when nothing was known.
    begun = play(env, starts, 200, RIGHT)[2 * NUM_ENVS :]
    assert begun
    assert all(x > 40 for x in begun)
    assert len(set(begun)) > 2


def test_no_noop_frames_precede_a_snapshot(env: MarioVectorEnv) -> None:
    env.reset(seed=1)
    env.step(np.full(NUM_ENVS, RIGHT))
    env.set_start_state(env.save_console(0), idle=False)
    _, info = env.reset()
    assert len(set(info["time"].tolist())) == 1
    before = env.ram()[:, 0x09].tolist()  # The game's frame counter.
    assert len(set(before)) == 1
    env.set_start_state(env.save_console(0), idle=True)
    env.reset()
    assert len(set(env.ram()[:, 0x09].tolist())) > 1


def test_most_episodes_start_before_hazards(env: MarioVectorEnv) -> None:
    starts = EpisodeStarts(env, StartOptions(share=1.0), 0, spacing=32)
    env.reset(seed=1)
    play(env, starts, 30, RIGHT)
    # All are cut after 30 steps, around x = 300; whoever begins there is cut around 560.
    begun = play(env, starts, 300, RIGHT)[2 * NUM_ENVS :]
    assert np.mean([x > 160 for x in begun]) > 0.6


def test_only_practice_episodes_are_truncated(rom_path: Path) -> None:
    env = make_env(max_steps=100)
    starts = EpisodeStarts(env, StartOptions(share=0.7), 0, spacing=32)
    env.reset(seed=1)
    play(env, starts, 20, RIGHT)
    within, whole = [], []
    for _ in range(1000):
        begun = [starts.begun(env_id) for env_id in range(NUM_ENVS)]
        _, _, terminated, truncated, info = env.step(np.full(NUM_ENVS, STAND))
        info = step_info(info)
        starts.observe(info, terminated | truncated)
        for env_id in np.nonzero(truncated)[0]:
            (whole if begun[env_id].place is None else within).append(int(info["steps"][env_id]))
    env.close()
    assert set(whole) == {100}
    assert set(within) == {64}


def test_only_episodes_from_the_level_start_count_for_the_clear_rate(env: MarioVectorEnv) -> None:
    statistics = EpisodeStatistics()
    log = EpisodeLog(statistics, 1, Ranks())
    env.reset(seed=1)
    ended = np.ones(NUM_ENVS, np.bool_)
    _, _, _, _, info = env.step(np.full(NUM_ENVS, STAND))
    info["end_reason"] = np.full(NUM_ENVS, end_number("clear"))
    within = Start("1-1", Place(b"", 0, 0))
    returns = np.zeros(NUM_ENVS)
    log.observe(info, ended, 0, lambda env_id: within, returns)
    log.flush()
    assert statistics.clear_rate is None
    assert statistics.total == NUM_ENVS
    log.observe(info, ended, 0, lambda env_id: within if env_id else Start("1-1"), returns)
    log.flush()
    assert statistics.clear_rate == 1.0


def test_the_same_seed_chooses_the_same_starts(env: MarioVectorEnv) -> None:
    runs = []
    for _ in range(2):
        env.set_start_state(None)
        starts = EpisodeStarts(env, StartOptions(share=0.5), 7, spacing=32)
        env.reset(seed=1)
        runs.append(play(env, starts, 150, RIGHT))
    assert runs[0] == runs[1]


def test_a_restored_archive_continues_like_the_saved_one(env: MarioVectorEnv) -> None:
    starts = EpisodeStarts(env, StartOptions(share=0.5), 7, spacing=32)
    env.reset(seed=1)
    play(env, starts, 100, RIGHT)
    saved = starts.state_dict()
    states = [env.save_state(env_id) for env_id in range(NUM_ENVS)]
    going_on = play(env, starts, 100, RIGHT)
    other = EpisodeStarts(env, StartOptions(share=0.5), 8, spacing=32)
    other.load_state_dict(saved)
    for env_id, blob in enumerate(states):
        env.load_state(blob, [env_id])
    other.prepare_next()
    assert play(env, other, 100, RIGHT) == going_on
    assert len(going_on) > NUM_ENVS
