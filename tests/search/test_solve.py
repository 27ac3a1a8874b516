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

SOLUTIONS = Path(__file__).parent.parent.parent / "solutions"
EASY = "1-4"


def test_a_solution_verifies_and_uses_only_allowed_actions(rom_path: Path) -> None:
    result = solve(EASY, 0, SearchOptions(actions="complex"), rom=rom_path)
    assert result.solution is not None
    verify(result.solution, rom_path)
    assert set(result.solution.inputs) <= set(SearchOptions(actions="complex").buttons())
    assert result.progress.solution_frames == result.solution.frames
    assert result.progress.refuted == 0


def test_the_same_seed_finds_the_same_solution_for_any_number_of_threads(rom_path: Path) -> None:
    options = SearchOptions(improve=3600, frames=150_000)
    results = [
        solve(EASY, 5, replace(options, threads=threads), rom=rom_path) for threads in (1, 2, 3)
    ]
    assert len({result.solution for result in results}) == 1
    assert results[0].solution is not None
    assert len({(r.progress.frames, r.progress.cells, r.progress.rounds) for r in results}) == 1


def test_different_seeds_find_different_solutions(rom_path: Path) -> None:
    solutions = {solve(EASY, seed, rom=rom_path).solution for seed in (0, 1)}
    assert len(solutions) == 2


def test_a_solution_has_one_input_per_frame_skip(rom_path: Path) -> None:
    solution = solve(EASY, 0, SearchOptions(frame_skip=7), rom=rom_path).solution
    assert solution is not None
    assert len(solution.inputs) == -(-solution.frames // 7)
    verify(solution, rom_path)


def test_the_frame_limit_ends_a_search_without_a_solution(rom_path: Path) -> None:
    result = solve("8-4", 0, SearchOptions(frames=20_000), rom=rom_path)
    assert result.solution is None
    assert 20_000 <= result.progress.frames < 60_000


def test_the_archive_stays_within_its_memory_limit_and_reports_evictions(rom_path: Path) -> None:
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
        ({"actions": "most"}, "action set"),
        ({"actions": ["RIGHT"]}, "must include NOOP"),
    ],
)
def test_invalid_options_are_rejected(options: dict, complaint: str, rom_path: Path) -> None:
    with pytest.raises(ConfigError, match=complaint):
        solve("1-1", 0, SearchOptions(**options), rom=rom_path)


def test_unknown_levels_and_negative_seeds_are_rejected(rom_path: Path) -> None:
    with pytest.raises(ConfigError, match="unknown level"):
        solve("9-9", rom=rom_path)
    with pytest.raises(ConfigError, match="seed is -1"):
        solve("1-1", -1, rom=rom_path)


def test_verify_rejects_a_solution_that_fails_or_does_not_match_its_header(rom_path: Path) -> None:
    solution = read_solution(SOLUTIONS / "1-1.solution")
    with pytest.raises(SolutionError, match="does not clear it: Mario dies"):
        verify(replace(solution, inputs=bytes([0x82]) * 200), rom_path)
    with pytest.raises(SolutionError, match="does not clear it: Mario does not leave the level"):
        verify(replace(solution, inputs=bytes(50)), rom_path)
    with pytest.raises(SolutionError, match=r"claims frames: 9, but the replay gives \d+"):
        verify(replace(solution, frames=9), rom_path)
    with pytest.raises(SolutionError, match="claims ends: 8-1"):
        verify(replace(solution, ends="8-1"), rom_path)


def test_replay_rejects_a_frame_skip_of_zero(rom_path: Path) -> None:
    with pytest.raises(ConfigError):
        _native.replay(rom_path.read_bytes(), "smb", "1-1", 0, b"\0")


# The command.


def test_command_solves_several_levels_and_verifies_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "solutions"
    assert cli.main(["solve", "--level", "1-4,1-1", "--jobs", "2", "-o", str(folder)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "2 of 2 clear"
    assert sorted(path.name for path in folder.iterdir()) == ["1-1.solution", "1-4.solution"]
    assert cli.main(["solve", "--verify", str(folder)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "2 of 2 clear"


def test_command_keeps_a_better_solution_unless_overwrite_is_given(
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


def test_command_marks_the_solutions_that_fail(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    solution = read_solution(SOLUTIONS / "1-1.solution")
    write_solution(tmp_path / "1-1.solution", solution)
    # The number of inputs matches the header, but no button is pressed in the second half.
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
    assert "found (" in capsys.readouterr().out
    assert not folder.exists()


def test_ctrl_c_ends_the_command_at_once(tmp_path: Path) -> None:
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
