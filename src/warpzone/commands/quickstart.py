"""`warpzone quickstart`: from nothing to a trained policy and a video of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from warpzone.commands.command import Command
from warpzone.config.option import option
from warpzone.system.extras import require_extra


@dataclass(frozen=True)
class Quickstart:
    """Train World 1-1 on the CPU in a few minutes, evaluate the policy and record a video.

    Asks before it downloads the game, unless a ROM is installed. An interrupted quickstart resumes
    where it left off.

    Examples:
      warpzone quickstart
      warpzone quickstart --yes              # download the game without asking; for scripts
      warpzone quickstart --level 4-1 --runs experiments
    """

    yes: bool = option(False, "Download the game without asking if no ROM is installed.")
    level: str = option("1-1", "Level to train on.", metavar="LEVEL")
    runs: Path = option(
        Path("runs"), "Folder of the run; the video is written next to it.", metavar="FOLDER"
    )
    episodes: int = option(
        100, "Episodes of the evaluation.", at_least=1, at_most=100_000, metavar="N"
    )

    def run(self) -> int:
        """Takes the steps in turn; a step that fails ends the quickstart with its exit code."""
        self._check()
        self._install_rom()
        name = f"mario-{self.level}"
        run, video = self.runs / name, self.runs / f"{name}.mp4"
        steps = (self._training(run), self._evaluation(run), self._recording(run, video))
        for step in steps:
            code = step.run()
            if code != 0:
                return code
        print(f"\nThe video is {video}. Next steps:")
        print(f"  warpzone watch {run}      # watch the policy live in the browser")
        print("  warpzone train --level 1-2 --from-solutions included    # train the next level")
        print(f"  warpzone report {run} -o report.html    # curves and videos on one page")
        return 0

    def _check(self) -> None:
        """Refuses before anything is downloaded."""
        from warpzone.campaign.scoreboard import all_levels
        from warpzone.errors import ConfigError

        require_extra("train")
        if self.level not in all_levels():
            raise ConfigError(f"--level {self.level!r} is not a level; levels look like 1-1")

    def _install_rom(self) -> None:
        from warpzone.commands.rom import RomInstall
        from warpzone.rom.locate import find_rom, has_rom, read_rom

        if not has_rom("smb"):
            RomInstall(accept=self.yes).run()
        read_rom(find_rom("smb"), "smb")

    def _training(self, run: Path) -> Command:
        from warpzone.commands.train import Train

        if run.is_dir():
            return Train(resume=str(run), video=False)
        place = {"runs": str(self.runs), "name": run.name}
        options = {"env": {"level": self.level}, "run": place}
        return Train(preset="cpu-quick", video=False, training=options)

    def _evaluation(self, run: Path) -> Command:
        from warpzone.commands.evaluate import Evaluate

        return Evaluate(run_path=run, episodes=self.episodes)

    def _recording(self, run: Path, video: Path) -> Command:
        from warpzone.commands.video import Video

        return Video(run_path=run, output=video)
