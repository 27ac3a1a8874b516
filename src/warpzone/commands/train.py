"""`warpzone train`: trains a policy, or resumes a run."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from warpzone.commands.command import training_options
from warpzone.config import (
    PRESET_NAMES,
    Partial,
    TrainConfig,
    explicit_options,
    merged,
    overlaid,
    resolve,
    to_toml,
)
from warpzone.config.option import option, options_of
from warpzone.config.resolve import DEFAULT_PRESET
from warpzone.config.sources import TRAIN_PREFIX, variable_name
from warpzone.errors import ConfigError, RunCompleteError

if TYPE_CHECKING:
    from warpzone.training.session import MakeTrainer

Display = Literal["auto", "rich", "plain", "quiet"]


@dataclass(frozen=True)
class Train:
    """Train a policy; all files of the run are kept in one folder below runs/.

    Options come from a preset, a TOML file (--file), environment variables such as
    WARPZONE_TRAIN_ENV_NUM_ENVS=32, and the command line; later sources take precedence.

    Examples:
      warpzone train --level 1-1 --obs tiles
      warpzone train --level 1-1..1-4 --obs tiles --actions simple --level-order curriculum
      warpzone train --level 1-2 --obs tiles --actions simple --from-solutions solutions/
      warpzone train --preset gpu --level random --held-out 1-3,2-1 --memory lstm
      warpzone train --teachers policies/ --level all --obs tiles --steps 2M
      warpzone train --from-sweep sweeps/mario-1-1 --seed 100
      warpzone train --resume runs/mario-1-1 --steps 4M
      warpzone train --resume newest
      warpzone train --preset cpu-quick --dry-run
      torchrun --nproc-per-node 2 -m warpzone train --level 1-1
    """

    preset: str | None = option(
        None,
        f"Preset to start from: {', '.join(PRESET_NAMES)} (default: {DEFAULT_PRESET}).",
        choices=PRESET_NAMES,
        metavar="NAME",
        everyday=True,
    )
    file: Path | None = option(
        None,
        "TOML file of options, such as the config.toml of another run.",
        metavar="TOML",
        everyday=True,
    )
    resume: str | None = option(
        None,
        "Resume a run exactly where it left off: its folder, a checkpoint, its name below the runs "
        "folder, or 'newest' (with --level, the newest of that level).",
        metavar="RUN",
        everyday=True,
    )
    resume_with_changes: bool = option(
        False,
        "Resume even if options differ from those the run was started with.",
    )
    from_sweep: Path | None = option(
        None,
        "Train with the preset, the options and the best parameters of a sweep. Options given "
        "here take precedence.",
        metavar="SWEEP",
    )
    sweep_trial: int | None = option(
        None,
        "Trial of --from-sweep to use instead of the best; required if the sweep has two "
        "objectives.",
        at_least=0,
        at_most=10**9,
        metavar="N",
    )
    dry_run: bool = option(
        False,
        "Print the whole configuration and, after a trial of a few seconds, an estimate of the "
        "run's time and memory; write nothing.",
        everyday=True,
    )
    display: Display = option(
        "auto",
        "How progress is shown; 'auto' uses plain lines if the output is not a terminal.",
        everyday=True,
    )
    video: bool = option(
        True,
        "Record an episode of the trained policy at the end.",
        off="Do not record an episode of the trained policy at the end.",
    )
    dashboard: bool = option(
        False,
        "Serve the dashboard of the runs folder while training, on a free port of this machine; "
        "see `warpzone dashboard`.",
        everyday=True,
    )
    training: Partial = training_options(DEFAULT_PRESET)

    def run(self) -> int:
        """Trains and returns the exit code."""
        explicit = self._explicit()
        target = self._target(explicit)
        config = self._config(explicit, target)
        if self.dry_run:
            return self._dry_run(config)
        from warpzone.training.process_ranks import has_ranks

        if has_ranks():
            from warpzone.training.rank_trainer import train_with_ranks

            return train_with_ranks(lambda make: self._train(config, target, make))
        from warpzone.training.trainer import Trainer

        return self._train(config, target, Trainer)

    def _train(self, config: TrainConfig, target: Path | None, make: MakeTrainer) -> int:
        """Trains a new run, or resumes one, and returns the exit code."""
        from warpzone.system.output import say
        from warpzone.training import session
        from warpzone.training.summary import end_line, next_line
        from warpzone.video.background import BackgroundRecorder

        try:
            with ExitStack() as stack:
                recorder = stack.enter_context(BackgroundRecorder(config.run.plugins))
                if self.dashboard:
                    self._open_dashboard(config, stack)
                if target is not None:
                    run, stop = session.resume(
                        target,
                        config,
                        self.resume_with_changes,
                        self.display,
                        record=recorder.record,
                        make_trainer=make,
                    )
                else:
                    run, stop = session.start(
                        config, self.display, record=recorder.record, make_trainer=make
                    )
        except RunCompleteError as complete:
            say(f"{target}: {complete}")
            return 0
        say(end_line(run, stop))
        if self.video and not stop:
            from warpzone.video.policy_video import record_policy

            recording = record_policy(run.path, run.videos / "final.mp4")
            say(f"an episode of the trained policy: {recording.path}")
        say(next_line(run, stop))
        return stop.exit_code

    def _open_dashboard(self, config: TrainConfig, stack: ExitStack) -> None:
        from warpzone.dashboard.background import background_dashboard
        from warpzone.system.output import say

        address = stack.enter_context(background_dashboard(Path(config.run.runs)))
        say(f"dashboard: {address}")

    def _explicit(self) -> Partial:
        own = [variable_name(TRAIN_PREFIX, option) for option in options_of(type(self))]
        return explicit_options(self.file, self.training, own)

    def _target(self, explicit: Partial) -> Path | None:
        """Returns the run or checkpoint to resume, and prints it if it had to be searched for."""
        if self.resume is None:
            return None
        from warpzone.runs.resume import resolve_run

        if self.preset is not None:
            raise ConfigError("--preset is for new runs; a resumed run keeps its configuration")
        runs = explicit.get("run", {}).get("runs", TrainConfig().run.runs)
        path = resolve_run(self.resume, Path(runs), explicit.get("env", {}).get("level"))
        if str(path) != self.resume:
            print(f"resuming {path}")
        return path

    def _config(self, explicit: Partial, target: Path | None) -> TrainConfig:
        """Returns the configuration of a new run, or of a saved run with explicit changes."""
        if self.sweep_trial is not None and self.from_sweep is None:
            raise ConfigError("--sweep-trial needs --from-sweep, which names the sweep")
        if self.from_sweep is not None:
            return self._swept_config(self.from_sweep, explicit, target)
        if target is None:
            return resolve(explicit, self.preset or DEFAULT_PRESET)
        from warpzone.runs.saved_config import saved_config

        return overlaid(saved_config(target), explicit)

    def _swept_config(self, sweep: Path, explicit: Partial, target: Path | None) -> TrainConfig:
        """Returns the configuration that a sweep found, with explicit changes."""
        from warpzone.sweep.overview import swept_options

        for flag, given in (("--resume", target), ("--preset", self.preset)):
            if given is not None:
                raise ConfigError(f"--from-sweep and {flag} exclude each other; leave one out")
        preset, found = swept_options(sweep, self.sweep_trial)
        return resolve(merged(found, explicit), preset)

    def _dry_run(self, config: TrainConfig) -> int:
        from warpzone.training.estimate import estimate
        from warpzone.training.memory_need import check_memory

        print(to_toml(config))
        print(f"# {check_memory(config)}", flush=True)
        print(estimate(config))
        return 0
