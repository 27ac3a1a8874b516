"""`warpzone rom`: install, import and show ROMs."""

from __future__ import annotations

import sys
from dataclasses import MISSING, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from warpzone.commands.tables import table_console
from warpzone.config.environment import Game
from warpzone.config.option import option, positional

if TYPE_CHECKING:
    from warpzone.rom.locate import RomStatus


@dataclass(frozen=True)
class RomInstall:
    """Download the ROMs from a public Python package into your data folder.

    Lists what will be downloaded and asks first. ROMs that are already installed are kept.

    Examples:
      warpzone rom install
      warpzone rom install --accept     # in scripts
    """

    accept: bool = option(False, "Answer yes to the question; for scripts.")

    def run(self) -> int:
        """Asks for consent and installs the images."""
        from warpzone.rom.install import install

        install(self._confirm)
        return 0

    def _confirm(self, text: str) -> bool:
        from warpzone.errors import RomError

        print(text)
        if self.accept:
            return True
        if not sys.stdin.isatty():
            raise RomError(
                "cannot ask for consent without a terminal; run `warpzone rom install --accept`"
            )
        return input("Download? [y/N] ").strip().lower() in ("y", "yes")


@dataclass(frozen=True)
class RomImport:
    """Verify a copy of the game that you own and copy it into your data folder.

    Examples:
      warpzone rom import ~/games/smb.nes
      warpzone rom import lost-levels.nes --game lost-levels
    """

    file: Path = positional(MISSING, ".nes file to copy.", metavar="FILE")
    game: Game | None = option(
        None, "Game to install an unknown dump as; known dumps are recognized."
    )
    force: bool = option(
        False, "Let an unknown dump replace the installed ROM, which is kept otherwise."
    )

    def run(self) -> int:
        """Copies the ROM."""
        from warpzone.envs.backends.native import check_start
        from warpzone.rom.install import import_rom

        installed = import_rom(self.file, self.game, force=self.force, try_out=check_start)
        print(f"installed at {installed}")
        return 0


@dataclass(frozen=True)
class RomShow:
    """Show which ROMs are in use and identify them.

    Examples:
      warpzone rom status
      warpzone rom status --path
    """

    path: bool = option(False, "Print only the path of the ROM in use; fails if there is none.")
    game: Game = option("smb", "Game to show with --path.")

    def run(self) -> int:
        """Prints the table, or only the path."""
        from warpzone.rom import locate as roms

        if self.path:
            file = roms.find_rom(self.game)
            roms.read_rom(file, self.game)
            print(file)
            return 0
        return _print_table(roms.status())


def _print_table(rows: list[RomStatus]) -> int:
    from rich.table import Table

    table = Table()
    for heading in ("game", "name", "path", "sha256"):
        table.add_column(heading, overflow="fold")
    for row in rows:
        name = row.info.name if row.info else row.problem
        table.add_row(row.game, name, str(row.path or "-"), row.info.sha256 if row.info else "-")
    table_console().print(table)
    return 0
