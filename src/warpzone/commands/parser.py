"""Command-line parser, built from the options that a command declares.

Parsing yields only the options that were given, so that they can be merged with files and
environment variables before anything is resolved.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn

from warpzone.commands.command import (
    Command,
    description,
    inherited_options,
    is_everyday,
    own_options,
    training_field,
)
from warpzone.config.option import Option, tables_of
from warpzone.config.resolve import resolve
from warpzone.config.sources import read_variables
from warpzone.config.tree import TrainConfig
from warpzone.config.values import (
    check_value,
    choices_of,
    is_boolean,
    is_list,
    read_text,
    show,
    suggestion,
)
from warpzone.errors import ConfigError

_HELP_POSITION, _MAX_WIDTH = 30, 100


def parse_command(
    command: type[Command],
    name: str,
    arguments: Sequence[str],
    environment: Mapping[str, str] | None = None,
) -> Command:
    """Creates a command from arguments and variables such as `WARPZONE_EVAL_EPISODES`.

    Args:
        command: Options class of the command.
        name: Name of the command, such as 'bench env'.
        arguments: Arguments after the name.
        environment: Environment variables; defaults to those of this process.

    Raises:
        ConfigError: The command does not accept an argument; the message names it.
        SystemExit: `--help` was given.
    """
    given = _parse(command, name, arguments)
    known = own_options(command)
    keywords: dict[str, Any] = {}
    prefix = f"WARPZONE_{name.replace(' ', '_').upper()}_"
    flags = [option for option in known if not option.positional]
    # Variables of training options are read when the configuration is resolved.
    others = [
        variable for variable in _training_variables(command, prefix) if variable.startswith(prefix)
    ]
    for option, value in read_variables(prefix, flags, environment, others).items():
        keywords[option.name] = value
    training = training_field(command)
    if training is not None:
        keywords[training[0]] = _tree(given)
    keywords |= {option.name: value for option, value in given.items() if not option.table}
    for option in known:
        if option.required and option.name not in keywords:
            raise ConfigError(
                f"`warpzone {name}` needs {_shown_name(option)}; see `warpzone {name} --help`"
            )
    return command(**keywords)


def print_help(command: type[Command], name: str, *, everything: bool) -> None:
    """Prints a command's description and its options: the everyday ones, or all of them."""
    _make_parser(command, name, everything=everything).print_help()


def _parse(command: type[Command], name: str, arguments: Sequence[str]) -> dict[Option, Any]:
    parser = _make_parser(command, name, everything=False)
    options = [*own_options(command), *inherited_options(command)]
    found, rest = parser.parse_known_args(list(arguments))
    for word in rest:
        _reject(word, name, options)
    given: dict[Option, Any] = {}
    for option in options:
        text = getattr(found, option.path, None)
        if text is not None:
            given[option] = _value(option, text)
    return given


def _value(option: Option, text: Any) -> Any:
    name = _shown_name(option)
    if isinstance(text, bool):
        return text
    if isinstance(text, list):
        return check_value(option, tuple(text), name)
    return read_text(option, text, name)


def _tree(given: Mapping[Option, Any]) -> dict[str, dict[str, Any]]:
    tree: dict[str, dict[str, Any]] = {}
    for option, value in given.items():
        if option.table:
            tree.setdefault(option.table, {})[option.name] = value
    return tree


def _training_variables(command: type[Command], prefix: str) -> Iterator[str]:
    for option in inherited_options(command):
        yield prefix + option.path.replace(".", "_").upper()


def _reject(word: str, name: str, options: Sequence[Option]) -> NoReturn:
    if not word.startswith("-"):
        raise ConfigError(f"`warpzone {name}` does not take {word!r}; see `warpzone {name} --help`")
    flags = [flag for option in options for flag in _flags(option)]
    word = word.partition("=")[0]
    remedy = suggestion(word, flags) or f"; `warpzone {name} --help-all` lists the options"
    raise ConfigError(f"`warpzone {name}` has no option {word}{remedy}")


class _Parser(argparse.ArgumentParser):
    """Raises a `ConfigError` instead of printing the usage and exiting."""

    def print_help(self, file: Any = None) -> None:
        """Prints the help; unlike argparse, does not hide a broken pipe."""
        print(self.format_help(), end="", file=file, flush=True)

    def error(self, message: str) -> NoReturn:
        """Raises a `ConfigError` for invalid arguments."""
        raise ConfigError(f"{message}; see `{self.prog} --help`")


class _HelpAll(argparse.Action):
    """Prints the full help of the command in `const` (class and name) and exits."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        """Prints the full help."""
        command, name = self.const
        print_help(command, name, everything=True)
        parser.exit()


def _make_parser(command: type[Command], name: str, *, everything: bool) -> _Parser:
    parser = _Parser(
        prog=f"warpzone {name}",
        usage=_usage(command, name),
        description=description(command),
        formatter_class=_formatter,
        argument_default=argparse.SUPPRESS,
        allow_abbrev=False,
        add_help=False,
    )
    training = training_field(command)
    defaults = resolve({}, training[1].preset) if training else None
    hides = training is not None and not everything
    own = parser.add_argument_group("options" if not training or hides else "this command")
    groups = {"": own}
    if training and not hides:
        for table, options, _ in tables_of(TrainConfig):
            title = (options.__doc__ or "").partition("\n")[0].rstrip(".")
            groups[table] = parser.add_argument_group(f"[{table}] {title}")
    for option in (*own_options(command), *inherited_options(command)):
        default = defaults.value(option) if defaults and option.table else option.default
        shown = everything or is_everyday(command, option)
        _add(groups.get(option.table, own), option, default, shown)
    own.add_argument(
        "-h",
        "--help",
        action="help",
        help="Show this help." if not hides else "Show this help; --help-all shows every option.",
    )
    own.add_argument(
        "--help-all",
        action=_HelpAll,
        nargs=0,
        const=(command, name),
        help=argparse.SUPPRESS if not hides else "Show every option.",
    )
    if training:
        parser.epilog = (
            f"Defaults are those of --preset {training[1].preset}; `warpzone train --dry-run` "
            "prints the values of a run."
        )
    return parser


def _add(group: Any, option: Option, default: Any, shown: bool) -> None:
    text = _help(option, default) if shown else argparse.SUPPRESS
    if option.positional:
        count = "+" if is_list(option) else None
        nargs = {"nargs": count} if option.required else {"nargs": "?"}
        group.add_argument(option.path, metavar=option.metavar, help=text, **nargs)
    elif is_boolean(option):
        # Both flags are always accepted, since the default depends on the preset; the help shows
        # the flag that changes it.
        on, off = (argparse.SUPPRESS, text) if default is True else (text, argparse.SUPPRESS)
        flag = f"--{option.flag}"
        group.add_argument(flag, dest=option.path, action="store_const", const=True, help=on)
        group.add_argument(
            f"--no-{option.flag}", dest=option.path, action="store_const", const=False, help=off
        )
    else:
        one_by_one = {"action": "append"} if option.repeated else {"nargs": "+"}
        many = one_by_one if is_list(option) else {}
        group.add_argument(
            *_flags(option), dest=option.path, metavar=_metavar(option), help=text, **many
        )


def _help(option: Option, default: Any) -> str:
    if is_boolean(option):
        text = option.off if default is True and option.off else option.help
    elif option.required or default in (None, "", ()):
        text = option.help
    else:
        text = f"{option.help} (default: {show(default)})"
    return text.replace("%", "%%")


def _metavar(option: Option) -> str:
    if option.metavar:
        return option.metavar
    choices = choices_of(option)
    return f"{{{','.join(choices)}}}" if choices else option.name.upper()


def _flags(option: Option) -> list[str]:
    if option.positional:
        return []
    return [f"--{option.flag}", *([option.short] if option.short else [])]


def _shown_name(option: Option) -> str:
    return option.metavar if option.positional else f"--{option.flag}"


def _usage(command: type[Command], name: str) -> str:
    words = [
        option.metavar if option.required else f"[{option.metavar}]"
        for option in own_options(command)
        if option.positional
    ]
    return " ".join(["warpzone", name, *words, "[options]"])


def _formatter(prog: str) -> argparse.HelpFormatter:
    import shutil

    width = min(shutil.get_terminal_size().columns, _MAX_WIDTH) - 2
    return argparse.RawDescriptionHelpFormatter(
        prog, max_help_position=_HELP_POSITION, width=max(width, 40)
    )
