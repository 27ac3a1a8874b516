"""`warpzone eval`: measures how often a trained policy clears its level."""

from __future__ import annotations

import sys
from dataclasses import MISSING, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from warpzone.commands.plugins import PluginOptions
from warpzone.config.environment import Sticky
from warpzone.config.option import option, positional
from warpzone.config.run import LARGEST_SEED

if TYPE_CHECKING:
    from warpzone.evaluation.targets import Target


@dataclass(frozen=True)
class Evaluate(PluginOptions):
    """Play episodes with a trained policy and report how often it clears its levels or the game.

    Sticky actions (0.25 per frame) and up to 30 no-op frames at the start make every episode
    different, so that a memorized sequence of inputs does not work.

    Examples:
      warpzone eval 1-1                          # the policy that comes with Warpzone
      warpzone eval mario-1-1 --episodes 100     # a run below runs/
      warpzone eval runs/mario-1-1 --greedy --sticky-prob 0 --noop-max 0
      warpzone eval runs/mario-1-1 --level 1-2 -o results
      warpzone eval runs/mario-random            # held-out levels are reported separately
      warpzone eval policies/1-1.policy          # a file written by `warpzone export`
      warpzone eval policies/                    # each policy on its own levels
      warpzone eval policies/ --level game       # whole games, from 1-1 to the princess
    """

    run_path: Path = positional(
        MISSING,
        "Folder of a run or its name below runs/, a checkpoint, a policy file, a folder of those, "
        "or a level, for the policy that comes with Warpzone.",
        metavar="RUN",
    )
    level: str | None = option(
        None,
        "Levels to play instead of the run's own: '1-2', '1-1,1-2', '1-1..1-4', or 'all'. 'game' "
        "plays whole games with three lives; of a folder, the policy of the current level acts.",
        metavar="LEVEL",
    )
    episodes: int = option(100, "Episodes per level.", at_least=1, at_most=100_000, metavar="N")
    seed: int = option(
        10_000,
        "Seed of the first episode.",
        at_least=0,
        at_most=LARGEST_SEED,
        metavar="SEED",
    )
    greedy: bool = option(False, "Always take the most likely action instead of sampling one.")
    eval_temperature: float | None = option(
        None,
        "Temperature: logits are divided by it before an action is sampled. Defaults to the run's "
        "own setting.",
        above=0.0,
        at_most=1000.0,
        metavar="T",
    )
    sticky_prob: float = option(
        0.25,
        "Probability that the previous buttons stay pressed (sticky actions); 0 turns them off.",
        at_least=0.0,
        at_most=0.99,
        metavar="P",
    )
    sticky: Sticky = option(
        "frame",
        "When --sticky-prob applies: at each emulated frame, or once per step, which then repeats "
        "the whole previous action. Use step for a policy that was trained that way.",
    )
    warps: bool = option(
        False,
        "With --level game: allow warp pipes. Without it, a game that takes one counts as lost.",
    )
    noop_max: int = option(
        30,
        "Maximum number of no-op frames at the start.",
        at_least=0,
        at_most=1000,
        metavar="FRAMES",
    )
    rom: Path | None = option(
        None,
        "ROM file to play. By default, the ROM that the run was trained with, WARPZONE_ROM or "
        "the installed ROM is used.",
        metavar="FILE",
    )
    output: Path | None = option(
        None,
        "Write NAME.json and NAME.md; by default evaluation.json and .md in the run's folder (next "
        "to a policy file, named after it; for a level, evaluation-LEVEL in the current folder).",
        short="-o",
        metavar="NAME",
    )

    def run(self) -> int:
        """Evaluates and writes the results."""
        from warpzone.commands.progress import CommandProgress
        from warpzone.evaluation.result_files import results_table, write_results
        from warpzone.evaluation.run_evaluation import EvaluationOptions, evaluate_run
        from warpzone.evaluation.targets import find_target

        target = find_target(self.run_path)
        options = EvaluationOptions(
            level=self.level or target.level,
            episodes=self.episodes,
            seed=self.seed,
            greedy=self.greedy,
            eval_temperature=self.eval_temperature,
            warps=self.warps,
            rom=self.rom,
            env={
                "sticky_prob": self.sticky_prob,
                "sticky": self.sticky,
                "noop_max": self.noop_max,
            },
        )
        with CommandProgress("episodes") as bar:
            results, name = evaluate_run(
                target.path,
                options,
                output=self.output or _own_output(target),
                report=lambda text: print(text, file=sys.stderr, flush=True),
                progress=bar.update,
            )
        # Printed before they are written, in case the disk has filled up in the meantime.
        print(results_table(results), flush=True)
        write_results(results, name)
        return 0


def _own_output(target: Target) -> Path | None:
    """Where results of a policy that comes with Warpzone are written: not into the package."""
    return None if target.level is None else Path(f"evaluation-{target.level}")
