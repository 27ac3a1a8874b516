"""Training with solutions: progress is measured along them, and episodes start along them."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from tiny import tiny

from warpzone.config import StartOptions
from warpzone.envs.vector import MarioVectorEnv
from warpzone.errors import SolutionError
from warpzone.step_info import step_info
from warpzone.training.curriculum.levels import LevelCurriculum
from warpzone.training.curriculum.solutions import read_guides
from warpzone.training.curriculum.starts import EpisodeStarts
from warpzone.training.trainer import Trainer

WAYS = Path(__file__).parents[3] / "solutions"
NUM_ENVS = 4


def make_env(level: str, **options: object) -> MarioVectorEnv:
    return MarioVectorEnv(
        level,
        num_envs=NUM_ENVS,
        num_threads=1,
        obs="tiles",
        actions="simple",
        autoreset="same-step",
        max_steps=10,
        **options,
    )


def test_places_are_in_order_along_the_solution(rom_path: Path) -> None:
    guide = read_guides(WAYS, ["1-2"], 64)["1-2"]
    distances = [place.distance for place in guide.places]
    assert len(distances) > 20
    assert distances == sorted(distances)
    assert distances[0] > 0


def test_every_episode_can_start_along_the_solution(rom_path: Path) -> None:
    guides = read_guides(WAYS, ["1-2"], 64)
    env = make_env("1-2")
    starts = EpisodeStarts(env, StartOptions(share=1.0, solution_share=1.0), 0, guides=guides)
    env.reset(seed=1)
    begun: list[int] = []
    first = np.zeros(NUM_ENVS, np.bool_)
    for _ in range(150):
        _, _, terminated, truncated, info = env.step(np.zeros(NUM_ENVS, np.int64))
        info = step_info(info)
        begun += info["x_pos"][first].tolist()
        first = terminated | truncated
        starts.observe(info, first)
    # The first start was fixed before anything was known, the second with the first end.
    begun = begun[NUM_ENVS:]
    xs = {place.point[1] for place in guides["1-2"].places}
    assert len(set(begun)) > 10
    assert all(min(abs(x - other) for other in xs) < 16 for x in begun)
    env.close()


def test_progress_is_measured_along_the_solution(rom_path: Path) -> None:
    """In 1-2 the solution leads into a pipe; beyond it there is only the warp zone."""
    guide = read_guides(WAYS, ["1-2"], 64)["1-2"]
    last = guide.places[-1]
    env = make_env("1-2")
    EpisodeStarts(env, StartOptions(), 0, guides={"1-2": guide})
    env.set_start_state(last.blob)
    env.reset(seed=1)
    total = 0
    for _ in range(9):
        _, _, _, _, info = env.step(np.full(NUM_ENVS, 1))
        total = int(info["progress"].max())
    assert 0 < total <= guide.places[-1].distance
    env.close()


def test_a_curriculum_gives_an_env_its_level_and_route(rom_path: Path) -> None:
    levels = ["1-1", "1-2", "1-3", "1-4"]
    env = make_env("1-1")
    starts = EpisodeStarts(
        env,
        StartOptions(share=0.5),
        3,
        guides=read_guides(WAYS, levels, 64),
        chooser=LevelCurriculum(levels, 0.5),
    )
    env.reset(seed=1)
    played = set()
    for _ in range(150):
        begun = [starts.begun(env_id).level for env_id in range(NUM_ENVS)]
        _, _, terminated, truncated, info = env.step(np.full(NUM_ENVS, 1))
        info = step_info(info)
        seen = [f"{w}-{s}" for w, s in zip(info["world"], info["stage"], strict=True)]
        assert seen == begun
        played |= set(seen)
        starts.observe(info, terminated | truncated)
    assert played == set(levels)
    env.close()


def test_the_levels_log_names_the_level_that_was_played(tmp_path: Path, rom_path: Path) -> None:
    """Random levels: the env has already started another level when its episode is logged."""
    config = tiny(tmp_path)
    object.__setattr__(config.env, "level", "random")
    object.__setattr__(config.env, "max_steps", 3)
    now = [""] * config.env.num_envs
    wrong = []

    def watch(info: dict[str, np.ndarray], rewards: np.ndarray, ended: np.ndarray) -> None:
        for env in range(config.env.num_envs):
            now[env] = f"{info['world'][env]}-{info['stage'][env]}"
            if now[env] != trainer.starts.begun(env).level:
                wrong.append((env, now[env]))

    trainer = Trainer(config, observers=[watch])
    trainer.begin()
    trainer.update()
    trainer.update()
    assert not wrong
    assert len({*now}) > 1
    trainer.close()


def test_a_missing_solution_says_how_to_find_it(tmp_path: Path, rom_path: Path) -> None:
    with pytest.raises(
        SolutionError, match=r"is not a folder of solutions; `warpzone solve --level all"
    ):
        read_guides(tmp_path / "nothing", ["1-1"], 64)
    with pytest.raises(
        SolutionError, match=r"has no solution for 1-1; `warpzone solve --level 1-1"
    ):
        read_guides(tmp_path, ["1-1"], 64)
    shutil.copy(WAYS / "1-2.solution", tmp_path / "1-1.solution")
    with pytest.raises(SolutionError, match="is a solution for 1-2, not for 1-1"):
        read_guides(tmp_path, ["1-1"], 64)
