"""The `warpzone` command: parsing, dispatch and how errors are shown."""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Protocol, TextIO

import tyro

from warpzone import __version__
from warpzone.commands.benches import Bench
from warpzone.commands.campaign import Campaign, campaign_defaults
from warpzone.commands.doctor import Doctor
from warpzone.commands.evaluate import Evaluate
from warpzone.commands.export import Export
from warpzone.commands.play import Play
from warpzone.commands.render import Render
from warpzone.commands.report import Report
from warpzone.commands.rom import Rom
from warpzone.commands.runs import Runs, RunsShow, Video
from warpzone.commands.scoreboard import Scores
from warpzone.commands.solve import Solve
from warpzone.commands.tools import Tools
from warpzone.commands.train import Train, settled, train_defaults
from warpzone.errors import WarpzoneError
from warpzone.system.os_errors import describe_os_error
from warpzone.system.text import printable

_DESCRIPTION = """Super Mario Bros. for reinforcement learning, fast and exact.

Examples:
  warpzone rom install        # fetch the game once, after a question
  warpzone rom status         # which files are in use
  warpzone render -o run.mp4  # film an episode of a scripted policy
  warpzone play --level 1-1   # play yourself, in a window
  warpzone train --level 1-1  # train a policy from scratch
  warpzone eval runs/mario-1-1   # how often it clears the level
  warpzone video runs/mario-1-1  # film it
  warpzone runs               # what was trained so far
  warpzone runs show runs/mario-1-1   # what its latest checkpoint holds
  warpzone export runs/mario-1-1 -o 1-1.policy   # its policy as one small file
  warpzone campaign --levels all -o campaign/   # train every level, keep a scoreboard
  warpzone scoreboard policies/  # how well each of the 32 levels is played
  warpzone report campaign/   # all of it as one page
  warpzone solve --level 8-4   # find a way through a level by search
  warpzone bench env          # how fast it runs here
  warpzone doctor             # what is wrong on this machine
  warpzone COMMAND --help     # options and examples of a command
  warpzone --version
"""

_EXIT_ERROR = 2
_EXIT_INTERRUPTED = 130  # 128 + SIGINT, as shells report it
_EXIT_BROKEN_PIPE = 141  # 128 + SIGPIPE


class Command(Protocol):
    """What every command's options class offers."""

    def run(self) -> int:
        """Does the work and returns the exit code."""


# Options classes import nothing heavy (torch, imageio, pygame) at module level, so that `--help`
# answers at once.
COMMANDS: dict[str, Callable[..., Command]] = {
    "rom": Rom,
    "train": Train,
    "eval": Evaluate,
    "video": Video,
    "runs": Runs,
    "campaign": Campaign,
    "export": Export,
    "scoreboard": Scores,
    "report": Report,
    "solve": Solve,
    "render": Render,
    "play": Play,
    "bench": Bench,
    "tools": Tools,
    "doctor": Doctor,
}

_PARSING = (
    tyro.conf.OmitSubcommandPrefixes,
    tyro.conf.OmitArgPrefixes,
    tyro.conf.FlagCreatePairsOff,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line.

    Args:
        arguments: What follows the program's name; `sys.argv` when None.

    Returns:
        The exit code.
    """
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    # Torch's threads otherwise spin while they wait for each other: with another busy program on
    # the machine, training was measured to be more than twenty times slower.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    _escape_unprintable()
    if arguments == ["--version"]:
        print(f"warpzone {__version__}")
        return 0
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        try:
            return _parse(arguments or ["--help"]).run()
        except WarpzoneError as error:
            return _fail(error)
        except KeyboardInterrupt:
            return _EXIT_INTERRUPTED
        except BrokenPipeError:
            # Whoever read the output has seen enough (`| head`). What is still to be written goes
            # nowhere, or Python complains at its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return _EXIT_BROKEN_PIPE
        except OSError as error:
            # A disk that is full or cannot be written, a missing permission, too many open files:
            # nothing that a traceback would help with, wherever it happens.
            return _fail(describe_os_error(error))


def _fail(reason: object) -> int:
    """Says what went wrong; names from files and paths must not control the terminal."""
    print(f"error: {printable(reason)}", file=sys.stderr)
    return _EXIT_ERROR


def _escape_unprintable() -> None:
    """Escapes characters that the terminal's encoding lacks instead of failing on them."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _parse(arguments: Sequence[str]) -> Command:
    if arguments[0] == "train":
        # Its defaults depend on some of its own options: the preset, a file, a run to resume.
        rest = settled(list(arguments[1:]))
        return tyro.cli(
            Train, prog="warpzone train", args=rest, default=train_defaults(rest), config=_PARSING
        )
    if arguments[0] == "campaign":
        rest = list(arguments[1:])
        return tyro.cli(
            Campaign,
            prog="warpzone campaign",
            args=rest,
            default=campaign_defaults(rest),
            config=_PARSING,
        )
    if arguments[:2] == ["runs", "show"]:
        # `runs` itself takes a folder, so this is no subcommand of it.
        rest = list(arguments[2:])
        return tyro.cli(RunsShow, prog="warpzone runs show", args=rest, config=_PARSING)
    command: Command = tyro.extras.subcommand_cli_from_dict(
        COMMANDS,
        prog="warpzone",
        description=_DESCRIPTION,
        args=arguments,
        config=_PARSING,
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
    print(f"warning: {printable(message)}", file=file or sys.stderr)
