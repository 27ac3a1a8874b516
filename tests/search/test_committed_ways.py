"""The ways in `ways/`, found by our own search: also the hardest test of the core."""

from pathlib import Path

import pytest

from warpzone import MarioVectorEnv, _native
from warpzone.search.replay import verify
from warpzone.search.way import PRINCESS, read_way

WAYS = Path(__file__).parent.parent.parent / "ways"
LEVELS = _native.level_names("smb")


def next_level(level: str) -> str:
    number = LEVELS.index(level) + 1
    return LEVELS[number] if number < len(LEVELS) else PRINCESS


def test_there_is_a_way_for_every_level() -> None:
    assert sorted(path.stem for path in WAYS.glob("*.way")) == sorted(LEVELS)


@pytest.mark.parametrize("level", LEVELS)
def test_way_clears_its_level_from_power_on(level: str, rom_path: Path) -> None:
    way = read_way(WAYS / f"{level}.way")
    assert (way.level, way.ends, way.frame_skip) == (level, next_level(level), 4)
    verify(way, rom_path)


@pytest.mark.parametrize("level", ["1-2", "4-4", "8-4"])
def test_an_agent_that_takes_the_same_actions_clears_the_level(level: str, rom_path: Path) -> None:
    way = read_way(WAYS / f"{level}.way")
    buttons = sorted(set(way.inputs))
    env = MarioVectorEnv(
        level,
        num_envs=1,
        num_threads=1,
        rom=rom_path,
        obs="tiles",
        actions=buttons,
        frame_skip=way.frame_skip,
        autoreset="disabled",
    )
    env.reset(seed=0)
    for number, pressed in enumerate(way.inputs):
        _, _, terminated, truncated, info = env.step([buttons.index(pressed)])
        assert bool(terminated[0]) == (number == len(way.inputs) - 1)
        assert not truncated[0]
    assert info["flag_get"][0]
    assert -(-info["frames"][0] // 4) == len(way.inputs)
    env.close()
