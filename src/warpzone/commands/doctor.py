"""`warpzone doctor`: checks the machine and how reliably environments start."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from warpzone.config.option import option, positional

if TYPE_CHECKING:
    from warpzone.doctor.checks import Finding
    from warpzone.doctor.trial import TrialOptions

_SIGNS = {"ok": " ", "hint": "-", "problem": "!"}


@dataclass(frozen=True)
class Doctor:
    """Check this machine, or start environments many times and count how often that works.

    Without arguments, it prints versions, CPU, GPU, the ROM, writable folders and throughput,
    with advice on how to fix problems. `doctor env` creates, resets and closes environments in a
    fresh process per trial and appends one JSON line per trial to a file; logs of failed trials are
    kept.

    Examples:
      warpzone doctor
      warpzone doctor env --mode native --trials 1000
      warpzone doctor env --mode async --backend nes-py --num-envs 8 --trials 100
      warpzone doctor env --summary
    """

    what: Literal["machine", "env"] = positional(
        "machine", "What to check: the machine, or the start of environments.", metavar="WHAT"
    )
    mode: Literal["native", "sync", "async"] = option(
        "native",
        "How environments are stepped: on native threads, one after the other in one process "
        "(sync), or in one process each (async).",
    )
    backend: Literal["native", "nes-py"] = option(
        "native", "Emulator; nes-py needs --mode sync or async."
    )
    trials: int = option(10, "Number of starts.", at_least=1, at_most=1_000_000, metavar="N")
    num_envs: int = option(8, "Environments per trial.", at_least=1, at_most=4096, metavar="N")
    timeout: float | None = option(
        None,
        "Time limit per stage, in seconds; by default the larger of 180 and 60 per environment.",
        above=0.0,
        at_most=86_400.0,
        metavar="SECONDS",
    )
    prewarm: int = option(
        0,
        "Number of environments to create in the parent process first.",
        at_least=0,
        at_most=1024,
        metavar="N",
    )
    start_delay: float = option(
        0.0,
        "Seconds between the starts of two workers.",
        at_least=0.0,
        at_most=3600.0,
        metavar="SECONDS",
    )
    start_method: Literal["spawn", "forkserver"] = option("spawn", "How workers are started.")
    strict_stage: bool = option(
        False, "Fail if the emulator starts a different level from the one requested."
    )
    fallback_sync: bool = option(
        False, "Count a start as successful even if it fell back to a single process."
    )
    level: str = option("1-1", "Level to play.", metavar="LEVEL")
    output: Path = option(
        Path("doctor-env.jsonl"),
        "File to which `doctor env` appends one line per trial.",
        short="-o",
        metavar="FILE",
    )
    summary: bool = option(False, "Only summarize the file, without starting any environments.")

    def run(self) -> int:
        """Runs the checks and returns 1 if there is a problem."""
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
            print(f"\nproblems: {len(found)} (marked with !); hints: {len(hints)}")
        else:
            print(f"\nno problems found; hints: {len(hints)}")
        return 1 if found else 0

    def _start(self) -> list[dict[str, object]]:
        from warpzone.doctor.env_trials import run_trials

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
            from warpzone.envs.backends.nes_py_fixes import check_versions

            check_versions()
        return options


def _line(finding: Finding) -> str:
    line = f"{_SIGNS[finding.level]} {finding.name:18} {finding.value}"
    return f"{line}\n{'':21}{finding.advice}" if finding.advice else line
