"""Minimal sweeps, for tests of the code around them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from warpzone.sweep.files import SweepFolder, SweepPlan, write_plan
from warpzone.sweep.options import SweepOptions
from warpzone.sweep.results import RunResult
from warpzone.sweep.study import MINUTES, SweepStudy, open_study, run_attribute

# Training options of the smallest runs: 64 updates of 32 steps.
FLAGS = [
    "--obs=tiles",
    "--num-envs=4",
    "--num-threads=1",
    "--torch-threads=1",
    "--rollout-steps=8",
    "--minibatch-size=16",
    "--hidden=16",
    "--device=cpu",
    "--log-every=1",
    "--episodes=20",
]
SPACE = ("learning-rate=1e-4:1e-3:log", "epochs=1:3", "optimizer=adam,adamw")


def small_plan(**options: Any) -> SweepPlan:
    """Returns the plan of a sweep over three options of the smallest runs."""
    explicit = {
        "env": {"level": "1-1", "obs": "tiles", "num_envs": 4, "num_threads": 1},
        "learn": {"rollout_steps": 8, "minibatch_size": 16},
        "model": {"hidden": 16},
        "run": {"steps": 2000, "torch_threads": 1, "device": "cpu"},
    }
    given = {"space": SPACE, "trials": 12, "objective": "clear-rate", "episodes": 20} | options
    return SweepPlan("cpu-quick", explicit, SweepOptions(**given))


def made_up_sweep(path: Path, **options: Any) -> SweepStudy:
    """Writes a finished sweep with made-up results: the smaller the learning rate, the better."""
    plan, folder = small_plan(**options), SweepFolder(path)
    path.mkdir(parents=True)
    write_plan(folder, plan)
    study = open_study(folder, plan, create=True)
    for _ in range(plan.options.trials):
        number = study.ask(seed=0)
        rate = 1.0 - 900 * study.trial(number).params["learning-rate"]
        result = RunResult(2000, 0.5, rate, round(2000 * (1.1 - rate)), 0.4)
        study.set_attribute(number, run_attribute(0), result.as_row())
        study.set_attribute(number, MINUTES, result.minutes)
        values = {"clear-rate": rate, "steps": 2000 * (1.1 - rate), "minutes": 0.4}
        study.finish(number, [values[name] for name in plan.options.objectives])
    return study
