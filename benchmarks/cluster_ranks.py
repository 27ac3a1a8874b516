"""Trains 1-1 with torchrun ranks (gloo) until 90 % of training episodes clear, and evaluates it.

Prints steps, minutes and the clear rate of 400 fresh episodes with sticky actions (0.25 per frame)
and up to 30 no-op frames.

    python benchmarks/cluster_ranks.py --ranks 2
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from warpzone.campaign.measure import measure
from warpzone.evaluation.trained import load_policy
from warpzone.runs.checkpoint_store import find_latest
from warpzone.telemetry.reading import last_line

EPISODES, SEED = 400, 2_000_000


def train(ranks: int, seed: int, level: str, runs: Path) -> Path:
    """Trains with the command line and returns the run."""
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    subprocess.run(
        [
            *(*launcher, f"--nproc-per-node={ranks}", "-m", "warpzone", "train"),
            *("--preset=cpu-quick", f"--level={level}", f"--seed={seed}", "--display=plain"),
            *(f"--runs={runs}", "--name=ranks", "--torch-threads=1", "--num-threads=1"),
        ],
        check=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    return runs / "ranks"


def main() -> None:
    """Trains, evaluates and prints one line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--level", default="1-1")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run = train(given.ranks, given.seed, given.level, Path(folder))
        row, latest = last_line(run / "metrics.jsonl"), find_latest(run)
        assert row is not None
        assert latest is not None
        result = measure(load_policy(latest), given.level, EPISODES, SEED)
        print(
            f"{given.ranks} ranks, seed {given.seed}: {row['run/steps']:,} steps, "
            f"{row['run/elapsed'] / 60:.1f} min, {result.clear_rate:.1%} of {EPISODES} fresh "
            "episodes clear"
        )


if __name__ == "__main__":
    main()
