"""The table of hostile cases, by command: a new command gets its rows here.

Each row spoils one thing in a copy of the world and names the arguments, which are given inside its
folder. `test_commands.py` runs every row, and fails for a command that has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import damage as spoil
from bombs import checkpoint_bombs, policy_bombs
from damage import NOT_JSON, Damage
from world import BOARD, CAMPAIGN, POLICY, ROM, RUN, SOLUTION, SWEEP, TRIALS

from warpzone import cli

FAILS, WORKS = frozenset({2}), frozenset({0})
SOME_FAIL, EITHER = frozenset({1}), frozenset({0, 2})
ESCAPES = "\x1b[2J\x1b]0;owned\x07"

RUNS = "runs list" if hasattr(cli.COMMANDS["runs"], "commands") else "runs"
CHECKPOINT = f"{RUN}/checkpoints/update-00000002.pt"
SIDECAR = f"{RUN}/checkpoints/update-00000002.json"
CONFIG = f"{RUN}/config.toml"
# Should something be accepted that must not be, it ends soon.
SMALL = (
    *("--obs=tiles", "--num-envs=4", "--num-threads=1", "--rollout-steps=8", "--hidden=16"),
    *("--minibatch-size=16", "--device=cpu", "--torch-threads=1", "--display=plain", "--steps=32"),
)
SWEPT = (*(flag for flag in SMALL if not flag.startswith("--display")), "--trials=1")
LONGER = ("--steps", "96", "--no-video")


@dataclass(frozen=True)
class Case:
    """One hostile input.

    Attributes:
        name: What is wrong.
        arguments: What follows the command.
        damage: Spoils the world.
        codes: Exit codes that are right.
        variables: Environment variables.
    """

    name: str
    arguments: tuple[str, ...]
    damage: Damage = spoil.nothing
    codes: frozenset[int] = FAILS
    variables: Mapping[str, str] = field(default_factory=dict)


def _files(name: str, *arguments: str, codes: frozenset[int] = FAILS) -> Iterator[Case]:
    """A file that is missing, cut, replaced by something else, or endless."""
    for what, damage in (
        ("cut", spoil.cut(name)),
        ("flipped", spoil.flipped(name)),
        ("empty", spoil.content(name, b"")),
        ("binary", spoil.content(name, bytes(range(256)) * 40)),
        ("gone", spoil.gone(name)),
        ("a folder", spoil.folder(name)),
        ("endless", spoil.device(name)),
        ("of a terabyte", spoil.sparse(name)),
    ):
        yield Case(f"{name} is {what}", arguments, damage, codes)


def _json(name: str, *arguments: str, codes: frozenset[int] = FAILS) -> Iterator[Case]:
    for what, data in NOT_JSON.items():
        yield Case(f"{name} is {what}", arguments, spoil.content(name, data), codes)


def _toml(*arguments: str) -> Iterator[Case]:
    for what, text in (
        ("no TOML", "= ="),
        ("an unknown table", "[nonsense]\na = 1\n"),
        ("an unknown option", "[env]\nnonsense = 1\n"),
        ("a wrong type", '[env]\nnum_envs = "many"\n'),
        (
            "escape codes",
            f'[env]\nlevel = "{ESCAPES.encode("unicode_escape").decode()}"\n'.replace(
                "\\x", "\\u00"
            ),
        ),
        ("NaN", "[learn]\nlearning_rate = nan\n"),
        ("a huge number", f"[env]\nstack = {10**400}\n"),
        ("deep", "a = " + "[" * 50_000),
        ("a table as a value", "env = 3\n"),
        ("a surrogate", '[run]\nname = "\\ud800"\n'),
    ):
        yield Case(f"a configuration of {what}", arguments, spoil.content(CONFIG, text.encode()))


def _outputs(*arguments: str, option: str = "-o", suffix: str = "") -> Iterator[Case]:
    """Outputs that cannot be written."""
    for what, name in (
        ("in a missing folder", f"missing/out{suffix}"),
        ("in a file", f"{ROM}/out{suffix}"),
        ("of an endless name", "n" * 300 + suffix),
    ):
        yield Case(f"output {what}", (*arguments, option, name))


def _plugins(*arguments: str) -> Iterator[Case]:
    """Plug-ins that cannot be imported."""
    for what, name in (
        ("of no name", ""),
        ("that does not exist", "no_such_module"),
        ("with escape codes", ESCAPES),
        ("that is not UTF-8", "caf\udce9"),
        ("of an endless name", "n" * 5000),
        ("in a missing folder", "missing/plugin.py"),
        ("that is a folder", "folder.py"),
    ):
        damage = spoil.folder("folder.py")
        yield Case(f"a plug-in {what}", ("--plugin", name, *arguments), damage)
    for what, data in (("binary", bytes(range(256))), ("no Python", b"= ="), ("failing", b"1/0")):
        damage = spoil.content("plugin.py", data)
        yield Case(f"a plug-in that is {what}", ("--plugin", "plugin.py", *arguments), damage)


def _bombs(bombs: Mapping[str, Damage], *arguments: str) -> Iterator[Case]:
    for what, damage in bombs.items():
        yield Case(f"a bomb: {what}", arguments, damage)


def _roms(*arguments: str) -> Iterator[Case]:
    for case in _files(ROM, *arguments):
        # A bit in the middle leaves an unknown dump, which may play.
        yield Case(case.name, case.arguments, case.damage, frozenset({0, 1, 2}))


CASES: dict[str, list[Case]] = {
    "rom install": [
        Case("nobody to ask", (), variables={"WARPZONE_DATA_DIR": "empty"}),
        Case("a file as the data folder", (), variables={"WARPZONE_DATA_DIR": ROM}),
    ],
    "rom import": [
        *(
            Case(case.name, (ROM,), case.damage, EITHER, {"WARPZONE_DATA_DIR": "data"})
            for case in _files(ROM)
        ),
        Case("no such file", (f"{ESCAPES}.nes",)),
        Case("a file as the data folder", (ROM,), variables={"WARPZONE_DATA_DIR": POLICY}),
    ],
    "rom status": [
        *(Case(case.name, (), case.damage, WORKS, {"WARPZONE_ROM": ROM}) for case in _files(ROM)),
        Case("an endless name", (), codes=WORKS, variables={"WARPZONE_ROM": "n" * 5000}),
        Case("escape codes", (), codes=WORKS, variables={"WARPZONE_ROM": ESCAPES}),
    ],
    "quickstart": [
        Case("not a level", ("--level", ESCAPES)),
        Case("nobody to ask", (), variables={"WARPZONE_DATA_DIR": "e", "WARPZONE_ROM": ""}),
        Case("a ROM that is none", (), spoil.content(ROM, b"x"), FAILS, {"WARPZONE_ROM": ROM}),
        Case("a file as the runs folder", ("--runs", ROM)),
    ],
    "train": [
        *(
            Case(f"file: {case.name}", ("--file", CONFIG, *SMALL, "--no-video"), case.damage)
            for case in (*_toml(), *_files(CONFIG))
            if "flipped" not in case.name and "empty" not in case.name
        ),
        *_files(CHECKPOINT, "--resume", RUN),
        *_toml("--resume", RUN),
        *(
            Case(f"resume: {case.name}", ("--resume", CHECKPOINT, *LONGER), case.damage)
            for case in _files(CHECKPOINT)
        ),
        *_bombs(checkpoint_bombs(CHECKPOINT), "--resume", CHECKPOINT, *LONGER),
        Case("no such run", ("--resume", ESCAPES)),
        Case("a file as the runs folder", ("--runs", ROM, *SMALL)),
        Case("a name with a slash", ("--name", "../x", *SMALL)),
        Case("a name with escape codes", ("--name", ESCAPES, *SMALL)),
        Case("a name that is not UTF-8", ("--name", "caf\udce9", *SMALL)),
        Case("a folder that is not UTF-8", ("--runs", "caf\udce9", *SMALL)),
        Case("an endless name", ("--name", "n" * 300, *SMALL)),
        Case(
            "a damaged solution",
            ("--from-solutions", "solutions", *SMALL),
            spoil.content(SOLUTION, b"\xff"),
        ),
        *_files(POLICY, "--teachers", POLICY, "--level", "1-1", *SMALL),
        Case("no such teachers", ("--teachers", ESCAPES, *SMALL)),
        Case("a file as the teachers", ("--teachers", ROM, *SMALL)),
        Case("a ROM that is none", SMALL, spoil.content(ROM, b"x"), FAILS, {"WARPZONE_ROM": ROM}),
        *_plugins(*SMALL),
        *_json(f"{SWEEP}/sweep.json", "--from-sweep", SWEEP),
        Case("no such sweep", ("--from-sweep", ESCAPES)),
        Case("no such trial", ("--from-sweep", SWEEP, "--sweep-trial", "99")),
        Case("a trial of nothing", ("--sweep-trial", "1")),
        Case("a sweep and a preset", ("--from-sweep", SWEEP, "--preset", "cpu")),
    ],
    "eval": [
        *_files(POLICY, POLICY),
        *_files(CHECKPOINT, CHECKPOINT, "--episodes", "1"),
        *_toml(RUN, "--episodes", "1"),
        *_outputs(RUN),
        *_bombs(policy_bombs(POLICY), POLICY, "--episodes", "1"),
        *_bombs(checkpoint_bombs(CHECKPOINT), CHECKPOINT, "--episodes", "1"),
        Case("no such run", (ESCAPES,)),
        Case("an endless name", ("n" * 9000,)),
        Case("a level of nowhere", ("9-9",)),
        Case("a folder of nothing", ("solutions",)),
        *_plugins(RUN, "--episodes", "1"),
    ],
    "video": [
        *_files(POLICY, POLICY, "-o", "v.mp4"),
        *_files(SOLUTION, SOLUTION, "-o", "v.mp4"),
        *_outputs(RUN, suffix=".mp4"),
        Case("an unknown format", (RUN, "-o", "v.exe")),
    ],
    RUNS: [
        *_files(f"{RUN}/metrics.jsonl", "runs", codes=WORKS),
        *_files(f"{RUN}/heartbeat.jsonl", "runs", codes=WORKS),
        *_files(CONFIG, "runs", codes=WORKS),
        *_json(f"{RUN}/metrics.jsonl", "runs", codes=WORKS),
        *_json(f"{RUN}/heartbeat.jsonl", "runs", codes=WORKS),
        *_json(f"{RUN}/heartbeat.jsonl", "runs", "--json", codes=WORKS),
        Case(
            "a compressed part that expands a thousand times",
            ("runs",),
            spoil.both(
                spoil.gone(f"{RUN}/metrics.jsonl"),
                spoil.gzip_bomb(f"{RUN}/metrics-0001.jsonl.gz", 2 * 2**30),
            ),
            WORKS,
        ),
        Case("no such folder", (ESCAPES,), codes=WORKS),
        Case(
            "a compressed part that is none",
            ("runs",),
            spoil.content(f"{RUN}/metrics-0001.jsonl.gz", b"x"),
            WORKS,
        ),
        Case(
            "a run whose name is markup and escape codes",
            ("runs",),
            spoil.content(f"runs/[red]{ESCAPES.replace('/', '')}[/]/config.toml", b""),
            WORKS,
        ),
    ],
    "runs compare": [
        Case("no such run", (RUN, ESCAPES)),
        Case("one run only", (RUN,)),
        Case("no run at all", ("solutions",)),
        Case("a metric of nowhere", (RUN, SWEEP, "--metric", ESCAPES)),
        *_outputs(RUN, SWEEP, suffix=".html"),
        *_files(f"{RUN}/metrics.jsonl", RUN, SWEEP, codes=EITHER),
        *_files(CONFIG, RUN, SWEEP, codes=EITHER),
    ],
    "campaign": [
        *_json(f"{CAMPAIGN}/campaign.json", "-o", CAMPAIGN),
        *_json(f"{CAMPAIGN}/scoreboard.json", "-o", CAMPAIGN, *SMALL, "--resume-with-changes"),
        Case("a file as the folder", ("-o", ROM)),
        Case("a run as the folder", ("-o", RUN)),
        Case("a folder that is not UTF-8", ("-o", "caf\udce9")),
        Case(
            "foreign files",
            ("-o", "new", "--levels", "1-1", *SMALL),
            spoil.content("new/runs/1-1/thesis.tex", b"precious"),
        ),
        Case(
            "a link to somewhere else",
            ("-o", "new", "--levels", "1-1", *SMALL),
            spoil.link("new/runs/1-1", "runs"),
        ),
        Case("no jobs", ("-o", "new", "--jobs", "0")),
        Case(
            "foreign files, found by a worker",
            ("-o", "new", "--levels", "1-1", "--jobs", "2", *SMALL),
            spoil.content("new/runs/1-1/thesis.tex", b"precious"),
        ),
        Case(
            "a file where logs belong",
            ("-o", "new", "--levels", "1-1", "--jobs", "2", *SMALL),
            spoil.content("new/logs", b"x"),
        ),
    ],
    "sweep": [
        *(
            Case(f"a space {what}", ("--space", text, *SWEPT))
            for what, text in (
                ("of nothing", ""),
                ("without values", "learning-rate="),
                ("without a name", "=1:2"),
                ("of an unknown option", "nonsense=1:2"),
                ("with escape codes", f"{ESCAPES}=1:2"),
                ("of escape codes", f"learning-rate={ESCAPES}:{ESCAPES}"),
                ("that is not UTF-8", "optimizer=caf\udce9,adam"),
                ("of one number", "learning-rate=1e-3"),
                ("upside down", "learning-rate=1e-2:1e-3"),
                ("of NaN", "learning-rate=nan:1"),
                ("without end", "learning-rate=1e-3:inf"),
                ("beyond the limits", "gamma=0.5:1.5"),
                ("of a logarithm of zero", "ent-coef=0:1:log"),
                ("on another scale", "ent-coef=0.1:1:cubic"),
                ("of fractions of a whole number", "epochs=1.5:3"),
                ("of a huge number", f"epochs=1:{10**400}"),
                ("of something fixed", "seed=1:5"),
                ("of a value twice", "epochs=1,1"),
                ("of an endless name", "n" * 5000 + "=1:2"),
            )
        ),
        Case("a space twice", ("--space=epochs=1:2", "--space=epochs=1:3", *SWEPT)),
        Case("a space of a set option", ("--space=hidden=8:16", *SWEPT)),
        Case("a pruner for two objectives", ("--objective=steps+clear-rate", "--pruner=median")),
        Case("nonsense as an objective", ("--objective", ESCAPES)),
        Case("nonsense as a sampler", ("--sampler", ESCAPES)),
        Case("a file as the folder", ("-o", ROM, *SWEPT)),
        Case("a run as the folder", ("-o", RUN, *SWEPT)),
        Case("a folder of something else", ("-o", "solutions", *SWEPT)),
        Case("a folder that exists", ("-o", SWEEP, *SWEPT)),
        Case("a folder that is not UTF-8", ("-o", "caf\udce9", *SWEPT)),
        Case("no such sweep", ("--resume", ESCAPES)),
        Case("a run as the sweep", ("--resume", RUN)),
        Case("a change", ("--resume", SWEEP, "--goal", "0.5")),
        Case("another learning rate", ("--resume", SWEEP, "--learning-rate", "0.5")),
        *_json(f"{SWEEP}/sweep.json", "--resume", SWEEP),
        *(
            case
            for case in _files(f"{SWEEP}/journal.log", "--resume", SWEEP)
            if case.name.endswith(("binary", "a folder", "endless"))
        ),
    ],
    "sweep show": [
        *_json(f"{SWEEP}/sweep.json", SWEEP),
        *(
            Case(case.name, case.arguments, case.damage, EITHER)
            for case in _files(f"{SWEEP}/journal.log", SWEEP)
        ),
        Case("no such sweep", (ESCAPES,)),
        Case("a file", (ROM,)),
    ],
    "export": [
        *_files(CHECKPOINT, CHECKPOINT, "-o", "x.policy"),
        *_bombs(checkpoint_bombs(CHECKPOINT), CHECKPOINT, "-o", "x.policy"),
        *_toml(RUN, "-o", "x.policy"),
        Case("output in a file", (RUN, "-o", f"{ROM}/x.policy")),
        Case("output of another kind", (RUN, "-o", "x.pt")),
        Case("output is a folder", (RUN, "-o", "x.policy"), spoil.folder("x.policy")),
    ],
    "scoreboard": [
        *_json(f"{BOARD}/scoreboard.json", BOARD),
        *_files(f"{BOARD}/measurements.jsonl", BOARD, codes=EITHER),
        *_files(POLICY, "new", "--add", POLICY),
        Case("no such folder", (ESCAPES,)),
        Case("a file as the folder", (ROM,)),
        Case("export into a file", (BOARD, "--export", f"{ROM}/x")),
        Case("the policy is gone", (BOARD, "--export", "out"), spoil.gone(POLICY)),
        Case("verify without the policy", (BOARD, "--verify"), spoil.gone(POLICY), SOME_FAIL),
        Case(
            "escape codes in a row",
            (BOARD,),
            spoil.replaced(f"{BOARD}/scoreboard.json", "c0ffee", "\\u001b[2J[red]"),
            WORKS,
        ),
    ],
    "report": [
        *_files(f"{RUN}/metrics.jsonl", RUN, "--no-videos", codes=EITHER),
        *_files(f"{RUN}/episodes.jsonl", RUN, "--no-videos", codes=EITHER),
        *_json(f"{BOARD}/scoreboard.json", BOARD, "--no-videos"),
        *_json(f"{SWEEP}/sweep.json", SWEEP),
        *(Case(case.name, (RUN, "--no-videos"), case.damage, EITHER) for case in _toml()),
        *_outputs(RUN, suffix=".html"),
        Case("no such run", (ESCAPES,)),
    ],
    "solve": [
        *_files(SOLUTION, "--verify", SOLUTION, codes=frozenset({1, 2})),
        *_roms("--verify", SOLUTION, "--rom", ROM),
        Case("a file as the folder", ("--frames", "100", "-o", ROM), codes=frozenset({1, 2})),
        Case("no such solution", ("--verify", ESCAPES)),
    ],
    "render": [
        *_roms("--rom", ROM, "--steps", "2", "-o", "x.png"),
        *_outputs("--steps", "2", suffix=".png"),
        Case("nonsense as a policy", ("--policy", ESCAPES, "-o", "x.png")),
        Case("nonsense as a parameter", ("--set", f"{ESCAPES}=1", "-o", "x.png")),
        Case("nonsense as a level", ("--level", ESCAPES, "-o", "x.png")),
    ],
    "play": [
        Case("a ROM that is none", ("--rom", ROM), spoil.content(ROM, b"x")),
        Case("an endless ROM", ("--rom", ROM), spoil.device(ROM)),
    ],
    "dashboard": [
        Case("no such folder", (ESCAPES,)),
        Case("a file as the folder", (ROM,)),
        Case("nonsense as a port", ("--port", ESCAPES)),
        Case("a port that does not exist", ("--port", "65536")),
        Case("an address that is none", ("--host", ESCAPES, "--port", "0")),
        Case("a null character in the address", ("--host", "\0", "--port", "0")),
        Case("a weak token", ("--token", "1234")),
    ],
    "runs set": [
        Case("no such run", (ESCAPES, "learning-rate=1")),
        Case("a run that has ended", (RUN, "learning-rate=1")),
        Case("not a change", (RUN, ESCAPES)),
        Case("nonsense as a value", (RUN, f"learning-rate={ESCAPES}")),
        Case("an option that cannot change", (RUN, "hidden=8")),
        *_files(CONFIG, RUN, "learning-rate=1"),
    ],
    **{
        f"runs {action}": [
            Case("no such run", (ESCAPES,)),
            Case("a run that has ended", (RUN,)),
        ]
        for action in ("pause", "resume", "save", "record", "evaluate", "stop")
    },
    "cluster train": [
        Case("fewer than no actors", ("--actors", "-1", *SMALL)),
        Case("nonsense as a number of actors", ("--actors", ESCAPES, *SMALL)),
        Case("no such level", ("--level", ESCAPES, *SMALL)),
        Case("an algorithm of another kind", ("--algo", ESCAPES, *SMALL)),
    ],
    "watch": [
        *_files(POLICY, POLICY),
        Case("no such level or file", (ESCAPES,)),
        Case("a level that is none", (POLICY, "--level", ESCAPES)),
        Case("no policies", ("1-1", "--policies", "missing")),
        Case("nonsense as a port", (POLICY, "--port", ESCAPES)),
    ],
    "runs show": [
        *_files(CHECKPOINT, CHECKPOINT),
        *_json(SIDECAR, RUN, codes=WORKS),
        *_json(f"{RUN}/checkpoints/latest.json", RUN, codes=WORKS),
        *_json(f"{RUN}/checkpoints/best.json", RUN, codes=WORKS),
        Case("no such run", (ESCAPES,)),
        Case("wrong types", (RUN,), spoil.json_change(SIDECAR, {"serial": "last"}), WORKS),
    ],
    "bench env": [
        Case("output in a missing folder", ("--json", "missing/x.json")),
        Case("nonsense as a number", ("--num-envs", ESCAPES)),
        Case("a ROM that is none", ("--rom", ROM), spoil.content(ROM, b"x")),
    ],
    "bench train": [
        Case("output in a missing folder", ("--csv", "missing/x.csv")),
        Case("nonsense as a number", ("--seconds", ESCAPES)),
    ],
    "bench overlap": [
        Case("output in a missing folder", ("--csv", "missing/x.csv")),
        Case("nonsense as a number", ("--num-envs", ESCAPES)),
    ],
    "bench replay": [
        Case("output in a missing folder", ("--csv", "missing/x.csv")),
        Case("nonsense as a number", ("--capacity", ESCAPES)),
    ],
    "tools backfill": [
        *(
            Case(case.name, ("runs",), case.damage, WORKS)
            for case in (*_json(SIDECAR), *_files(SIDECAR), *_files(CHECKPOINT))
        ),
        Case("no such folder", (ESCAPES,)),
    ],
    "doctor": [
        *_json(TRIALS, "env", "--summary", codes=frozenset({1, 2})),
        *_files(TRIALS, "env", "--summary", codes=frozenset({1, 2})),
        Case("wrong types", ("env", "--summary"), spoil.content(TRIALS, b'{"mode": 1}\n')),
        Case("output in a file", ("env", "--trials", "1", "-o", f"{ROM}/x.jsonl")),
    ],
}
