"""Trains for half an hour with injected faults, then checks the state of the run.

    python tests/soak/run_soak.py --minutes 30
    python tests/soak/run_soak.py --minutes 2 --folder /tmp/soak

The run is slowed down, hits a full disk, is stopped by an environment that raises and by SIGTERM,
and has its newest checkpoint damaged. It is resumed after each fault and trains undisturbed for the
second half of the time. Afterwards every step must have been counted once, all files must be
readable, memory use must be constant, and every fault must appear in the log as one line.
"""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from soak_checks import Check, check_run
from soak_child import MARK

CHILD = Path(__file__).with_name("soak_child.py")
NUM_ENVS, STEPS = 16, 32
OPTIONS = (
    f"--obs tiles --num-envs {NUM_ENVS} --num-threads 1 --rollout-steps {STEPS} "
    "--minibatch-size 256 --hidden 64 --torch-threads 1 --device cpu --display plain --no-video "
    "--overlap --adaptive --replay-capacity 8192 --replay-learning-starts 2048 --log-every 2 "
    "--checkpoint-minutes 0.2 --slow-step 0.3 --slow-count 3 --steps 1000000000"
)
GRACE = 120.0  # Seconds that a process gets to exit by itself.


@dataclass
class Soak:
    """A run and the output of each process that trained it."""

    folder: Path
    sessions: list[str] = field(default_factory=list)

    @property
    def run(self) -> Path:
        return self.folder / "soak"

    def train(self, faults: str, seconds: float, expected: tuple[int, ...]) -> None:
        """Starts or resumes the run, and sends SIGTERM unless a fault ends it first."""
        if self.run.exists():
            arguments = ["--resume", str(self.run), "--resume-with-changes", "--acting", "native"]
            arguments += ["--display", "plain", "--no-video"]
        else:  # Only steps that PyTorch takes one by one are watched for being slow.
            arguments = ["--runs", str(self.folder), "--name", "soak", "--acting", "torch"]
            arguments += OPTIONS.split()
        command = [sys.executable, str(CHILD), faults, "train", *arguments]
        print(f"  training for {seconds:.0f} s with {faults or 'no fault'}", flush=True)
        self.sessions.append("")
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as child:
            started = threading.Event()
            reader = threading.Thread(target=self._read, args=(child, started))
            reader.start()
            # Time is measured from the first update, as it is for the faults.
            while child.poll() is None and not started.wait(1.0):
                pass
            for number in (signal.SIGTERM, signal.SIGKILL):
                try:
                    child.wait(seconds)
                    break
                except subprocess.TimeoutExpired:
                    child.send_signal(number)
                    seconds = GRACE
            child.wait()
            reader.join()
        output = self.sessions[-1]
        if child.returncode not in expected:
            raise SystemExit(f"exited with {child.returncode}, not {expected}:\n{output[-3000:]}")

    def _read(self, child: subprocess.Popen[str], started: threading.Event) -> None:
        assert child.stdout is not None
        for line in child.stdout:
            self.sessions[-1] += line
            if MARK in line:
                started.set()

    def damage_latest(self) -> Path:
        """Flips a byte in the middle of the newest checkpoint."""
        path = max((self.run / "checkpoints").glob("update-*.pt"))
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 0xFF
        path.write_bytes(data)
        return path


def soak(folder: Path, minutes: float) -> list[Check]:
    """Trains with faults and checks the run."""
    total, run = minutes * 60.0, Soak(folder)
    began = time.monotonic()
    part = total / 12
    terminated = 128 + signal.SIGTERM
    run.train(f"slow@{part:.0f}", 2 * part, (terminated,))
    run.train(f"disk@{part / 2:.0f}", part + 15.0, (terminated,))
    run.train(f"env@{part / 2:.0f}", part + GRACE, (2,))
    run.train("", part, (terminated,))
    damaged = run.damage_latest()
    # The failing environment ends its session early, so more than half of the time is left.
    run.train("", max(total / 2, total - (time.monotonic() - began)), (terminated,))
    return check_run(run.run, damaged, NUM_ENVS * STEPS, run.sessions)


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--folder", type=Path, help="keep the run here; must be empty or new")
    options = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="warpzone-soak-") as temporary:
        folder = options.folder or Path(temporary)
        if folder.exists() and any(folder.iterdir()):
            raise SystemExit(f"{folder} is not empty")
        folder.mkdir(parents=True, exist_ok=True)
        checks = soak(folder, options.minutes)
    for check in checks:
        print(f"{'ok  ' if check.passed else 'FAIL'} {check.name}: {check.found}")
    print(f"{(time.monotonic() - began) / 60:.1f} minutes")
    return 0 if all(check.passed for check in checks) else 1


if __name__ == "__main__":
    sys.exit(main())
