"""`warpzone render`: records one episode as a video or image."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from warpzone.config.environment import Game
from warpzone.config.option import option
from warpzone.config.run import LARGEST_SEED

if TYPE_CHECKING:
    from rich.progress import Progress

    from warpzone.evaluation.policies import Policy
    from warpzone.video.episode import Outcome
    from warpzone.video.image import ImageWriter
    from warpzone.video.writer import VideoWriter

_ENDINGS = ".mp4, .gif or .png"


@dataclass(frozen=True)
class Render:
    """Record one episode of a scripted policy as mp4, GIF or PNG, depending on the file name.

    Examples:
      warpzone render -o run.mp4
      warpzone render --level 4-1 --fps 20 -o run.gif
      warpzone render --policy "RIGHT+B:30,RIGHT+A+B" -o last.png
      warpzone render --policy random --sheet 60 -o sheet.png
      warpzone render --obs tiles --show-obs -o tiles.mp4
      warpzone render -o sticky.mp4 --set sticky_prob=0.25 power=2
    """

    output: Path = option(
        Path("episode.mp4"),
        "File to write. A PNG shows the last frame, or a sheet.",
        short="-o",
        metavar="FILE",
    )
    level: str = option("1-1", "Level, or 'game' for the whole game.", metavar="LEVEL")
    policy: str = option(
        "scripted",
        "'random', 'scripted', 'right', or buttons and steps such as 'RIGHT+B:120,RIGHT+A+B:30'; "
        "the last buttons are held to the end.",
        metavar="POLICY",
    )
    actions: str = option(
        "simple",
        "Action set that 'random' samples from: right-only, simple, whole-game, complex, extended, "
        "or your own list such as 'NOOP,RIGHT+B'.",
        metavar="SET",
    )
    seed: int = option(
        0,
        "Seed of the environment and of 'random'.",
        at_least=0,
        at_most=LARGEST_SEED,
        metavar="SEED",
    )
    steps: int = option(1500, "Maximum steps.", at_least=1, at_most=1_000_000, metavar="STEPS")
    frame_skip: int = option(
        4, "Emulated frames per agent step.", at_least=1, at_most=60, metavar="FRAMES"
    )
    obs: Literal["pixels", "rgb", "tiles"] = option("pixels", "Observation, for --show-obs.")
    show_obs: bool = option(False, "Show the agent's observation next to the screen.")
    overlay: bool = option(
        True,
        "Draw a bar with the controller below the screen.",
        off="Do not draw the bar with the controller below the screen.",
    )
    fps: float = option(
        60.0,
        "Frames per second of video; the game's speed stays the same.",
        above=0.0,
        at_most=60.0,
        metavar="FPS",
    )
    scale: int | None = option(
        None,
        "Video pixels per pixel of the game; defaults to 2, or 1 with --sheet.",
        at_least=1,
        at_most=16,
        metavar="N",
    )
    sheet: int = option(
        0,
        "For a PNG: show every N-th frame in a grid instead of the last frame alone; 0 disables "
        "this.",
        at_least=0,
        at_most=100_000,
        metavar="N",
    )
    game: Game = option("smb", "Super Mario Bros. or The Lost Levels.")
    rom: Path | None = option(
        None,
        "ROM file to play. By default, WARPZONE_ROM or the installed ROM is used.",
        metavar="FILE",
    )
    set: tuple[str, ...] = option(
        (),
        "Additional parameters of the environment; docs/environment.md lists them.",
        metavar="NAME=VALUE",
    )

    def run(self) -> int:
        """Plays the episode and writes the file."""
        from warpzone.evaluation.policies import make_policy

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
        options = VideoOptions(self.fps, overlay=self.overlay, show_obs=self.show_obs)
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
