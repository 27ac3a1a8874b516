"""`warpzone render`: one episode as a video or picture."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

if TYPE_CHECKING:
    from rich.progress import Progress

    from warpzone.evaluate.policies import Policy
    from warpzone.video.episode import Outcome
    from warpzone.video.image import ImageWriter
    from warpzone.video.writer import VideoWriter

_ENDINGS = ".mp4, .gif or .png"


@dataclass(frozen=True)
class Render:
    """Film one episode of a policy: mp4, GIF, or PNG, by the file's ending.

    For example:
      warpzone render -o run.mp4
      warpzone render --level 4-1 --fps 20 -o run.gif
      warpzone render --policy "RIGHT+B:30,RIGHT+A+B" -o last.png
      warpzone render --policy random --sheet 60 -o sheet.png
      warpzone render --obs tiles --show-obs -o tiles.mp4
      warpzone render -o sticky.mp4 --set sticky_prob=0.25 power=2
    """

    output: Annotated[Path, tyro.conf.arg(aliases=["-o"], metavar="FILE")] = Path("episode.mp4")
    """The file to write. A PNG shows the last frame, or a sheet."""
    level: str = "1-1"
    """A level, or 'game' for the whole game."""
    policy: str = "scripted"
    """'random', 'scripted', 'right', or buttons and steps such as "RIGHT+B:120,RIGHT+A+B:30";
    the last entry is held to the end."""
    actions: str = "simple"
    """The action set that 'random' draws from: right-only, simple, complex or extended."""
    seed: int = 0
    """Of the environment and of 'random'."""
    steps: int = 1500
    """Most agent steps."""
    frame_skip: int = 4
    """Emulated frames for each agent step."""
    obs: Literal["pixels", "rgb", "tiles"] = "pixels"
    """What the agent sees, for --show-obs."""
    show_obs: bool = False
    """Show what the agent sees beside the screen."""
    plain: bool = False
    """Leave out the bar with the controller below the screen."""
    fps: float = 60.0
    """Pictures for each second of the game, 60 at most; the speed stays that of the game."""
    scale: int | None = None
    """How many times larger each pixel becomes; by default 2, and 1 for a sheet."""
    sheet: int = 0
    """For a PNG: N shows every N-th picture in a grid, instead of the last one alone."""
    game: Literal["smb", "lost-levels"] = "smb"
    """The game to play."""
    rom: Path | None = None
    """The game's image; by default WARPZONE_ROM, or the installed one."""
    set: Annotated[tuple[str, ...], tyro.conf.arg(metavar="NAME=VALUE")] = ()
    """More parameters of the environment, as docs/environment.md lists them."""

    def run(self) -> int:
        """Plays the episode and writes the file."""
        from warpzone.evaluate.policies import make_policy

        self._check()
        policy = make_policy(self.policy, actions=self.actions, seed=self.seed)
        with self._writer() as writer, _progress() as progress:
            task = progress.add_task(f"{self.level} {self.policy}", total=self.steps)
            outcome = self._record(
                policy, writer, lambda step: progress.update(task, completed=step)
            )
        print(f"{self.level}: {outcome}")
        print(f"wrote {self.output}: {writer.frames} frames")
        return 0

    def _check(self) -> None:
        from warpzone.errors import ConfigError

        if self.steps < 1:
            raise ConfigError(f"--steps is {self.steps}; it must be at least 1")
        if not 0 < self.fps <= 60:
            raise ConfigError(f"--fps is {self.fps:g}; it must be above 0 and at most 60")
        if self.sheet and self.output.suffix.lower() != ".png":
            raise ConfigError(f"--sheet makes a PNG, but --output is {self.output}")

    def _record(
        self, policy: Policy, writer: VideoWriter | ImageWriter, on_step: Callable[[int], None]
    ) -> Outcome:
        from warpzone.commands.environment import parse_settings
        from warpzone.video.episode import VideoOptions, record_episode
        from warpzone.video.recorded_env import RecordedEnv

        env = RecordedEnv(
            self.level,
            rom=self.rom,
            game=self.game,
            obs=self.obs,
            **{
                "frame_skip": self.frame_skip,
                "actions": list(policy.actions),
                **parse_settings(self.set),
            },
        )
        options = VideoOptions(self.fps, overlay=not self.plain, show_obs=self.show_obs)
        return record_episode(
            env,
            policy,
            writer.write,
            seed=self.seed,
            steps=self.steps,
            options=options,
            on_step=on_step,
        )

    def _writer(self) -> VideoWriter | ImageWriter:
        from warpzone.errors import ConfigError
        from warpzone.video.image import ImageWriter
        from warpzone.video.writer import VIDEO_SUFFIXES, VideoWriter

        ending = self.output.suffix.lower()
        if ending == ".png":
            return ImageWriter(self.output, self.scale or (1 if self.sheet else 2), self.sheet)
        if ending in VIDEO_SUFFIXES:
            return VideoWriter(self.output, self.fps, 2 if self.scale is None else self.scale)
        raise ConfigError(f"--output is {self.output}; its name must end with {_ENDINGS}")


def _progress() -> Progress:
    from rich.console import Console
    from rich.progress import Progress

    return Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty())
