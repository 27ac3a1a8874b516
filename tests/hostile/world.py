"""A small folder with one file of every kind that commands read, to be damaged."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict, replace
from pathlib import Path

from small_campaign import made_up_row
from small_sweep import made_up_sweep
from tiny import tiny

from warpzone.campaign.board_files import publish
from warpzone.campaign.options import CampaignOptions
from warpzone.campaign.scoreboard import Scoreboard
from warpzone.campaign.state import CampaignState, TaskState, asked_of, write_state
from warpzone.evaluation.export import export_policy
from warpzone.runs.checkpoint import sha256_of
from warpzone.system.processes import ProcessId
from warpzone.training import session

# Where things are in the folder; commands run inside it.
RUN = "runs/mario"
POLICY = "policies/1-1.policy"
BOARD = "policies"
CAMPAIGN = "campaign"
SOLUTION = "solutions/1-1.solution"
ROM = "game.nes"
TRIALS = "doctor-env.jsonl"
SWEEP = "sweeps/a"

_COMMITTED_SOLUTION = Path(__file__).parents[2] / "solutions" / "1-1.solution"


def build_world(folder: Path, rom: Path) -> Path:
    """Trains a run of two updates and makes everything else from it."""
    config = tiny(folder / "runs", name="mario")
    run, _ = session.start(config, "quiet")
    (folder / "policies").mkdir()
    export_policy(run.path, folder / POLICY)
    row = replace(made_up_row("1-1", 95, "1-1.policy"), sha256=sha256_of(folder / POLICY))
    publish(folder / BOARD, Scoreboard().with_rows([row]).with_measurements([row]))
    shutil.copytree(folder / BOARD, folder / CAMPAIGN)
    state = CampaignState(asked_of(config, CampaignOptions()), {"1-1": TaskState(1)})
    write_state(folder / CAMPAIGN, state)
    made_up_sweep(folder / SWEEP)
    (folder / "solutions").mkdir()
    shutil.copyfile(_COMMITTED_SOLUTION, folder / SOLUTION)
    shutil.copyfile(rom, folder / ROM)
    run.episodes.write_text('{"session": 1, "update": 1, "level": "1-1", "end": "pit"}\n')
    (folder / TRIALS).write_text(json.dumps(_trial()) + "\n")
    holder = replace(ProcessId.own(), pid=2**22 + 1)
    (folder / RUN / "lock.json").write_text(json.dumps(asdict(holder)) + "\n")
    return folder


def _trial() -> dict[str, object]:
    stages = {"import": 1.0, "build": 1.0, "reset": 1.0, "close": 1.0}
    return {
        "mode": "native",
        "backend": "native",
        "num_envs": 8,
        "ok": True,
        "seconds": stages,
        "total": 4.0,
        "error": None,
        "diagnostics": None,
    }
