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
from warpzone.commands.cluster import ClusterTrain
from warpzone.commands.command import Command, Group, description, summary
from warpzone.commands.dashboard import Dashboard
from warpzone.commands.doctor import Doctor
from warpzone.commands.evaluate import Evaluate
from warpzone.commands.export import Export
from warpzone.commands.parser import parse_command
from warpzone.commands.play import Play
from warpzone.commands.plugins import PluginOptions
from warpzone.commands.quickstart import Quickstart
from warpzone.commands.render import Render
from warpzone.commands.report import Report
from warpzone.commands.rom import RomImport, RomInstall, RomShow
from warpzone.commands.runs_compare import RunsCompare
from warpzone.commands.runs_list import RunsList
from warpzone.commands.runs_show import RunsShow
from warpzone.commands.scoreboard import Scores
from warpzone.commands.solve import Solve
from warpzone.commands.steer import (
    RunsEvaluate,
    RunsPause,
    RunsRecord,
    RunsResume,
    RunsSave,
    RunsSet,
    RunsStop,
)
from warpzone.commands.sweep import Sweep, SweepShow
from warpzone.commands.tools import Backfill
from warpzone.commands.train import Train
from warpzone.commands.video import Video
from warpzone.commands.watch import Watch
from warpzone.config.values import suggestion
from warpzone.errors import ConfigError, WarpzoneError
from warpzone.registry import load_plugins
from warpzone.system.extras import missing_module
from warpzone.system.os_errors import describe_os_error
from warpzone.system.text import printable

_DESCRIPTION = """Super Mario Bros. for reinforcement learning, fast and exact.

Examples:
  warpzone quickstart                   # train World 1-1, evaluate the policy, record a video
  warpzone rom install                  # download the game once, after asking
  warpzone train --level 1-1            # train a policy from scratch
  warpzone eval runs/mario-1-1          # measure how often it clears the level
  warpzone video runs/mario-1-1         # record a video of it
  warpzone runs list                    # list all runs
  warpzone dashboard                    # show all runs live in the browser
  warpzone solve --level 8-4            # find inputs that clear a level by search
  warpzone watch 1-1                    # watch a trained policy live in the browser
  warpzone play --level 1-1             # play the game yourself
  warpzone doctor                       # check this machine"""

# Options classes import nothing heavy (torch, imageio, pygame) at module level, so that `--help`
# responds quickly.
COMMANDS: dict[str, type[Command] | Group] = {
    "rom": Group(
        "Install, import and show ROMs.",
        {"install": RomInstall, "import": RomImport, "status": RomShow},
    ),
    "quickstart": Quickstart,
    "train": Train,
    "eval": Evaluate,
    "video": Video,
    "runs": Group(
        "List and compare runs, inspect checkpoints, and steer runs that are training.",
        {
            "list": RunsList,
            "show": RunsShow,
            "compare": RunsCompare,
            "set": RunsSet,
            "pause": RunsPause,
            "resume": RunsResume,
            "save": RunsSave,
            "record": RunsRecord,
            "evaluate": RunsEvaluate,
            "stop": RunsStop,
        },
    ),
    "dashboard": Dashboard,
    "watch": Watch,
    "cluster": Group("Train on several machines with Ray.", {"train": ClusterTrain}),
    "campaign": Campaign,
    "sweep": Group(summary(Sweep), {"show": SweepShow}, default=Sweep),
    "export": Export,
    "scoreboard": Scores,
    "report": Report,
    "solve": Solve,
    "render": Render,
    "play": Play,
    "bench": Group(
        "Run benchmarks on this machine.",
        {"env": BenchEnv, "train": BenchTrain, "overlap": BenchOverlap, "replay": BenchReplay},
    ),
    "tools": Group("Repair files written by earlier versions.", {"backfill": Backfill}),
    "doctor": Doctor,
}

_EXIT_ERROR = 2
_EXIT_INTERRUPTED = 130  # 128 + SIGINT, as shells report it
_EXIT_BROKEN_PIPE = 141  # 128 + SIGPIPE
_HELP = ("-h", "--help", "--help-all")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line.

    Args:
        arguments: Command-line arguments without the program's name; defaults to `sys.argv[1:]`.

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
        except ModuleNotFoundError as error:
            missing = missing_module(error.name)
            if missing is None:
                raise
            return _fail(missing)
        except KeyboardInterrupt:
            return _EXIT_INTERRUPTED
        except BrokenPipeError:
            # The reader has closed the pipe (`| head`). Redirect the remaining output to /dev/null;
            # otherwise Python reports an error when it flushes stdout at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return _EXIT_BROKEN_PIPE
        except OSError as error:
            # A full or read-only disk, a missing permission, too many open files: a traceback would
            # not help with any of these.
            return _fail(describe_os_error(error))


def _fail(reason: object) -> int:
    """Prints an error, with control characters escaped: file names must not drive the terminal."""
    print(f"error: {printable(reason)}", file=sys.stderr)
    return _EXIT_ERROR


def _escape_unprintable() -> None:
    """Makes the output streams escape characters that the terminal's encoding lacks."""
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
        if command.default is not None and (not rest or rest[0] not in command.commands):
            command = command.default
            break
        if not rest or rest[0] in _HELP:
            return _print_group(group, command)
        word, *rest = rest
        if word not in command.commands:
            known = command.commands
            remedy = suggestion(word, known) or f"; available commands: {', '.join(known)}"
            raise ConfigError(f"`{group}` has no command {word!r}{remedy}")
        names.append(word)
        command = command.commands[word]
    try:
        parsed = parse_command(command, " ".join(names), rest)
    except SystemExit:  # --help
        sys.stdout.flush()  # Flush here, where a broken pipe is handled.
        return 0
    if isinstance(parsed, PluginOptions):
        load_plugins(parsed.plugin)
    return parsed.run()


def _print_group(name: str, group: Group) -> int:
    """Prints the commands of a group, with a one-line summary each."""
    lines = [f"usage: {name} COMMAND [options]", "", description(group), "", "Commands:"]
    lines += [f"  {word:<12}{summary(command)}" for word, command in group.commands.items()]
    lines += ["", f"`{name} COMMAND --help` shows the options and examples of a command."]
    print("\n".join(lines), flush=True)
    return 0


def _show_warning(  # noqa: PLR0917 - the warnings module fixes the signature
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Prints a warning without the source line that raised it."""
    del category, filename, lineno, line
    print(f"warning: {printable(message)}", file=file or sys.stderr)
