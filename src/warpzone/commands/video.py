"""`warpzone video`: records a trained policy or a solution."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, replace
from pathlib import Path

from warpzone.commands.plugins import PluginOptions
from warpzone.config.option import option, positional
from warpzone.config.run import LARGEST_SEED

_MAX_GAMES = 10


@dataclass(frozen=True)
class Video(PluginOptions):
    """Record an episode of a trained policy, or a solution that `warpzone solve` found.

    Examples:
      warpzone video 1-1                                  # the policy that comes with Warpzone
      warpzone video runs/mario-1-1 -o run.mp4
      warpzone video runs/mario-1-1 --level 1-2 --seed 3 -o run.gif
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
        "first episode that clears the level is recorded, or else the game that gets furthest.",
        at_least=0,
        at_most=LARGEST_SEED,
        metavar="SEED",
    )
    greedy: bool = option(False, "Always take the most likely action instead of sampling one.")
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
        if self.run_path.suffix == ".solution":
            return self._record_solution()
        from warpzone.evaluation.targets import find_target

        target = find_target(self.run_path)
        found = replace(self, run_path=target.path, level=self.level or target.level)
        return found._record_policy()

    def _record_policy(self) -> int:
        if self.contact_sheet:
            from warpzone.video.contact_sheet import record_contact_sheet

            path = record_contact_sheet(
                self.run_path,
                self.output,
                num_envs=self.num_envs,
                level=self.level,
                seed=self.seed,
                greedy=self.greedy,
                rom=self.rom,
            )
            print(f"wrote {path}")
            return 0
        from warpzone.video.policy_video import record_policy

        if self.level == "game":
            return self._record_game()
        path = record_policy(
            self.run_path,
            self.output,
            level=self.level,
            seed=self.seed,
            greedy=self.greedy,
            rom=self.rom,
        )
        print(f"wrote {path}")
        return 0

    def _record_game(self) -> int:
        from warpzone.video.game_video import record_game

        path, outcome = record_game(
            self.run_path,
            self.output,
            seed=self.seed,
            greedy=self.greedy,
            max_seeds=_MAX_GAMES,
            rom=self.rom,
        )
        print(f"{outcome.info['clears']} levels cleared; {outcome}")
        print(f"wrote {path}")
        return 0

    def _record_solution(self) -> int:
        from warpzone.errors import ConfigError
        from warpzone.search.solution import included_solution, read_solution
        from warpzone.video.solution_video import record_solution

        if self.level is not None or self.seed != 0 or self.greedy or self.contact_sheet:
            raise ConfigError(
                "a solution has fixed inputs; omit --level, --seed, --greedy and --contact-sheet"
            )
        solution = read_solution(included_solution(self.run_path))
        outcome = record_solution(solution, self.output, rom=self.rom)
        print(f"{solution.level}: {outcome}")
        print(f"wrote {self.output}")
        return 0
