import re
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from warpzone import _native, cli
from warpzone.errors import ConfigError, SolutionError
from warpzone.search.replay import verify
from warpzone.search.solution import read_solution, write_solution
from warpzone.search.solve import SearchOptions, SearchProgress, solve

WAYS = Path(__file__).parent.parent.parent / "solutions"
EASY = "1-4"


def test_a_way_is_found_proved_and_made_of_allowed_actions(rom_path: Path) -> None:
    result = solve(EASY, 0, SearchOptions(actions="complex"), rom=rom_path)
    assert result.solution is not None
    verify(result.solution, rom_path)
    assert set(result.solution.inputs) <= set(SearchOptions(actions="complex").buttons())
    assert result.progress.solution_frames == result.solution.frames
    assert result.progress.refuted == 0


def test_the_same_seed_finds_the_same_way_for_any_number_of_threads(rom_path: Path) -> None:
    options = SearchOptions(improve=3600, frames=150_000)
    results = [
        solve(EASY, 5, replace(options, threads=threads), rom=rom_path) for threads in (1, 2, 3)
    ]
    assert len({result.solution for result in results}) == 1
    assert results[0].solution is not None
    assert len({(r.progress.frames, r.progress.cells, r.progress.rounds) for r in results}) == 1


def test_other_seeds_find_other_ways(rom_path: Path) -> None:
    solutions = {solve(EASY, seed, rom=rom_path).solution for seed in (0, 1)}
    assert len(solutions) == 2


def test_inputs_change_only_with_the_frame_skip(rom_path: Path) -> None:
    solution = solve(EASY, 0, SearchOptions(frame_skip=7), rom=rom_path).solution
    assert solution is not None
    assert len(solution.inputs) == -(-solution.frames // 7)
    verify(solution, rom_path)


def test_frames_end_a_search_that_found_nothing(rom_path: Path) -> None:
    result = solve("8-4", 0, SearchOptions(frames=20_000), rom=rom_path)
    assert result.solution is None
    assert 20_000 <= result.progress.frames < 60_000


def test_the_archive_keeps_to_its_bound_and_says_so(rom_path: Path) -> None:
    seen: list[SearchProgress] = []
    solve("2-1", 0, SearchOptions(memory=8, frames=150_000), rom=rom_path, on_progress=seen.append)
    assert {progress.memory_limit for progress in seen} == {8 << 20}
    assert max(progress.memory for progress in seen) <= 8 << 20
    assert seen[-1].forgotten > 0


def test_a_search_can_be_stopped(rom_path: Path) -> None:
    stop = threading.Event()
    stop.set()
    result = solve("8-4", 0, rom=rom_path, stop=stop)
    assert result.solution is None


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"frame_skip": 0}, "frame_skip is 0"),
        ({"threads": 0}, "threads is 0"),
        ({"memory": 2}, "memory is 2 MB"),
        ({"improve": -1.0}, "improve is -1"),
        ({"frames": 0}, "frames is 0"),
        ({"seconds": float("nan")}, "seconds is nan"),
        ({"actions": "most"}, "no action set"),
        ({"actions": ["RIGHT"]}, "needs NOOP"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    options: dict, complaint: str, rom_path: Path
) -> None:
    with pytest.raises(ConfigError, match=complaint):
        solve("1-1", 0, SearchOptions(**options), rom=rom_path)


def test_unknown_levels_and_seeds_are_refused(rom_path: Path) -> None:
    with pytest.raises(ConfigError, match="unknown level"):
        solve("9-9", rom=rom_path)
    with pytest.raises(ConfigError, match="seed is -1"):
        solve("1-1", -1, rom=rom_path)


def test_a_way_that_dies_or_lies_is_found_out(rom_path: Path) -> None:
    solution = read_solution(WAYS / "1-1.solution")
    with pytest.raises(SolutionError, match="does not clear it: Mario dies"):
        verify(replace(solution, inputs=bytes([0x82]) * 200), rom_path)
    with pytest.raises(SolutionError, match="does not clear it: the level is not left"):
        verify(replace(solution, inputs=bytes(50)), rom_path)
    with pytest.raises(SolutionError, match=r"says frames: 9, but the replay shows \d+"):
        verify(replace(solution, frames=9), rom_path)
    with pytest.raises(SolutionError, match="says ends: 8-1"):
        verify(replace(solution, ends="8-1"), rom_path)


def test_replay_wants_a_positive_frame_skip(rom_path: Path) -> None:
    with pytest.raises(ConfigError):
        _native.replay(rom_path.read_bytes(), "smb", "1-1", 0, b"\0")


# The command.


def test_command_explores_several_levels_and_verifies_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "solutions"
    assert cli.main(["solve", "--level", "1-4,1-1", "--jobs", "2", "-o", str(folder)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "2 of 2 clear"
    assert sorted(path.name for path in folder.iterdir()) == ["1-1.solution", "1-4.solution"]
    assert cli.main(["solve", "--verify", str(folder)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "2 of 2 clear"


def test_command_keeps_a_better_way_unless_told_otherwise(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = [solve(EASY, seed).solution for seed in (0, 1)]
    better, worse = sorted(
        (solution for solution in found if solution is not None), key=lambda solution: solution.rank
    )
    path = tmp_path / f"{EASY}.solution"
    write_solution(path, better)
    arguments = ["solve", "--level", EASY, "--seed", str(worse.seed), "-o", str(tmp_path)]
    assert cli.main(arguments) == 0
    assert "; kept " in capsys.readouterr().out
    assert read_solution(path) == better
    assert cli.main([*arguments, "--overwrite"]) == 0
    assert read_solution(path) == worse


def test_command_tells_which_way_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    solution = read_solution(WAYS / "1-1.solution")
    write_solution(tmp_path / "1-1.solution", solution)
    # As many inputs as it says, but from the middle on nothing is pressed.
    half = len(solution.inputs) // 2
    write_solution(
        tmp_path / "a.solution",
        replace(solution, inputs=solution.inputs[:half] + bytes(len(solution.inputs) - half)),
    )
    (tmp_path / "b.solution").write_text("nonsense")
    assert cli.main(["solve", "--verify", str(tmp_path)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [bool(re.search("FAILED", line)) for line in lines] == [False, True, True, False]
    assert lines[-1] == "1 of 3 clear"


def test_command_without_success_returns_1_and_leaves_no_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "solutions"
    arguments = ["solve", "--level", "8-4", "--frames", "20000", "-o", str(folder)]
    assert cli.main(arguments) == 1
    assert "no way found" in capsys.readouterr().out
    assert not folder.exists()


def test_interrupt_ends_the_command_at_once(tmp_path: Path) -> None:
    script = (
        "import sys; from warpzone.cli import main; print('ready', flush=True); sys.exit(main())"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, "solve", "--level", "8-4", "--improve", "600"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(1.5)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
    finally:
        process.kill()
        process.stdout.close()
