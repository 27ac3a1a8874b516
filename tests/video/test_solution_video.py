from pathlib import Path

import pytest

from warpzone import cli
from warpzone.search.solution import read_solution
from warpzone.video.episode import Look, record_episode
from warpzone.video.recorded_env import RecordedEnv
from warpzone.video.solution_video import WayPolicy

WAYS = Path(__file__).parent.parent.parent / "solutions"


def test_a_way_is_filmed_frame_by_frame_to_its_end(rom_path: Path) -> None:
    solution = read_solution(WAYS / "1-4.solution")
    policy = WayPolicy(solution)
    env = RecordedEnv("1-4", rom=rom_path, frame_skip=4, actions=list(policy.actions))
    pictures = 0

    def count(_: object) -> None:
        nonlocal pictures
        pictures += 1

    outcome = record_episode(
        env, policy, count, steps=len(solution.inputs), look=Look(overlay=False), after_clear=30
    )
    assert outcome.info["flag_get"]
    assert pictures == 1 + len(solution.inputs) * solution.frame_skip + 30


def test_command_films_a_way_with_its_ending(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "1-4.mp4"
    assert cli.main(["video", str(WAYS / "1-4.solution"), "-o", str(output)]) == 0
    assert "1-4: cleared after" in capsys.readouterr().out
    assert output.stat().st_size > 50_000


@pytest.mark.parametrize("option", [["--level", "1-2"], ["--seed", "3"], ["--greedy"]])
def test_options_that_a_way_leaves_no_choice_about_are_refused(
    option: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "run.mp4"
    assert cli.main(["video", str(WAYS / "1-1.solution"), *option, "-o", str(output)]) == 2
    assert "a way is always the same" in capsys.readouterr().err
    assert not output.exists()


def test_a_damaged_way_leaves_no_film(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    damaged = tmp_path / "1-1.solution"
    damaged.write_text((WAYS / "1-1.solution").read_text().replace("seed", "sead"))
    assert cli.main(["video", str(damaged), "-o", str(tmp_path / "run.mp4")]) == 2
    assert "expected 'seed: ...'" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["1-1.solution"]
