"""`sweep --address` and `campaign --address` on a real Ray; skipped where Ray is not installed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
import torch
from small_sweep import FLAGS

from warpzone import cli
from warpzone.campaign.board_json import read_board
from warpzone.campaign.protocols import PROTOCOLS
from warpzone.cluster.ray_session import connected_ray, set_local_variables
from warpzone.runs.checkpoint import load
from warpzone.runs.checkpoint_store import find_latest
from warpzone.sweep.overview import read_overview

set_local_variables()
ray = pytest.importorskip("ray", reason="Ray is not installed; `make cluster-test` installs it")

# Ray gives up if its processes do not start within seconds, which a busy machine cannot promise.
pytestmark = pytest.mark.slow

TRIALS = 3
SMALL = [flag for flag in FLAGS if not flag.startswith("--episodes")]
SWEEP = [
    *("sweep", "--level=1-1", f"--trials={TRIALS}", "--jobs=2", "--steps=256"),
    *("--objective=clear-rate", "--sampler=random", "--pruner=none", "--no-cost-pruning"),
    *("--space=learning-rate=1e-4:1e-3:log", "--episodes=20", *SMALL),
]
CAMPAIGN = [
    *("campaign", "--levels=1-1,1-2", "--jobs=2", "--steps-per-level=256", "--episodes=20"),
    *SMALL,
]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Address of a Ray that has room for two jobs with one thread each."""
    with connected_ray(None):
        yield ray.get_runtime_context().gcs_address


def run_and_kill_an_actor(words: list[str]) -> None:
    """Runs a command, and kills the first actor whose job has started."""
    with subprocess.Popen([sys.executable, "-m", "warpzone", *words]) as program:
        while not (actors := busy_actors()):
            assert program.poll() is None, "the command ended before its jobs began"
            time.sleep(0.1)
        os.kill(actors[0], signal.SIGKILL)
        assert program.wait() == 0


def busy_actors() -> list[int]:
    """Processes of Ray on this machine that run a job."""
    return [
        process.pid
        for process in psutil.Process().children(recursive=True)
        if "JobActor" in process.name() and process.children()
    ]


def assert_same_weights(first: Path, second: Path) -> None:
    models = []
    for run in (first, second):
        latest = find_latest(run)
        assert latest is not None
        models.append(load(latest).state["model"])
    assert models[0].keys() == models[1].keys()
    for name, value in models[0].items():
        assert torch.equal(value, models[1][name]), name


def test_a_sweep_on_a_cluster_equals_a_local_one_even_if_an_actor_is_killed(
    tmp_path: Path, rom_path: Path, address: str
) -> None:
    local, remote = tmp_path / "local", tmp_path / "remote"
    run_and_kill_an_actor([*SWEEP, f"--address={address}", "-o", str(remote)])
    assert cli.main([*SWEEP, "-o", str(local)]) == 0
    pair = [read_overview(folder).trials for folder in (local, remote)]
    assert [len(trials) for trials in pair] == [TRIALS, TRIALS]
    for here, there in zip(*pair, strict=True):
        assert there.state.name == "COMPLETE"
        assert (here.params, here.values) == (there.params, there.values)
        name = f"runs/trial-{here.number:04d}-0"
        assert_same_weights(local / name, remote / name)


def test_a_campaign_on_a_cluster_equals_a_local_one_even_if_an_actor_is_killed(
    tmp_path: Path, rom_path: Path, address: str
) -> None:
    local, remote = tmp_path / "local", tmp_path / "remote"
    run_and_kill_an_actor([*CAMPAIGN, f"--address={address}", "-o", str(remote)])
    assert cli.main([*CAMPAIGN, "-o", str(local)]) == 0
    assert measured(remote) == measured(local) == {"1-1": 256, "1-2": 256}
    for name in sorted(path.name for path in (local / "runs").iterdir()):
        assert_same_weights(local / "runs" / name, remote / "runs" / name)


def measured(folder: Path) -> dict[str, int]:
    """Steps by level on the scoreboard, whose rows must be complete.

    Clear rates differ between campaigns: their episodes follow from the hash of the policy file,
    which contains the time that training took.
    """
    rows = read_board(folder).rows.values()
    for row in rows:
        assert set(row.results) == {protocol.name for protocol in PROTOCOLS}
        assert all(result.episodes == 20 for result in row.results.values())
    return {row.level: row.steps for row in rows}
