"""Generates the tables in the documentation from the code.

    python docs/generate.py           # rewrite them
    python docs/generate.py --check   # fail if one is out of date

A table is enclosed by `<!-- generated: NAME -->` and `<!-- end -->`; the function of that name
generates it.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from warpzone import MarioEnv, _native, make_vec, parameter_help
from warpzone.cli import COMMANDS
from warpzone.commands.command import Command, Group, inherited_options, own_options, summary
from warpzone.config import TrainConfig, resolve
from warpzone.config.option import options_of, tables_of
from warpzone.config.values import show
from warpzone.envs.actions import ACTION_SETS
from warpzone.envs.endings import CLEAR, END_REASONS, end_name
from warpzone.evaluation.scripted import ScriptedPolicy

DOCS = Path(__file__).resolve().parent
BLOCK = re.compile(r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)

WEIGHTS = {
    "scale": "multiplies every term",
    "distance": "reward per pixel of progress",
    "death": "penalty for losing a life",
    "score": "reward per point of the game's score",
    "coin": "reward per coin",
    "power": "reward per level of power gained (small, big, fire), and penalty per level lost",
    "clear": "reward for clearing a level",
    "milestone": "bonus each time progress passes a multiple of `milestone_pixels`",
    "milestone_pixels": "pixels between two milestones",
    "time": "penalty per step",
    "early_steps": "steps at the start of an episode in which distance is scaled by `early_factor`",
    "early_factor": "factor for the distance weight in the early steps",
}
TESTED_PACKAGES = ("numpy", "gymnasium", "torch", "stable-baselines3")
SMOKE_TESTS = ("environment", "train", "resume", "eval", "video", "sb3")
PLANES = {
    "solid": "255 ground, bricks, pipes, blocks (hidden blocks are not included)",
    "hostile": "255 harmful from every side, 128 can be stomped",
    "platform": "255 lifts and springs",
    "item": "255 coins, power-ups, vines, the axe; 128 question blocks",
    "mario": "255 Mario; two cells if he is big",
}


def table(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Returns a Markdown table."""
    lines = [list(headings)]
    lines.append(["---"] * len(lines[0]))
    lines.extend([cell.replace("|", "\\|") for cell in row] for row in rows)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def parameters() -> str:
    """Keywords that all environments accept."""
    defaults = inspect.signature(make_vec).parameters
    rows = [
        (f"`{name}`", f"`{defaults[name].default!r}`", text)
        for name, text in parameter_help().items()
    ]
    return table(("parameter", "default", "meaning"), rows)


def actions() -> str:
    """Named action sets."""
    rows = (
        (f"`{name}`", str(len(members)), ", ".join(members))
        for name, members in ACTION_SETS.items()
    )
    return table(("set", "size", "actions, numbered from 0"), rows)


def info() -> str:
    """Fields of `info`."""
    numbers = [(f"`{name}`", "int32", text) for name, text in _native.INFO_NUMBERS.items()]
    flags = [(f"`{name}`", "bool", text) for name, text in _native.INFO_FLAGS.items()]
    return table(("field", "type", "meaning"), numbers + flags)


def ends() -> str:
    """Reasons for the end of an episode."""
    rows = ((str(n), f"`{name}`", text) for n, (name, text) in enumerate(END_REASONS.items()))
    return table(("`end_reason`", "name", "meaning"), rows)


def weights() -> str:
    """Weights of the shaped reward."""
    defaults = _native.RewardWeights().as_dict()
    if set(defaults) != set(WEIGHTS):
        raise SystemExit(f"update WEIGHTS for {set(defaults) ^ set(WEIGHTS)}")
    rows = ((f"`{name}`", f"`{value:g}`", WEIGHTS[name]) for name, value in defaults.items())
    return table(("weight", "default", "meaning"), rows)


def planes() -> str:
    """Planes of the tile grid."""
    count = _native.TILES_SHAPE[0]
    if count != len(PLANES):
        raise SystemExit(f"update PLANES: there are {count} planes")
    rows = ((str(index), name, text) for index, (name, text) in enumerate(PLANES.items()))
    return table(("plane", "name", "cell"), rows)


def features() -> str:
    """Features of the tile observation."""
    names = [_native.feature_name(index) for index in range(_native.FEATURE_COUNT)]
    return ", ".join(f"{index} `{name}`" for index, name in enumerate(names)) + "."


def scripted() -> str:
    """Progress of the scripted policy in each level."""
    return table(
        ("level", "progress", "end", "steps"), map(_scripted_row, _native.level_names("smb"))
    )


def _scripted_row(level: str) -> tuple[str, str, str, str]:
    policy = ScriptedPolicy()
    env = MarioEnv(level, obs="tiles", actions=list(policy.actions), stagnation_limit=200)
    obs, now = env.reset(seed=0)
    ended = False
    while not ended:
        obs, _, terminated, truncated, now = env.step(policy.act(obs, now, env.console))
        ended = terminated or truncated
    end = end_name(now["end_reason"])
    end = f"**{end}**" if end == CLEAR else end
    return level, str(now["progress"]), end, str(now["steps"])


def options() -> str:
    """All training options, table by table."""
    defaults = resolve({})
    parts = []
    for name, cls, prefix in tables_of(TrainConfig):
        rows = (
            (f"`{option.name}`", f"`--{option.flag}`", _shown(defaults.value(option)), option.help)
            for option in options_of(cls, name, prefix)
        )
        title = (cls.__doc__ or "").partition("\n")[0].rstrip(".")
        heading = f"## [{name}] {title}"
        parts.append(f"{heading}\n\n{table(('option', 'flag', 'default', 'meaning'), rows)}")
    return "\n\n".join(parts)


def command_options() -> str:
    """Every command with its own options."""
    return "\n\n".join(_command_section(name, command) for name, command in _leaves(COMMANDS))


def _leaves(
    commands: Mapping[str, type[Command] | Group], prefix: str = "warpzone "
) -> Iterator[tuple[str, type[Command]]]:
    for name, command in commands.items():
        if isinstance(command, Group):
            yield from _leaves(command.commands, f"{prefix}{name} ")
        else:
            yield prefix + name, command


def _command_section(name: str, command: type[Command]) -> str:
    rows = [
        (
            f"`{option.metavar}`" if option.positional else f"`--{option.flag}`",
            "required" if option.required else _shown(option.default),
            option.help,
        )
        for option in own_options(command)
    ]
    more = "\n\nTakes the [training options](options.md) too." if inherited_options(command) else ""
    options = f"\n\n{table(('option', 'default', 'meaning'), rows)}" if rows else ""
    return f"## {name}\n\n{summary(command)}{options}{more}"


def _shown(value: object) -> str:
    return f"`{show(value)}`" if value not in ("", (), None) else ""


def compatibility() -> str:
    """Interpreters and packages that `make matrix` ran, or why not."""
    columns = ("place", "python", "packages", *TESTED_PACKAGES, *SMOKE_TESTS, "reason")
    return _matrix_table("python", columns)


def native_compatibility() -> str:
    """Compilers and processors that `make matrix` ran, or why not."""
    return _matrix_table("native", ("build", "compiled", "tests", "reason"))


def _matrix_table(kind: str, columns: tuple[str, ...]) -> str:
    cells = json.loads((DOCS / "compatibility.json").read_text(encoding="utf-8"))
    rows = [cell for cell in cells.values() if cell["kind"] == kind]
    return table(columns, ([cell.get(column, "") for column in columns] for cell in rows))


TABLES: dict[str, Callable[[], str]] = {
    function.__name__: function
    for function in (
        options,
        command_options,
        parameters,
        actions,
        info,
        ends,
        weights,
        planes,
        features,
        scripted,
        compatibility,
        native_compatibility,
    )
}


def generated(text: str) -> str:
    """Returns a page with regenerated tables."""
    return BLOCK.sub(lambda block: f"{block[1]}{TABLES[block[2]]()}\n{block[3]}", text)


def stale_pages(write: bool) -> list[str]:
    """Returns the pages that are out of date, and rewrites them if `write` is set."""
    stale = []
    for page in sorted(DOCS.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        new = generated(text)
        if new != text:
            stale.append(page.name)
            if write:
                page.write_text(new, encoding="utf-8")
    return stale


def main() -> int:
    """Command line."""
    check = sys.argv[1:] == ["--check"]
    stale = stale_pages(write=not check)
    if check and stale:
        print(f"out of date, run `python docs/generate.py`: {', '.join(stale)}")
        return 1
    print(f"rewritten: {', '.join(stale)}" if stale else "every table is up to date")
    return 0


if __name__ == "__main__":
    sys.exit(main())
