"""The committed solutions, found by our own search: also the hardest test of the console core."""

from pathlib import Path

import pytest

from warpzone import MarioVectorEnv, _native
from warpzone.search.replay import verify
from warpzone.search.solution import PRINCESS, read_solution

SOLUTIONS = Path(__file__).parent.parent.parent / "solutions"
LEVELS = _native.level_names("smb")


def next_level(level: str) -> str:
    number = LEVELS.index(level) + 1
    return LEVELS[number] if number < len(LEVELS) else PRINCESS


def test_every_level_has_a_solution() -> None:
    assert sorted(path.stem for path in SOLUTIONS.glob("*.solution")) == sorted(LEVELS)


@pytest.mark.parametrize("level", LEVELS)
def test_solution_clears_its_level_from_power_on(level: str, rom_path: Path) -> None:
    solution = read_solution(SOLUTIONS / f"{level}.solution")
    assert (solution.level, solution.ends, solution.frame_skip) == (level, next_level(level), 4)
    verify(solution, rom_path)


@pytest.mark.parametrize("level", ["1-2", "4-4", "8-4"])
def test_env_stepped_with_the_same_actions_clears_the_level(level: str, rom_path: Path) -> None:
    solution = read_solution(SOLUTIONS / f"{level}.solution")
    buttons = sorted(set(solution.inputs))
    env = MarioVectorEnv(
        level,
        num_envs=1,
        num_threads=1,
        rom=rom_path,
        obs="tiles",
        actions=buttons,
        frame_skip=solution.frame_skip,
        autoreset="disabled",
    )
    env.reset(seed=0)
    for number, pressed in enumerate(solution.inputs):
        _, _, terminated, truncated, info = env.step([buttons.index(pressed)])
        assert bool(terminated[0]) == (number == len(solution.inputs) - 1)
        assert not truncated[0]
    assert info["flag_get"][0]
    assert -(-info["frames"][0] // 4) == len(solution.inputs)
    env.close()
