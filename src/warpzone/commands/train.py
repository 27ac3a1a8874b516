"""`warpzone train`: trains a policy, or goes on with a run."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Literal

import tyro

from warpzone.config.io import from_environment, from_toml, to_toml
from warpzone.config.options import TrainConfig
from warpzone.config.presets import (
    PRESETS,
    preset,
    with_algorithm,
    with_memory,
    with_observations,
    with_solutions,
)
from warpzone.errors import ConfigError, RunCompleteError

Preset = Literal["cpu", "cpu-quick", "campaign", "gpu", "gpu-large"]


@dataclass(frozen=True)
class Train:
    """Train a policy; everything about the run lies in one folder below runs/.

    For example:
      warpzone train --level 1-1
      warpzone train --level 1-1 --obs tiles --steps 500000
      warpzone train --level random --held-out 1-3,2-1
      warpzone train --preset gpu --level 1-1..1-3 --algo vtrace --model impala --memory lstm
      warpzone train --level 1-2 --obs tiles --actions simple --from-solutions solutions/
      warpzone train --level 1-1..1-4 --obs tiles --actions simple --level-order curriculum
      warpzone train --resume runs/mario-1-1
      warpzone train --resume mario-1-1              # below the runs folder
      warpzone train --resume newest --level 1-1     # the one that was trained last
      warpzone train --preset cpu-quick --dry-run
    """

    config: TrainConfig = field(default_factory=lambda: preset("cpu"))
    preset: Preset = "cpu"
    """Where the options below start from."""
    file: Annotated[Path | None, tyro.conf.arg(metavar="TOML")] = None
    """A file of options, laid over the preset."""
    resume: Annotated[Path | None, tyro.conf.arg(metavar="RUN")] = None
    """Go on with a run, exactly where it stopped: its folder, a checkpoint, its name below the
    runs folder, or 'newest' for the last one (of the level, if one is given)."""
    resume_with_changes: bool = False
    """Go on although options differ from those that the run was started with."""
    dry_run: bool = False
    """Print the configuration and what the run would need, after a trial of some seconds; nothing
    is written."""
    display: Literal["auto", "rich", "plain", "quiet"] = "auto"
    """How progress is shown; auto is plain lines when the output is no terminal."""
    video: bool = True
    """Film an episode at the end."""

    def run(self) -> int:
        """Trains."""
        self.config.verify()
        if self.dry_run:
            from warpzone.train.estimate import estimate

            print(to_toml(self.config))
            print(estimate(self.config))
            return 0
        from warpzone.system.output import say
        from warpzone.train import session
        from warpzone.train.summary import end_line, next_line
        from warpzone.video.background import BackgroundRecorder

        try:
            with BackgroundRecorder() as recorder:
                if self.resume is not None:
                    run, stop = session.resume(
                        self.resume,
                        self.config,
                        self.resume_with_changes,
                        self.display,
                        record=recorder.record,
                    )
                else:
                    run, stop = session.start(self.config, self.display, record=recorder.record)
        except RunCompleteError as complete:
            say(f"{self.resume}: {complete}")
            return 0
        say(end_line(run, stop))
        if self.video and not stop:
            from warpzone.video.policy_video import record_policy

            path = record_policy(run.path, run.videos / "final.mp4")
            say(f"an episode of the trained policy: {path}")
        say(next_line(run, stop))
        return stop.exit_code


def train_defaults(arguments: list[str]) -> Train:
    """What the options of `train` start from: the preset, a file, and environment variables.

    They must be known before the options are parsed, since they are the options' defaults. A run
    that is resumed gives its own configuration.
    """
    run = _value_of(arguments, "--resume")
    if run is not None:
        from warpzone.runs.saved_config import saved_config

        return replace(Train(), config=saved_config(Path(run)))
    return replace(Train(), config=fresh_config(arguments))


def settled(arguments: list[str]) -> list[str]:
    """The arguments with the path of the run that `--resume` names; a run that was found is told.

    Raises:
        ResumeError: When there is no such run.
    """
    word = _value_of(arguments, "--resume")
    if word is None:
        return arguments
    from warpzone.runs.resume import resolve_run

    runs = _value_of(arguments, "--runs") or fresh_config(arguments).run.runs
    path = str(resolve_run(word, Path(runs), _value_of(arguments, "--level")))
    if path != word:
        print(f"goes on with {path}")
    place = arguments.index("--resume") + 1 if "--resume" in arguments else None
    if place is not None:
        return [*arguments[:place], path, *arguments[place + 1 :]]
    return [f"--resume={path}" if part == f"--resume={word}" else part for part in arguments]


def fresh_config(arguments: list[str], default: Preset = "cpu") -> TrainConfig:
    """What the options of a new run start from: the preset, variables, and a file.

    Args:
        arguments: Of the command; only a few are looked at.
        default: The preset, if none is named.

    Raises:
        ConfigError: For a file that cannot be read, or an option that does not exist.
    """
    name = _value_of(arguments, "--preset") or default
    if name not in PRESETS:
        return preset(default)  # The parser refuses it with the list of presets.
    config = preset(name)
    obs = _value_of(arguments, "--obs")
    if obs is not None and not name.startswith("gpu") and obs != config.env.obs:
        config = with_observations(config, obs)
    config = with_algorithm(config, _value_of(arguments, "--algo") or config.learn.algo)
    config = with_memory(config, _value_of(arguments, "--memory") or config.model.memory)
    solutions = _value_of(arguments, "--from-solutions")
    if solutions is not None:
        config = with_solutions(config, solutions)
    config = from_environment(config)
    file = _value_of(arguments, "--file")
    if file is not None:
        try:
            text = Path(file).read_text()
        except OSError as error:
            raise ConfigError(f"{file} cannot be read ({error.strerror})") from error
        config = from_toml(text, config, file)
    return config


def _value_of(arguments: list[str], option: str) -> str | None:
    for index, argument in enumerate(arguments):
        if argument == option and index + 1 < len(arguments):
            return arguments[index + 1]
        if argument.startswith(option + "="):
            return argument.partition("=")[2]
    return None
