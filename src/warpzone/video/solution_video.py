"""Filming a way that a search found."""

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
from warpzone.video.writer import VideoWriter

_SCALE = 2
# Long enough to read what the princess says.
_LAST_FRAMES = 3 * FRAMES_PER_SECOND


class WayPolicy:
    """Plays the inputs of a way, then none."""

    def __init__(self, solution: Solution) -> None:
        """Takes the combinations of the way as its actions."""
        self._buttons = sorted({0, *solution.inputs})
        self._inputs = solution.inputs
        self.actions = [describe_buttons(byte) for byte in self._buttons]
        self.reset()

    def reset(self) -> None:
        """Begins the way again."""
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
    on_step: Callable[[int], None] | None = None,
) -> Outcome:
    """Films a way from the start of its level until the game goes on.

    Args:
        solution: What to film; it is proved first.
        output: The video to write.
        rom: The game's image; by default `WARPZONE_ROM`, or the installed one.
        on_step: Called with the number of steps done.

    Raises:
        WayError: If the way does not clear its level.
    """
    verify(solution, rom)
    scene = replay(solution, rom).ending_frames - solution.frames
    policy = WayPolicy(solution)
    env = RecordedEnv(
        solution.level,
        rom=rom,
        game=solution.game,
        frame_skip=solution.frame_skip,
        actions=list(policy.actions),
    )
    with VideoWriter(output, fps=FRAMES_PER_SECOND, scale=_SCALE) as video:
        return record_episode(
            env,
            policy,
            video.write,
            steps=len(solution.inputs),
            after_clear=scene + _LAST_FRAMES,
            on_step=on_step,
        )
