"""Maps of levels, drawn with the installed ROM."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from warpzone.envs.level_map import draw_level_map
from warpzone.envs.vector import MarioVectorEnv
from warpzone.rom.locate import load_game

# The x of the flagpole or axe; the map must show it.
ENDS = {"1-1": 3175, "1-3": 2470, "4-4": 2650}


@pytest.mark.parametrize("level", ENDS)
def test_a_map_reaches_from_the_start_to_the_end_of_its_level(rom_path: Path, level: str) -> None:
    drawn = draw_level_map(load_game(path=rom_path), "smb", level)
    height, width, colors = drawn.image.shape
    assert (height, colors) == (208, 3)
    assert ENDS[level] < width < ENDS[level] + 700
    # No column is empty: each shows ground, sky, or a wall.
    assert all(len(np.unique(drawn.image[:, x].reshape(-1, 3), axis=0)) > 1 for x in (8, width - 8))


def test_the_beginning_of_a_map_is_what_the_screen_shows(rom_path: Path) -> None:
    drawn = draw_level_map(load_game(path=rom_path), "smb", "1-1")
    env = MarioVectorEnv("1-1", num_envs=1, render_mode="rgb_array", obs="tiles", noop_max=0)
    try:
        _, info = env.reset(seed=0)
        assert int(info["area"][0]) == drawn.area
        (screen,) = env.render()
    finally:
        env.close()
    # Mario and the coin that blinks are not part of the map.
    same = (screen[32:] == drawn.image[:, :256]).all(axis=-1)
    assert same.mean() > 0.98
