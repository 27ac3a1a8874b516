"""The `warpzone` command: parsing, dispatch and how errors are shown."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Protocol, TextIO

import tyro

from warpzone import __version__
from warpzone.commands.rom import Rom
from warpzone.errors import WarpzoneError

_DESCRIPTION = """Super Mario Bros. for reinforcement learning, fast and exact.

Examples:
  warpzone rom install        # fetch the game once, after a question
  warpzone rom status         # which files are in use
  warpzone COMMAND --help     # options and examples of a command
  warpzone --version
"""

_EXIT_ERROR = 2
_EXIT_INTERRUPTED = 130  # 128 + SIGINT, as shells report it


class Command(Protocol):
    """What every command's options class offers."""

    def run(self) -> int:
        """Does the work and returns the exit code."""


# Options classes import nothing heavy at module level, so that `--help` answers at once.
COMMANDS: dict[str, Callable[..., Command]] = {
    "rom": Rom,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line.

    Args:
        arguments: What follows the program's name; `sys.argv` when None.

    Returns:
        The exit code.
    """
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    if arguments == ["--version"]:
        print(f"warpzone {__version__}")
        return 0
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        try:
            return _parse(arguments or ["--help"]).run()
        except WarpzoneError as error:
            print(f"error: {error}", file=sys.stderr)
            return _EXIT_ERROR
        except KeyboardInterrupt:
            return _EXIT_INTERRUPTED


def _parse(arguments: Sequence[str]) -> Command:
    command: Command = tyro.extras.subcommand_cli_from_dict(
        COMMANDS,
        prog="warpzone",
        description=_DESCRIPTION,
        args=arguments,
        config=(
            tyro.conf.OmitSubcommandPrefixes,
            tyro.conf.OmitArgPrefixes,
            tyro.conf.FlagCreatePairsOff,
        ),
    )
    return command


def _show_warning(  # noqa: PLR0917 - the signature is given by the warnings module
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Shows a warning to a person: the sentence, without the source line that raised it."""
    del category, filename, lineno, line
    print(f"warning: {message}", file=file or sys.stderr)
