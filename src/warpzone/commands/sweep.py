"""`warpzone sweep`: searches training options; `sweep show` prints what it has found."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from warpzone.commands.command import training_options
from warpzone.commands.job_workers import address_option, job_workers
from warpzone.commands.tables import table_console
from warpzone.commands.train import Train
from warpzone.config import PRESET_NAMES, Partial, explicit_options
from warpzone.config.option import option, options_of, positional
from warpzone.config.sources import TRAIN_PREFIX, variable_name
from warpzone.errors import ConfigError
from warpzone.sweep.options import SweepOptions
from warpzone.system.text import printable

if TYPE_CHECKING:
    from warpzone.sweep.files import SweepPlan
    from warpzone.sweep.overview import Overview

_PRESET = "cpu-quick"
# Training options that a sweep sets for each of its runs, and the options to use instead.
_OWN = {
    "run.runs": "--output",
    "run.name": "--output",
    "run.stop_at_clear_rate": "--goal",
    "run.video_minutes": "`warpzone video` with a run of the sweep",
}
_MAX_ROWS = 20


@dataclass(frozen=True)
class Sweep(SweepOptions):
    """Search training options with Optuna; every trial is one or more ordinary runs.

    A trial trains until fresh episodes confirm the goal or its steps are used up. Trials that fall
    behind are pruned. Runs are in runs/ below the sweep's folder: they can be watched, evaluated
    and compared like any other run. Optuna's journal is journal.log. A sweep that was stopped or
    killed resumes with --resume; no trial is lost or run twice. Needs
    `pip install 'warpzone[sweep]'`.

    Examples:
      warpzone sweep --level 1-3 --trials 60 --jobs 2 -o sweeps/a
      warpzone sweep --level 1-1 --space learning-rate=1e-4:3e-3:log --space epochs=1:8
      warpzone sweep --level 1-1 --objective minutes+clear-rate --seeds 3 --steps 400k
      warpzone sweep --resume sweeps/a
      warpzone sweep --resume sweeps/a --trials 120 --jobs 4
      warpzone sweep show sweeps/a
      warpzone report sweeps/a -o report.html
      warpzone train --from-sweep sweeps/a
    """

    output: Path | None = option(
        None,
        "Folder of the sweep; by default, sweeps/ and a name derived from the level.",
        short="-o",
        metavar="FOLDER",
        everyday=True,
    )
    resume: Path | None = option(
        None,
        "Resume the sweep of this folder. Only --trials, --jobs, --address and --plugin may be "
        "given with it.",
        metavar="SWEEP",
        everyday=True,
    )
    preset: str = option(
        _PRESET,
        f"Preset of the training options: {', '.join(PRESET_NAMES)}.",
        choices=PRESET_NAMES,
        metavar="NAME",
        everyday=True,
    )
    file: Path | None = option(
        None,
        "TOML file of training options.",
        metavar="TOML",
    )
    address: str | None = address_option()
    training: Partial = training_options(
        _PRESET,
        omitted=tuple(_OWN),
        shown=("level", "obs", "actions", "from-solutions", "num-envs", "steps", "seed", "device"),
    )

    def run(self) -> int:
        """Runs the trials that are left."""
        from warpzone.sweep.storage import require_optuna
        from warpzone.sweep.sweep import run_sweep

        path, plan = self._new() if self.resume is None else self._resumed(self.resume)
        plan.verify()
        require_optuna()
        with job_workers(self.address, plan.options.jobs) as workers:
            stop = run_sweep(
                path,
                plan,
                resume=self.resume is not None,
                plugins=plan.explicit.get("run", {}).get("plugins", ()),
                report=lambda text: print(printable(text), flush=True),
                workers=workers,
            )
        if stop:
            print(f"stopped by {stop.reason}; `warpzone sweep --resume {path}` resumes from here")
            return stop.exit_code
        print(f"`warpzone sweep show {path}` shows the result")
        print(f"`warpzone train --from-sweep {path}` trains with it")
        return 0

    def _new(self) -> tuple[Path, SweepPlan]:
        from warpzone.config import TrainConfig
        from warpzone.sweep.files import SweepPlan

        explicit = self._explicit()
        level = str(explicit.get("env", {}).get("level", TrainConfig().env.level))
        path = self.output or Path("sweeps") / f"mario-{level.replace(',', '+')}"
        return path, SweepPlan(self.preset, explicit, self._options())

    def _resumed(self, path: Path) -> tuple[Path, SweepPlan]:
        """Returns the saved plan, with the number of trials and jobs that is asked for now."""
        from warpzone.registry import load_plugins
        from warpzone.sweep.files import read_plan

        plugins = self.training.get("run", {}).get("plugins", ())
        load_plugins(plugins)
        saved = read_plan(path)
        self._refuse_changes(saved)
        defaults, changes = SweepOptions(), {}
        for name in ("trials", "jobs"):
            if getattr(self, name) != getattr(defaults, name):
                changes[name] = getattr(self, name)
        return path, replace(saved, options=replace(saved.options, **changes))

    def _refuse_changes(self, saved: SweepPlan) -> None:
        given = [
            f"--{item.flag}"
            for item in options_of(Sweep)
            if getattr(self, item.name) != item.default
            and item.name not in ("resume", "trials", "jobs", "address")
            and getattr(self, item.name) != getattr(saved.options, item.name, None)
        ]
        given += [
            f"{table}.{name}"
            for table, options in self.training.items()
            for name in options
            if (table, name) != ("run", "plugins")
        ]
        if given:
            raise ConfigError(
                f"{given[0]} cannot change when a sweep is resumed; leave it out, or start another "
                "sweep"
            )

    def _options(self) -> SweepOptions:
        """Returns the options of the sweep, without those of the command."""
        return SweepOptions(
            **{item.name: getattr(self, item.name) for item in fields(SweepOptions)}
        )

    def _explicit(self) -> Partial:
        of_train = [variable_name(TRAIN_PREFIX, option) for option in options_of(Train)]
        explicit = explicit_options(self.file, self.training, of_train)
        for path, instead in _OWN.items():
            table, _, name = path.partition(".")
            if name in explicit.get(table, {}):
                raise ConfigError(f"{path} is set by the sweep itself; use {instead} instead")
        return explicit


@dataclass(frozen=True)
class SweepShow:
    """Show a sweep: its best trials, which options matter, and the configuration to copy.

    Works while the sweep is running. `warpzone report` writes the same with charts.

    Examples:
      warpzone sweep show sweeps/a
      warpzone sweep show sweeps/a --all
    """

    folder: Path = positional(MISSING, "Folder of the sweep.", metavar="SWEEP")
    all: bool = option(False, "List every trial instead of the best ones.")

    def run(self) -> int:
        """Prints the tables and the best configuration."""
        from warpzone.sweep.overview import read_overview

        overview = read_overview(self.folder)
        screen = table_console()
        options = overview.plan.options
        counts = {
            "finished": overview.count("COMPLETE"),
            "pruned": overview.count("PRUNED"),
            "failed": overview.count("FAIL"),
            "unfinished": overview.count("RUNNING"),
        }
        states = ", ".join(f"{count} {name}" for name, count in counts.items())
        screen.print(f"{len(overview.trials)} of {options.trials} trials: {states}")
        screen.print(f"objective: {options.objective}, sampler: {options.sampler}")
        self._print_trials(overview)
        _print_importance(overview)
        for trial in overview.best[:1]:
            screen.print(f"configuration of trial {trial.number}, `{overview.command(trial)}`:\n")
            screen.print(overview.toml(trial), end="")
        return 0

    def _print_trials(self, overview: Overview) -> None:
        from rich.table import Table

        from warpzone.sweep.show import note_text, parameter_text, state_text, values_text

        names = [dimension.name for dimension in overview.plan.space]
        table = Table("trial", "state", "result", *names, "")
        rows = overview.trials if self.all else overview.ranked()[:_MAX_ROWS]
        best = {trial.number for trial in overview.best}
        for trial in rows:
            parameters = [
                parameter_text(trial.params[name]) if name in trial.params else "-"
                for name in names
            ]
            note = "best" if trial.number in best else note_text(trial)
            values = values_text(trial, overview.plan.options) or "-"
            table.add_row(str(trial.number), state_text(trial), values, *parameters, note)
        table_console().print(table)


def _print_importance(overview: Overview) -> None:
    from rich.table import Table

    if not overview.importance:
        return
    table = Table("option", "importance")
    for name, share in overview.importance.items():
        table.add_row(name, f"{share:.0%}")
    table_console().print(table)
