"""`warpzone scoreboard`: shows, verifies and extends a scoreboard."""

from __future__ import annotations

from dataclasses import MISSING, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from warpzone.commands.plugins import PluginOptions
from warpzone.commands.tables import table_console
from warpzone.config.option import option, positional
from warpzone.system.cpu import processor_cores

if TYPE_CHECKING:
    from warpzone.campaign.measurer import Measurer
    from warpzone.campaign.scoreboard import Scoreboard
    from warpzone.commands.progress import CommandProgress

_EXIT_DIFFERS = 1


@dataclass(frozen=True)
class Scores(PluginOptions):
    """Show how often each of the 32 levels is cleared, and verify it.

    The folder is a campaign, or a folder of policies with its scoreboard.json. The table is printed
    and written as scoreboard.md, .json and .png. A row is measured once, with episodes whose seeds
    follow from the SHA-256 of the policy file. All measurements are kept in measurements.jsonl.

    Examples:
      warpzone scoreboard campaign/
      warpzone scoreboard campaign/ --verify
      warpzone scoreboard campaign/ --export policies/    # policies that reach the goal
      warpzone scoreboard policies/ --add runs/mario-1-1 runs/mario-1-2
      warpzone scoreboard policies/ --merge campaign/ other-campaign/
      warpzone scoreboard policies/ --verify --level 1-1
    """

    folder: Path = positional(
        MISSING, "A campaign, or a folder of policies with its scoreboard.", metavar="FOLDER"
    )
    verify: bool = option(
        False,
        "Repeat every row and compare: hashes and clears must be equal. Writes nothing.",
    )
    level: str = option("", "With --verify: only these levels.", metavar="LEVELS")
    export: Path | None = option(
        None,
        "Copy the policies that reach the goal, with their rows, into a folder.",
        metavar="FOLDER",
    )
    add: tuple[Path, ...] = option(
        (),
        "Measure these runs, checkpoints or policy files, and add those that play a level better "
        "than the current policy; a new folder starts an empty scoreboard. A file that was "
        "measured before keeps its measurement: train it further to get a new one.",
        metavar="RUN",
    )
    merge: tuple[Path, ...] = option(
        (),
        "Take the rows of these scoreboards that are better, with their policies, and all of their "
        "measurements. Nothing is measured again.",
        metavar="FOLDER",
    )
    jobs: int = option(
        0,
        "With --add and --verify: number of measurements to play at the same time, each in a "
        "process of its own; 0 means one per core. Results are the same for any number.",
        at_least=0,
        at_most=1024,
        metavar="N",
    )
    goal: float = option(
        0.9,
        "Clear rate that counts as mastered, for a new scoreboard.",
        above=0.0,
        at_most=1.0,
        metavar="RATE",
    )
    episodes: int = option(
        400,
        "Episodes of each clear rate, for a new scoreboard; the other protocols have at most 100.",
        at_least=1,
        at_most=100_000,
        metavar="N",
    )

    def run(self) -> int:
        """Shows, verifies or extends a scoreboard."""
        from warpzone.campaign.board_json import read_board

        if self.merge:
            board = self._merge()
        else:
            board = self._add() if self.add else read_board(self.folder)
        if self.verify:
            return self._verify(board)
        self._show(board)
        if self.export is not None:
            from warpzone.campaign.board_files import export_reached

            chosen = export_reached(self.folder, board, self.export)
            count = len(chosen.rows)
            print(f"{count} level{'' if count == 1 else 's'} exported to {self.export}")
        return 0

    def _open(self) -> Scoreboard:
        from warpzone.campaign.board_files import open_board
        from warpzone.campaign.scoreboard import Measuring, Scoreboard

        others = min(self.episodes, Measuring().other_episodes)
        return open_board(self.folder, Scoreboard(self.goal, Measuring(self.episodes, others)))

    def _merge(self) -> Scoreboard:
        from warpzone.campaign.board_merge import merge_board
        from warpzone.campaign.board_text import score_line

        board = self._open()
        for source in self.merge:
            board, taken = merge_board(self.folder, board, source)
            for row in taken:
                print(f"{row.level} from {source}: {score_line(row)}", flush=True)
            if not taken:
                print(f"no row of {source} is better", flush=True)
        return board

    def _measurer(self, bar: CommandProgress) -> Measurer:
        from warpzone.campaign.measurer import Measurer

        return Measurer(self.jobs or processor_cores(), self.plugin, bar.update)

    def _add(self) -> Scoreboard:
        from warpzone.campaign.board_files import add_policy
        from warpzone.campaign.board_text import score_line
        from warpzone.commands.progress import CommandProgress

        board = self._open()
        for target in self.add:
            with CommandProgress("episodes") as bar:
                added = add_policy(self.folder, board, target, measurer=self._measurer(bar))
            board = added.board
            taken = {row.level for row in added.taken}
            for row in added.rows:
                text = f"{row.level}: {score_line(row)}"
                if added.known:
                    text += "; measured before, and a policy is measured only once"
                elif row.level not in taken:
                    text += "; the existing row is as good and is kept"
                print(text, flush=True)
        return board

    def _show(self, board: Scoreboard) -> None:
        from rich.table import Table

        from warpzone.campaign.board_files import publish
        from warpzone.campaign.board_text import HEADINGS, how, table_rows
        from warpzone.campaign.scoreboard import all_levels

        publish(self.folder, board)
        table = Table()
        for heading in HEADINGS:
            table.add_column(heading, justify="left" if heading in _TEXT else "right")
        for level, cells in zip(all_levels(), table_rows(board), strict=True):
            style = "green" if board.reaches(level) else "" if level in board.rows else "dim"
            table.add_row(*cells, style=style)
        screen = table_console()
        screen.print(table)
        screen.print(f"{board.summary} ({how(board)})")
        screen.print(f"written: {self.folder / 'scoreboard'}.json, .md and .png")

    def _verify(self, board: Scoreboard) -> int:
        from warpzone.campaign.verify import verify
        from warpzone.commands.progress import CommandProgress
        from warpzone.envs.setup import expand_levels
        from warpzone.errors import ScoreboardError

        levels = expand_levels(self.level) if self.level else []
        missing = [level for level in levels if level not in board.rows]
        if missing:
            raise ScoreboardError(f"{self.folder} has no row for {', '.join(missing)}")
        checked = held = 0
        with CommandProgress("episodes") as bar:
            for verdict in verify(self.folder, board, levels, self._measurer(bar)):
                checked += 1
                held += not verdict.problems
                print(verdict, flush=True)
        if not checked:
            raise ScoreboardError(f"{self.folder} has no rows to verify yet")
        print(f"{held} of {checked} rows verified; {board.summary}")
        return 0 if held == checked else _EXIT_DIFFERS


_TEXT = ("level", "commit", "sha256", "ends")
