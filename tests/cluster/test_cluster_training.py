"""Training with real Ray actors; skipped where Ray is not installed."""

from __future__ import annotations

import ipaddress
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.support.cluster_support import NUM_ENVS, STEPS, small_cluster_config
from warpzone.cluster.options import ClusterOptions
from warpzone.cluster.ray_session import connected_ray, set_local_variables
from warpzone.runs.saved_config import saved_config
from warpzone.telemetry.reading import last_line
from warpzone.training import session
from warpzone.training.trainer import Trainer

set_local_variables()
ray = pytest.importorskip("ray", reason="Ray is not installed; `make cluster-test` installs it")

# Ray gives up if its processes do not start within seconds, which a busy machine cannot promise.
pytestmark = pytest.mark.slow

OnUpdate = Callable[[Mapping[str, float]], None]


def make(options: ClusterOptions) -> Any:
    from warpzone.cluster.remote_player import RemotePlayer

    return partial(Trainer, make_player=partial(RemotePlayer, options=options))


def rows_of(folder: Path) -> Mapping[str, Any]:
    row = last_line(folder / "metrics.jsonl")
    assert row is not None
    return row


def test_a_run_with_an_actor_resumes_on_one_machine(tmp_path: Path) -> None:
    config = small_cluster_config(updates=5, runs=str(tmp_path))
    with connected_ray(None):
        run, _ = session.start(config, "quiet", make_trainer=make(ClusterOptions(actors=1)))
    row = rows_of(run.path)
    assert row["run/steps"] == 5 * NUM_ENVS * STEPS
    assert row["cluster/actors"] == 1
    assert row["learn/policy_lag"] <= 2
    more = replace(saved_config(run.path), run=replace(config.run, steps=8 * NUM_ENVS * STEPS))
    session.resume(run.path, more, display="quiet")
    assert rows_of(run.path)["run/updates"] == 8


def test_all_ports_of_a_local_cluster_are_bound_to_the_loopback_interface(tmp_path: Path) -> None:
    flags = ["--actors=1", "--num-envs=4", "--rollout-steps=8", "--minibatch-size=16"]
    words = ["cluster", "train", *flags, "--obs=tiles", f"--runs={tmp_path}", "--name=small"]
    with subprocess.Popen([sys.executable, "-m", "warpzone", *words]) as program:
        try:
            metrics = tmp_path / "small" / "metrics.jsonl"
            while not (metrics.exists() and metrics.stat().st_size):
                assert program.poll() is None, "training ended early"
                time.sleep(0.2)
            listening = listening_addresses(psutil.Process(program.pid))
        finally:
            program.send_signal(signal.SIGTERM)
    assert {"gcs_server", "raylet"} <= listening.keys()
    assert any("RemoteActor" in name for name in listening)
    outside = {name: ips for name, ips in listening.items() if not all(map(is_loopback, ips))}
    assert not outside


def listening_addresses(process: psutil.Process) -> dict[str, set[str]]:
    """Addresses that a process and its descendants accept connections at, by process name."""
    found: dict[str, set[str]] = {}
    for member in [process, *process.children(recursive=True)]:
        for connection in member.net_connections(kind="inet"):
            # A UDP socket has no state; one without a peer receives from anywhere.
            if connection.status == psutil.CONN_LISTEN or (
                connection.type == socket.SOCK_DGRAM and not connection.raddr
            ):
                found.setdefault(member.name(), set()).add(connection.laddr.ip)
    return found


def is_loopback(text: str) -> bool:
    address = ipaddress.ip_address(text)
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def test_a_killed_actor_is_replaced_and_the_counts_stay_exact(tmp_path: Path) -> None:
    config = small_cluster_config(updates=60, runs=str(tmp_path))
    killed: list[int] = []

    def kill(row: Mapping[str, float]) -> None:
        if row["run/updates"] in (10, 30):
            pids = [
                process.pid
                for process in psutil.Process().children(recursive=True)
                if "RemoteActor" in " ".join(process.cmdline())
            ]
            os.kill(pids[0], signal.SIGKILL)
            killed.append(pids[0])

    with connected_ray(None):
        options = ClusterOptions(actors=2)
        run, _ = session.start(config, "quiet", on_update=kill, make_trainer=make(options))
    row = rows_of(run.path)
    assert len(killed) == 2
    assert row["cluster/losses"] == 2
    assert row["run/steps"] == 60 * NUM_ENVS * STEPS
    assert row["run/updates"] == 60


def test_training_survives_a_lost_node_and_uses_one_that_joins(tmp_path: Path) -> None:
    from ray.cluster_utils import Cluster

    config = small_cluster_config(updates=120, runs=str(tmp_path))
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    doomed = cluster.add_node(num_cpus=1)
    cluster.add_node(num_cpus=1)
    actors: list[float] = []

    def disturb(row: Mapping[str, float]) -> None:
        actors.append(row["cluster/actors"])
        if row["run/updates"] == 20:
            cluster.remove_node(doomed, allow_graceful=False)
        if row["run/updates"] == 60:
            cluster.add_node(num_cpus=1)

    try:
        with connected_ray(cluster.address):
            options = ClusterOptions(actors=2)
            run, _ = session.start(config, "quiet", on_update=disturb, make_trainer=make(options))
    finally:
        cluster.shutdown()
    row = rows_of(run.path)
    assert row["run/steps"] == 120 * NUM_ENVS * STEPS
    assert row["cluster/losses"] >= 1
    assert 1 in actors[20:60]
