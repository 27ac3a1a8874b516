"""`warpzone eval`: how often a trained policy clears its level."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro


@dataclass(frozen=True)
class Evaluate:
    """Play episodes with a trained policy and say how often it clears the level.

    Sticky buttons (0.25 a frame) and up to 30 idle frames at the start make every episode
    different, so that a memorised sequence of inputs fails.

    For example:
      warpzone eval runs/mario-1-1 --episodes 100
      warpzone eval runs/mario-1-1 --greedy --sticky 0 --noop 0
      warpzone eval runs/mario-1-1 --level 1-2 -o results
      warpzone eval runs/mario-random            # also the levels that were held out, apart
      warpzone eval policies/1-1.policy          # what `warpzone export` wrote
      warpzone eval policies/                    # each policy on its own levels
    """

    run_path: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
    """A run's folder, one of its checkpoints, a policy file, or a folder of those."""
    level: str | None = None
    """Other levels than the run's own: '1-2', '1-1,1-2', '1-1..1-4', or 'all'."""
    episodes: int = 100
    """Episodes for each level."""
    seed: int = 10_000
    """Of the first episode."""
    greedy: bool = False
    """Always take the most likely action instead of drawing one."""
    eval_temperature: float | None = None
    """Draw from logits that are so many times as large as the network's; by default as the run was
    configured."""
    sticky: float = 0.25
    """Chance, at each frame, that the buttons of the frame before stay pressed."""
    noop: int = 30
    """Up to so many idle frames at the start."""
    output: Annotated[Path | None, tyro.conf.arg(aliases=["-o"], metavar="NAME")] = None
    """Write NAME.json and NAME.md; by default evaluation.json and .md in the run's folder (beside a
    policy file, named after it)."""

    def run(self) -> int:
        """Evaluates and writes the results."""
        from warpzone.evaluate.run_evaluation import evaluate_run, results_table, write_results

        results, name = evaluate_run(
            self.run_path,
            level=self.level,
            episodes=self.episodes,
            seed=self.seed,
            greedy=self.greedy,
            eval_temperature=self.eval_temperature,
            sticky_prob=self.sticky,
            noop_max=self.noop,
            output=self.output,
            report=lambda text: print(text, file=sys.stderr, flush=True),
        )
        # Before they are written, since a disk may have filled up meanwhile.
        print(results_table(results), flush=True)
        write_results(results, name)
        return 0
