"""`warpzone doctor`: what is wrong here, and whether environments start every time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

if TYPE_CHECKING:
    from warpzone.doctor.checks import Finding
    from warpzone.doctor.trial import TrialOptions

_SIGNS = {"ok": " ", "hint": "-", "problem": "!"}


@dataclass(frozen=True)
class Doctor:
    """Look at this machine, or start environments many times and count how often it works.

    Alone it tells versions, processor, GPU, the game's image, what can be written and the speed,
    with advice for what is wrong. `doctor env` builds, resets and closes environments in a fresh
    process for each trial and appends a JSON line a trial to a file; logs of a failure are kept.

    For example:
      warpzone doctor
      warpzone doctor env --mode native --trials 1000
      warpzone doctor env --mode async --backend nes-py --num-envs 8 --trials 100
      warpzone doctor env --summary
    """

    what: tyro.conf.Positional[Literal["machine", "env"]] = "machine"
    """What to look at: the machine, or the start of environments."""
    mode: Literal["native", "sync", "async"] = "native"
    """Our pool of threads, games one after the other, or games in processes."""
    backend: Literal["native", "nes-py"] = "native"
    """The machine that the games run on; nes-py needs sync or async."""
    trials: int = 10
    """How often to start."""
    num_envs: int = 8
    """Games in each trial."""
    timeout: float | None = None
    """Seconds for each stage; by default the larger of 180 and 60 a game."""
    prewarm: int = 0
    """Games that are built in the parent first."""
    start_delay: float = 0.0
    """Seconds between the starts of two processes."""
    start_method: Literal["spawn", "forkserver"] = "spawn"
    """How processes are started."""
    strict_stage: bool = False
    """Fail when a machine begins another level than the one asked for."""
    fallback_sync: bool = False
    """Count a start as good when it had to fall back to games one after the other."""
    level: str = "1-1"
    """What is played."""
    output: Annotated[Path, tyro.conf.arg(aliases=["-o"], metavar="FILE")] = Path(
        "doctor-env.jsonl"
    )
    """Where `doctor env` appends a line a trial."""
    summary: bool = False
    """Start nothing; only sum up the file."""

    def run(self) -> int:
        """Looks, and returns 1 when something is wrong."""
        if self.what == "machine":
            return self._look()
        from warpzone.doctor.summary import read_trials, summary

        rows = read_trials(self.output) if self.summary else self._start()
        print("\n".join(summary(rows)))
        return 0 if rows and all(row["ok"] for row in rows) else 1

    def _look(self) -> int:
        from warpzone.doctor.checks import run_checks, with_level

        findings = []
        for finding in run_checks(Path("runs")):
            findings.append(finding)
            print(_line(finding), flush=True)
        found, hints = with_level(findings, "problem"), with_level(findings, "hint")
        if found:
            print(f"\nto mend: {len(found)} (marked with !); hints: {len(hints)}")
        else:
            print(f"\nnothing is wrong; hints: {len(hints)}")
        return 1 if found else 0

    def _start(self) -> list[dict[str, object]]:
        from warpzone.doctor.env_trials import run_trials
        from warpzone.errors import ConfigError

        if self.trials < 1:
            raise ConfigError(f"--trials is {self.trials}; it must be at least 1")
        if self.num_envs < 1:
            raise ConfigError(f"--num-envs is {self.num_envs}; it must be at least 1")
        rows = []
        for row in run_trials(self._options(), self.trials, self.output):
            rows.append(row)
            end = "ok" if row["ok"] else f"FAILED: {row['error']}"
            print(f"trial {row['trial']} of {self.trials}: {row['total']:.1f} s, {end}", flush=True)
        return rows

    def _options(self) -> TrialOptions:
        from warpzone.doctor.trial import TrialOptions
        from warpzone.envs.vectors.options import check_vector

        check_vector(self.backend, self.mode)
        options = TrialOptions(
            mode=self.mode,
            backend=self.backend,
            num_envs=self.num_envs,
            level=self.level,
            prewarm=self.prewarm,
            start_delay=self.start_delay,
            start_method=self.start_method,
            timeout=self.timeout,
            strict_stage=self.strict_stage,
            fallback_sync=self.fallback_sync,
        )
        options.workers().verify()
        if self.backend == "nes-py":
            from warpzone.envs.backends.nes_py_mend import check_versions

            check_versions()
        return options


def _line(finding: Finding) -> str:
    line = f"{_SIGNS[finding.level]} {finding.name:18} {finding.value}"
    return f"{line}\n{'':21}{finding.advice}" if finding.advice else line
