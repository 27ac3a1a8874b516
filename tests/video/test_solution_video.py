import os
import subprocess
import sys
from pathlib import Path

import pytest

from warpzone import cli
from warpzone.search.solution import read_solution
from warpzone.video.episode import VideoOptions, record_episode
from warpzone.video.recorded_env import RecordedEnv
from warpzone.video.solution_video import SolutionPolicy

SOLUTIONS = Path(__file__).parent.parent.parent / "solutions"


def test_every_frame_of_a_solution_is_recorded(rom_path: Path) -> None:
    solution = read_solution(SOLUTIONS / "1-4.solution")
    policy = SolutionPolicy(solution)
    env = RecordedEnv("1-4", rom=rom_path, frame_skip=4, actions=list(policy.actions))
    written = 0

    def count(_: object) -> None:
        nonlocal written
        written += 1

    options = VideoOptions(overlay=False)
    outcome = record_episode(
        env, policy, count, steps=len(solution.inputs), options=options, after_clear=30
    )
    assert outcome.info["flag_get"]
    assert written == 1 + len(solution.inputs) * solution.frame_skip + 30


def test_command_records_a_solution(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "1-4.mp4"
    assert cli.main(["video", str(SOLUTIONS / "1-4.solution"), "-o", str(output)]) == 0
    assert "1-4: clear after" in capsys.readouterr().out
    assert output.stat().st_size > 50_000


def test_a_solution_is_recorded_without_torch(tmp_path: Path, rom_path: Path) -> None:
    program = (
        "import sys; sys.modules['torch'] = None\nfrom warpzone.cli import main; sys.exit(main())"
    )
    words = ["video", "1-1.solution", "-o", "run.mp4", "--scale=1", "--fps=20", "--speed=8"]
    done = subprocess.run(
        [sys.executable, "-c", program, *words],
        cwd=tmp_path,
        env=os.environ | {"WARPZONE_ROM": str(rom_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "run.mp4").stat().st_size > 5_000


@pytest.mark.parametrize("option", [["--level", "1-2"], ["--seed", "3"], ["--greedy"]])
def test_options_that_do_not_apply_to_a_solution_are_rejected(
    option: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "run.mp4"
    assert cli.main(["video", str(SOLUTIONS / "1-1.solution"), *option, "-o", str(output)]) == 2
    assert "omit --level" in capsys.readouterr().err
    assert not output.exists()


def test_a_damaged_solution_leaves_no_video(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    damaged = tmp_path / "1-1.solution"
    damaged.write_text((SOLUTIONS / "1-1.solution").read_text().replace("seed", "sead"))
    assert cli.main(["video", str(damaged), "-o", str(tmp_path / "run.mp4")]) == 2
    assert "expected 'seed: ...'" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["1-1.solution"]
