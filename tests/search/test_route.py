import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from warpzone import MarioVectorEnv
from warpzone._native import Route
from warpzone.envs.checks import make_route
from warpzone.errors import SolutionError
from warpzone.search.replay import replay
from warpzone.search.route import loop_erased, solution_route, start_states
from warpzone.search.solution import Solution, read_solution

SOLUTIONS = Path(__file__).parent.parent.parent / "solutions"


def committed_solution(level: str) -> Solution:
    return read_solution(SOLUTIONS / f"{level}.solution")


def trace(*positions: tuple[int, int], area: int = 7) -> np.ndarray:
    """Positions in which Mario is under control."""
    return np.array([(area, x, y, 1, 1, 0) for x, y in positions], np.int32)


def progress_along(solution: Solution, route: Route | None, rom_path: Path) -> int:
    """Returns the progress of an episode that plays the solution."""
    buttons = sorted(set(solution.inputs))
    env = MarioVectorEnv(
        solution.level, num_envs=1, rom=rom_path, obs="tiles", actions=buttons, autoreset="disabled"
    )
    env.set_route(route)
    env.reset(seed=0)
    for pressed in solution.inputs:
        *_, info = env.step([buttons.index(pressed)])
    env.close()
    return int(info["progress"][0])


def test_a_path_without_loops_is_unchanged() -> None:
    assert loop_erased(trace((0, 0), (4, 0), (20, 0), (40, 0))) == [0, 1, 2, 3]


def test_going_back_and_forth_is_erased() -> None:
    assert loop_erased(trace((0, 0), (20, 0), (40, 0), (20, 0), (24, 0), (60, 0))) == [
        0,
        1,
        3,
        4,
        5,
    ]


def test_two_loops_at_the_same_tile_are_both_erased() -> None:
    frames = loop_erased(trace((0, 0), (20, 0), (40, 0), (20, 0), (40, 0), (21, 0), (60, 0)))
    assert frames == [0, 1, 5, 6]


def test_a_lap_that_a_maze_sends_back_is_erased() -> None:
    first = [(x, 0) for x in range(0, 2000, 10)]
    second = [(x, 64) for x in range(1000, 1500, 10)]
    frames = loop_erased(trace(*first, *[(x, 0) for x in range(976, 990, 3)], *second))
    xs = [(*first, *[(x, 0) for x in range(976, 990, 3)], *second)[frame][0] for frame in frames]
    assert max(np.abs(np.diff(xs))) <= 32


def test_a_lap_that_leads_to_a_pipe_is_kept() -> None:
    """In 8-4 the pipe is only reachable on the screen from which the maze sends Mario back."""
    lap = [(x, 0) for x in range(0, 1280, 10)]
    back = [(x, 0) for x in range(256, 300, 10)]
    behind = [(x, 0) for x in range(1848, 1900, 10)]
    rows = trace(*lap, *back, (300, 0), *behind)
    rows[len(lap) + len(back), 3:5] = 0
    frames = loop_erased(rows)
    assert [int(rows[frame][1]) for frame in frames] == [x for x, _ in (*lap, *back, *behind)]


def test_equal_coordinates_in_different_areas_are_different_tiles() -> None:
    both = np.concatenate([trace((0, 0), (20, 0)), trace((0, 0), (20, 0), area=8)])
    assert loop_erased(both) == [0, 1, 2, 3]


def test_frames_without_control_are_skipped() -> None:
    rows = trace((0, 0), (20, 0), (40, 0))
    rows[1, 3:5] = 0
    assert loop_erased(rows) == [0, 2]


@pytest.mark.parametrize("level", ["1-1", "4-4", "7-4", "8-4"])
def test_playing_the_solution_covers_the_whole_route(level: str, rom_path: Path) -> None:
    solution = committed_solution(level)
    route = solution_route(solution, rom_path)
    length = sum(
        abs(b[1] - a[1])
        for a, b in itertools.pairwise(route.points)
        if a[0] == b[0] and abs(b[1] - a[1]) <= 64
    )
    native_route = make_route(route.points, maze=route.maze)
    assert progress_along(solution, native_route, rom_path) > 0.97 * length


def test_exactly_the_maze_levels_are_marked_as_mazes(rom_path: Path) -> None:
    levels = [path.stem for path in sorted(SOLUTIONS.glob("*.solution"))]
    mazes = [level for level in levels if solution_route(committed_solution(level), rom_path).maze]
    assert mazes == ["4-4", "7-4", "8-4"]


@pytest.mark.parametrize(
    ("offset", "maze", "rewarded"),
    [(-200, True, False), (-200, False, True), (200, True, False), (200, False, False)],
)
def test_walking_below_a_route_makes_progress_except_in_a_maze_and_above_it_never_does(
    offset: int, maze: bool, rewarded: bool, rom_path: Path
) -> None:
    solution = committed_solution("1-1")
    moved = [(area, x, y + offset) for area, x, y in solution_route(solution, rom_path).points]
    progress = progress_along(solution, make_route(moved, maze=maze), rom_path)
    assert progress > 3000 if rewarded else progress == 0


def test_the_remaining_inputs_clear_the_level_from_every_start_state(rom_path: Path) -> None:
    solution = committed_solution("1-2")
    starts = start_states(solution, 400, rom_path)
    assert starts[0].frame == 0
    assert len(starts) >= 6
    buttons = sorted(set(solution.inputs))
    env = MarioVectorEnv(
        "1-2", num_envs=1, rom=rom_path, obs="tiles", actions=buttons, autoreset="disabled"
    )
    for start in starts:
        env.set_start_state(start.blob)
        _, info = env.reset(seed=0)
        assert (info["area"][0], info["x_pos"][0]) == start.point[:2]
        for pressed in solution.inputs[start.frame // solution.frame_skip :]:
            *_, info = env.step([buttons.index(pressed)])
        assert info["flag_get"][0]
    env.close()


def test_start_states_are_at_least_the_spacing_apart(rom_path: Path) -> None:
    points = [start.point for start in start_states(committed_solution("2-4"), 200, rom_path)]
    gaps = [abs(a[1] - b[1]) + abs(a[2] - b[2]) for a, b in itertools.pairwise(points)]
    assert min(gaps) >= 200


def test_a_detour_that_changes_the_level_has_start_states(rom_path: Path) -> None:
    """In 8-4 Mario must hit a hidden block, go back, and then jump from it onto a pipe."""
    states = start_states(committed_solution("8-4"), 64, rom_path)
    before = next(at for at, state in enumerate(states) if state.point[1] == 2360)
    pipe = next(at for at, state in enumerate(states) if at > before and state.point[2] == 64)
    detour = states[before + 1 : pipe]
    assert max(state.point[1] for state in detour) > 2440  # Past the block,
    assert min(state.point[1] for state in detour) < 2360  # back in front of it,
    assert any(state.point[2] == 112 for state in detour)  # and on it.
    assert detour[0].distance == states[before].distance


def test_a_solution_of_a_different_rom_is_rejected(rom_path: Path) -> None:
    with pytest.raises(SolutionError, match="different ROM"):
        replay(replace(committed_solution("1-1"), rom="0" * 40), rom_path)
