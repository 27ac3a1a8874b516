from dataclasses import replace
from pathlib import Path

import pytest

from warpzone.errors import SolutionError
from warpzone.search.solution import (
    Solution,
    find_solutions,
    format_solution,
    parse_solution,
    read_solution,
    write_solution,
)

SOLUTION = Solution(
    game="smb",
    level="1-1",
    ends="1-2",
    rom="0c4992fc08d2278697339d3b48066e7b5f943598",
    frame_skip=4,
    frames=2399,
    area_changes=0,
    seed=3,
    inputs=bytes([0x82] * 200 + [0x83] * 300 + [0x00] + [0x20, 0x40] * 49 + [0x81]),
)


def test_a_written_file_reads_back_equal(tmp_path: Path) -> None:
    write_solution(tmp_path / "deep" / "1-1.solution", SOLUTION)
    assert read_solution(tmp_path / "deep" / "1-1.solution") == SOLUTION


def test_files_are_small_plain_text_with_short_lines() -> None:
    text = format_solution(SOLUTION)
    assert text.isascii()
    assert text.startswith("warpzone solution 1\ngame: smb\nlevel: 1-1\nends: 1-2\n")
    assert "actions:\nRIGHT+B:200,RIGHT+A+B:300,NOOP:1,DOWN:1,LEFT:1," in text
    assert max(map(len, text.splitlines())) <= 100


def altered(old: str, new: str) -> str:
    text = format_solution(SOLUTION)
    assert old in text
    return text.replace(old, new, 1)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "is not a solution"),
        ("something else\n", "is not a solution"),
        (altered("solution 1", "solution 2"), "format 2"),
        (altered("game: smb", "game: chess"), "line 2: game cannot be 'chess'"),
        (altered("level: 1-1", "level: 1-5"), "line 3: level cannot be '1-5'"),
        (altered("ends: 1-2", "ends: nowhere"), "line 4: ends"),
        (altered("rom: 0c", "rom: 0C"), "line 5: rom"),
        (altered("frame-skip: 4", "frame-skip: 0"), "frame-skip is 0"),
        (altered("frame-skip: 4", "frame-skip: 4.0"), "line 6: frame-skip"),
        (altered("frames: 2399", "frames: -1"), "line 7: frames"),
        (altered("frames: 2399", "frames: 2404"), "truncated or altered"),
        (altered("seed: 3\n", ""), "line 9: expected 'seed"),
        (altered("seed: 3\n", "seed: 3\nspeed: 3\n"), "line 10: expected 'actions:'"),
        (altered("area-changes", "area_changes"), "line 8: expected 'area-changes"),
        (altered("RIGHT+B:200", "RIGHT+B:0"), "RIGHT\\+B:0"),
        (altered("RIGHT+B:200", "RIGHT+C:200"), "button"),
        (altered("RIGHT+B:200", "RIGHT+B:999999,RIGHT+B:999999"), "more than"),
        (altered("RIGHT+B:200", "RIGHT+B 200"), "must be buttons and a number of steps"),
        (format_solution(SOLUTION)[:-30], "truncated or altered|must be buttons"),
    ],
)
def test_invalid_text_is_rejected_with_the_reason(text: str, complaint: str) -> None:
    with pytest.raises(SolutionError, match=complaint):
        parse_solution(text)


def test_errors_name_the_file(tmp_path: Path) -> None:
    path = tmp_path / "1-1.solution"
    path.write_text("hello\n")
    with pytest.raises(SolutionError, match=r"1-1\.solution is not a solution"):
        read_solution(path)


@pytest.mark.parametrize("content", [b"\xff\x00" * 40, b"a" * (2 << 20)], ids=["binary", "huge"])
def test_other_kinds_of_files_are_rejected(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "1-1.solution"
    path.write_bytes(content)
    with pytest.raises(SolutionError, match="is not a solution"):
        read_solution(path)


def test_missing_files_and_empty_folders_name_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(SolutionError, match="cannot be read"):
        read_solution(tmp_path / "1-1.solution")
    with pytest.raises(SolutionError, match="warpzone solve"):
        find_solutions(tmp_path)
    with pytest.raises(SolutionError, match="does not exist"):
        find_solutions(tmp_path / "nowhere")


def test_a_failed_write_says_why_and_leaves_no_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SolutionError, match="cannot be written"):
        write_solution(tmp_path / "file" / "1-1.solution", SOLUTION)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_fewer_area_changes_rank_before_fewer_frames() -> None:
    solutions = [
        replace(SOLUTION, area_changes=2, frames=100),
        replace(SOLUTION, area_changes=0, frames=300),
        replace(SOLUTION, area_changes=0, frames=200),
    ]
    assert [
        solution.frames for solution in sorted(solutions, key=lambda solution: solution.rank)
    ] == [200, 300, 100]
