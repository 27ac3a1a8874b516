"""The `warpzone` command: dispatch, and how errors are shown."""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections.abc import Sequence
from typing import TextIO

from warpzone import __version__
from warpzone.commands.bench_env import BenchEnv
from warpzone.commands.bench_overlap import BenchOverlap
from warpzone.commands.bench_replay import BenchReplay
from warpzone.commands.bench_train import BenchTrain
from warpzone.commands.campaign import Campaign
from warpzone.commands.command import Command, Group, description, summary
from warpzone.commands.dashboard import Dashboard
from warpzone.commands.doctor import Doctor
from warpzone.commands.evaluate import Evaluate
from warpzone.commands.export import Export
from warpzone.commands.parser import parse_command
from warpzone.commands.play import Play
from warpzone.commands.plugins import PluginOptions
from warpzone.commands.render import Render
from warpzone.commands.report import Report
from warpzone.commands.rom import RomImport, RomInstall, RomShow
from warpzone.commands.runs import RunsList, RunsShow
from warpzone.commands.scoreboard import Scores
from warpzone.commands.solve import Solve
from warpzone.commands.steer import (
    RunsPause,
    RunsRecord,
    RunsResume,
    RunsSave,
    RunsSet,
    RunsStop,
)
from warpzone.commands.tools import Backfill
from warpzone.commands.train import Train
from warpzone.commands.video import Video
from warpzone.config.values import suggestion
from warpzone.errors import ConfigError, WarpzoneError
from warpzone.registry import load_plugins
from warpzone.system.os_errors import describe_os_error
from warpzone.system.text import printable

_DESCRIPTION = """Super Mario Bros. for reinforcement learning, fast and exact.

Examples:
  warpzone rom install                  # download the game once, after asking
  warpzone train --level 1-1            # train a policy from scratch
  warpzone eval runs/mario-1-1          # how often it clears the level
  warpzone video runs/mario-1-1         # record it
  warpzone runs list                    # what has been trained so far
  warpzone dashboard                    # all runs in the browser, live
  warpzone solve --level 8-4            # find inputs that clear a level by search
  warpzone play --level 1-1             # play yourself, in a window
  warpzone doctor                       # what is wrong on this machine"""

# Options classes import nothing heavy (torch, imageio, pygame) at module level, so that `--help`
# answers at once.
COMMANDS: dict[str, type[Command] | Group] = {
    "rom": Group(
        "Install, import and show game images.",
        {"install": RomInstall, "import": RomImport, "status": RomShow},
    ),
    "train": Train,
    "eval": Evaluate,
    "video": Video,
    "runs": Group(
        "List runs, inspect checkpoints, and steer runs that are training.",
        {
            "list": RunsList,
            "show": RunsShow,
            "set": RunsSet,
            "pause": RunsPause,
            "resume": RunsResume,
            "save": RunsSave,
            "record": RunsRecord,
            "stop": RunsStop,
        },
    ),
    "dashboard": Dashboard,
    "campaign": Campaign,
    "export": Export,
    "scoreboard": Scores,
    "report": Report,
    "solve": Solve,
    "render": Render,
    "play": Play,
    "bench": Group(
        "Measure how fast things run on this machine.",
        {"env": BenchEnv, "train": BenchTrain, "overlap": BenchOverlap, "replay": BenchReplay},
    ),
    "tools": Group("Repair files of earlier versions.", {"backfill": Backfill}),
    "doctor": Doctor,
}

_EXIT_ERROR = 2
_EXIT_INTERRUPTED = 130  # 128 + SIGINT, as shells report it
_EXIT_BROKEN_PIPE = 141  # 128 + SIGPIPE
_HELP = ("-h", "--help", "--help-all")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line.

    Args:
        arguments: What follows the program's name; `sys.argv` when None.

    Returns:
        The exit code.
    """
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    _escape_unprintable()
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        try:
            return _dispatch(arguments)
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


def _dispatch(arguments: list[str]) -> int:
    if arguments == ["--version"]:
        print(f"warpzone {__version__}")
        return 0
    command: type[Command] | Group = Group(_DESCRIPTION, COMMANDS)
    names: list[str] = []
    rest = arguments
    while isinstance(command, Group):
        group = " ".join(["warpzone", *names])
        if not rest or rest[0] in _HELP:
            return _print_group(group, command)
        word, *rest = rest
        if word not in command.commands:
            known = command.commands
            remedy = suggestion(word, known) or f"; there are {', '.join(known)}"
            raise ConfigError(f"`{group}` has no command {word!r}{remedy}")
        names.append(word)
        command = command.commands[word]
    try:
        parsed = parse_command(command, " ".join(names), rest)
    except SystemExit:  # --help
        sys.stdout.flush()  # Here, where a reader that has gone away is expected.
        return 0
    if isinstance(parsed, PluginOptions):
        load_plugins(parsed.plugin)
    return parsed.run()


def _print_group(name: str, group: Group) -> int:
    """Prints what the commands of a group do."""
    lines = [f"usage: {name} COMMAND [options]", "", description(group), "", "Commands:"]
    lines += [f"  {word:<12}{summary(command)}" for word, command in group.commands.items()]
    lines += ["", f"`{name} COMMAND --help` shows the options and examples of a command."]
    print("\n".join(lines), flush=True)
    return 0


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
