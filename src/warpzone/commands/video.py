"""`warpzone video`: records a trained policy or a solution."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from warpzone.commands.plugins import PluginOptions
from warpzone.config.option import option, positional
from warpzone.config.run import LARGEST_SEED

if TYPE_CHECKING:
    from collections.abc import Callable

    from warpzone.video.choosing import OnProgress
    from warpzone.video.video_format import VideoFormat

_MAX_GAMES = 10


@dataclass(frozen=True)
class Video(PluginOptions):
    """Record an episode of a trained policy, or a solution that `warpzone solve` found.

    Examples:
      warpzone video 1-1                                  # the policy that comes with Warpzone
      warpzone video runs/mario-1-1 -o run.mp4
      warpzone video runs/mario-1-1 --level 1-2 --seed 3 -o run.gif
      warpzone video runs/mario-1-1 --speed 4 --scale 3 --fps 30 -o fast.mp4
      warpzone video 1-1 --sound -o music.mp4
      warpzone video runs/mario-1-1 --contact-sheet -o many.mp4
      warpzone video runs/mario-1-1 --contact-sheet --num-envs 36 -o ends.png
      warpzone video policies/ --level 1-2 -o 1-2.mp4
      warpzone video policies/ --level game -o game.mp4   # a whole game, each policy on its levels
      warpzone video 8-4.solution -o 8-4.mp4              # a file, or one that comes with Warpzone
    """

    run_path: Path = positional(
        MISSING,
        "Folder of a run or its name below runs/, a checkpoint, a policy file, a folder of those "
        "(--level chooses one), a level, for the policy that comes with Warpzone, or a .solution "
        "file, which fixes level and inputs.",
        metavar="RUN",
    )
    output: Path = option(
        Path("run.mp4"),
        "File to write: .mp4 or .gif; a contact sheet can also be a .png.",
        short="-o",
        metavar="FILE",
    )
    level: str | None = option(
        None,
        "Level to play instead of the run's own; 'game' is the whole game with three lives.",
        metavar="LEVEL",
    )
    seed: int = option(
        0,
        "Seed of the episode. Up to ten consecutive seeds are tried, starting with this one; the "
        "first episode that clears is recorded, or else the one that gets furthest.",
        at_least=0,
        at_most=LARGEST_SEED,
        metavar="SEED",
    )
    greedy: bool = option(False, "Always take the most likely action instead of sampling one.")
    speed: float | None = option(
        None,
        "Speed of the game in the video: 2 is twice as fast, 0.5 is slow motion. Defaults to 1, or "
        "2 for a GIF.",
        at_least=0.0625,
        at_most=16.0,
        metavar="FACTOR",
    )
    scale: int | None = option(
        None,
        "Video pixels per pixel of the game. Defaults to 2, or 1 for a GIF or a contact sheet.",
        at_least=1,
        at_most=16,
        metavar="N",
    )
    fps: float | None = option(
        None,
        "Frames per second of video; the speed stays the same. Defaults to 60, or 20 for a GIF.",
        above=0.0,
        at_most=60.0,
        metavar="FPS",
    )
    sound: bool = option(
        False,
        "Add the sound of the game; for an .mp4 at speed 1, without --contact-sheet.",
    )
    contact_sheet: bool = option(
        False,
        "Show many environments side by side, one episode each; the color of the border shows how "
        "the episode ended.",
    )
    num_envs: int = option(
        16, "Number of environments in a contact sheet.", at_least=1, at_most=256, metavar="N"
    )
    rom: Path | None = option(
        None,
        "ROM file to play. By default, the ROM that the run was trained with, WARPZONE_ROM or "
        "the installed ROM is used.",
        metavar="FILE",
    )

    def run(self) -> int:
        """Records the video."""
        from warpzone.commands.progress import CommandProgress

        if self.run_path.suffix == ".solution":
            self._check_solution()
            record: Callable[[OnProgress], list[str]] = self._record_solution
        else:
            from warpzone.evaluation.targets import find_target  # Needs torch.

            target = find_target(self.run_path)
            found = replace(self, run_path=target.path, level=self.level or target.level)
            record = found._recorder()
        with CommandProgress() as bar:
            lines = record(bar.update)
        for line in (*lines, f"wrote {self.output}"):
            print(line)
        return 0

    def _recorder(self) -> Callable[[OnProgress], list[str]]:
        """Returns what records this kind of video; it returns lines to print."""
        if self.contact_sheet:
            return self._record_sheet
        return self._record_game if self.level == "game" else self._record_policy

    def _format(self) -> VideoFormat:
        from warpzone.video.video_format import VideoFormat

        return VideoFormat(self.scale, self.fps, self.speed, self.sound)

    def _record_policy(self, progress: OnProgress) -> list[str]:
        from warpzone.video.policy_video import record_policy

        recording = record_policy(
            self.run_path,
            self.output,
            level=self.level,
            seed=self.seed,
            greedy=self.greedy,
            rom=self.rom,
            video_format=self._format(),
            progress=progress,
        )
        return [f"{recording.choice.reason}: {recording.outcome}"]

    def _record_sheet(self, progress: OnProgress) -> list[str]:
        from warpzone.video.contact_sheet import record_contact_sheet

        record_contact_sheet(
            self.run_path,
            self.output,
            num_envs=self.num_envs,
            level=self.level,
            seed=self.seed,
            greedy=self.greedy,
            rom=self.rom,
            video_format=self._format(),
            progress=progress,
        )
        return []

    def _record_game(self, progress: OnProgress) -> list[str]:
        from warpzone.video.game_video import record_game

        recording = record_game(
            self.run_path,
            self.output,
            seed=self.seed,
            greedy=self.greedy,
            max_seeds=_MAX_GAMES,
            rom=self.rom,
            video_format=self._format(),
            progress=progress,
        )
        cleared = recording.outcome.info["clears"]
        return [recording.choice.reason, f"{cleared} levels cleared; {recording.outcome}"]

    def _check_solution(self) -> None:
        from warpzone.errors import ConfigError

        if self.level is not None or self.seed != 0 or self.greedy or self.contact_sheet:
            raise ConfigError(
                "a solution has fixed inputs; omit --level, --seed, --greedy and --contact-sheet"
            )

    def _record_solution(self, progress: OnProgress) -> list[str]:
        from warpzone.search.solution import included_solution, read_solution
        from warpzone.video.solution_video import record_solution

        solution = read_solution(included_solution(self.run_path))
        steps = len(solution.inputs)
        outcome = record_solution(
            solution,
            self.output,
            rom=self.rom,
            video_format=self._format(),
            on_step=lambda step: progress("recording", step, steps),
        )
        return [f"{solution.level}: {outcome}"]
