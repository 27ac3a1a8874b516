"""`warpzone rom`: install, import and show the game's images."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from warpzone.commands.tables import table_console

if TYPE_CHECKING:
    from warpzone.rom.locate import RomStatus

Game = Literal["smb", "lost-levels"]


@dataclass(frozen=True)
class RomInstall:
    """Download the game's images from a public Python package into your data folder.

    Says what is fetched and asks before anything happens. Images that are already installed stay.

    For example:
      warpzone rom install
      warpzone rom install --accept     # in scripts
    """

    accept: bool = False
    """Answer the question with yes, for scripts."""

    def run(self) -> int:
        """Installs the images, after asking."""
        from warpzone.rom import locate as roms

        roms.install(self._confirm)
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
    """Check a copy of the game that you have and copy it into your data folder.

    For example:
      warpzone rom import ~/games/smb.nes
      warpzone rom import lost-levels.nes --game lost-levels
    """

    file: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="FILE")]
    """The .nes file to copy."""
    game: Game | None = None
    """The game to install an unknown dump as; known dumps are recognised."""

    def run(self) -> int:
        """Copies the image."""
        from warpzone.rom import locate as roms

        print(f"installed at {roms.import_rom(self.file, self.game)}")
        return 0


@dataclass(frozen=True)
class RomShow:
    """Show which files are in use and what they are.

    For example:
      warpzone rom status
      warpzone rom status --path
    """

    path: bool = False
    """Print only the path of the file in use; fail with a sentence when there is none."""
    game: Game = "smb"
    """The game that --path is about."""

    def run(self) -> int:
        """Prints the table, or only the path."""
        from warpzone.rom import locate as roms

        if self.path:
            file = roms.find_rom(self.game)
            roms.read_rom(file, self.game)
            print(file)
            return 0
        return _print_table(roms.status())


@dataclass(frozen=True)
class Rom:
    """Install, import and show the game's images.

    For example:
      warpzone rom install
      warpzone rom import ~/games/smb.nes
      warpzone rom status
    """

    command: (
        Annotated[RomInstall, tyro.conf.subcommand("install")]
        | Annotated[RomImport, tyro.conf.subcommand("import")]
        | Annotated[RomShow, tyro.conf.subcommand("status")]
    )

    def run(self) -> int:
        """Runs the chosen subcommand."""
        return self.command.run()


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
