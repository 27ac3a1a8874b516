"""Recording a video of a solution."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from warpzone.envs.actions import describe_buttons
from warpzone.envs.console import Console
from warpzone.search.replay import RomPath, replay, verify
from warpzone.search.solution import Solution
from warpzone.video.episode import Outcome, record_episode
from warpzone.video.recorded_env import FRAMES_PER_SECOND, RecordedEnv
from warpzone.video.video_format import VideoFormat

# Long enough to read the princess's message.
_FINAL_FRAMES = 3 * FRAMES_PER_SECOND


class SolutionPolicy:
    """Plays the inputs of a solution, then presses no buttons."""

    def __init__(self, solution: Solution) -> None:
        """Creates a policy whose actions are the button combinations of the solution."""
        self._buttons = sorted({0, *solution.inputs})
        self._inputs = solution.inputs
        self.actions = [describe_buttons(byte) for byte in self._buttons]
        self.reset()

    def reset(self) -> None:
        """Starts again with the first input."""
        self._step = 0

    def act(self, obs: Any, info: dict[str, Any], console: Console) -> int:
        """Returns the next input."""
        del obs, info, console
        step = self._step
        self._step += 1
        return self._buttons.index(self._inputs[step] if step < len(self._inputs) else 0)


def record_solution(
    solution: Solution,
    output: Path,
    *,
    rom: RomPath = None,
    video_format: VideoFormat | None = None,
    on_step: Callable[[int], None] | None = None,
) -> Outcome:
    """Records a solution from the start of its level until the next level begins.

    Args:
        solution: Solution to record; it is verified first.
        output: Video file to write.
        rom: Path to the ROM; by default `WARPZONE_ROM`, or the installed one.
        video_format: Size, frame rate and speed.
        on_step: Called with the number of completed steps.

    Raises:
        SolutionError: If the solution does not clear its level.
    """
    video_format = video_format or VideoFormat()
    video_writer = video_format.writer(output)
    verify(solution, rom)
    frames_to_next_level = replay(solution, rom).ending_frames - solution.frames
    policy = SolutionPolicy(solution)
    env = RecordedEnv(
        solution.level,
        rom=rom,
        game=solution.game,
        frame_skip=solution.frame_skip,
        actions=list(policy.actions),
    )
    video_format.prepare(env)
    with video_writer as video:
        return record_episode(
            env,
            policy,
            video.write,
            steps=len(solution.inputs),
            options=video_format.options(output),
            after_clear=frames_to_next_level + _FINAL_FRAMES,
            on_step=on_step,
            write_sound=video_format.write_sound(video),
        )
