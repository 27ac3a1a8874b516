"""Filming a way that a search found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from warpzone.console import Console
from warpzone.envs.actions import describe_buttons
from warpzone.evaluate.episode import Outcome, film_episode
from warpzone.evaluate.film import FRAMES_PER_SECOND, FilmedEnv
from warpzone.evaluate.video import VideoWriter
from warpzone.search.replay import RomPath, replay, verify
from warpzone.search.way import Way

_SCALE = 2
# Long enough to read what the princess says.
_LAST_FRAMES = 3 * FRAMES_PER_SECOND


class WayPolicy:
    """Plays the inputs of a way, then none."""

    def __init__(self, way: Way) -> None:
        """Takes the combinations of the way as its actions."""
        self._buttons = sorted({0, *way.inputs})
        self._inputs = way.inputs
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


def film_way(
    way: Way,
    output: Path,
    *,
    rom: RomPath = None,
    on_step: Callable[[int], None] | None = None,
) -> Outcome:
    """Films a way from the start of its level until the game goes on.

    Args:
        way: What to film; it is proved first.
        output: The video to write.
        rom: The game's image; by default `WARPZONE_ROM`, or the installed one.
        on_step: Called with the number of steps done.

    Raises:
        WayError: If the way does not clear its level.
    """
    verify(way, rom)
    scene = replay(way, rom).ending_frames - way.frames
    policy = WayPolicy(way)
    env = FilmedEnv(
        way.level, rom=rom, game=way.game, frame_skip=way.frame_skip, actions=list(policy.actions)
    )
    with VideoWriter(output, fps=FRAMES_PER_SECOND, scale=_SCALE) as video:
        return film_episode(
            env,
            policy,
            video.write,
            steps=len(way.inputs),
            after_clear=scene + _LAST_FRAMES,
            on_step=on_step,
        )
