"""Runs on disk and clients for tests of the dashboard."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient
from websockets.sync.client import ClientConnection, connect

from warpzone.config import TrainConfig, to_toml
from warpzone.dashboard.app import make_app
from warpzone.dashboard.security import CSRF_HEADER, csrf_token
from warpzone.dashboard.settings import Settings
from warpzone.dashboard.state import ServerState
from warpzone.system.processes import ProcessId

TOKEN = "a-token-for-tests-only"
HOST = "127.0.0.1:8420"
CHANGE = {CSRF_HEADER: csrf_token(TOKEN), "origin": f"http://{HOST}"}
# Copied for each use: the test client of Starlette adds headers to the dict that it is given.
BEARER = {"authorization": f"Bearer {TOKEN}"}


def write_run(
    folder: Path,
    name: str = "mario-1-1",
    rows: Iterable[Mapping[str, Any]] = (),
    phase: str = "finished",
) -> Path:
    """Makes a run as the trainer leaves it."""
    run = folder / name
    run.mkdir(parents=True)
    (run / "config.toml").write_text(to_toml(TrainConfig()))
    lines = [json.dumps(row) + "\n" for row in rows]
    (run / "metrics.jsonl").write_text("".join(lines))
    beat = {"time": time.time(), "phase": phase, "steps": len(lines), "update": len(lines)}
    (run / "heartbeat.jsonl").write_text(json.dumps(beat | ProcessId.own().as_row()) + "\n")
    for inside in ("checkpoints", "videos", "events"):
        (run / inside).mkdir()
    return run


def metric_row(steps: int, session: int = 1, **values: Any) -> dict[str, Any]:
    """A row of metrics; double underscores stand for slashes."""
    named = {name.replace("__", "/"): value for name, value in values.items()}
    return {"run/steps": steps, "run/session": session, "run/elapsed": steps / 10} | named


def make_client(folder: Path, *, known: bool = True, **settings: Any) -> TestClient:
    """A browser that talks to a dashboard of a folder; one that knows the token by default."""
    state = ServerState.of(Settings(folder, token=TOKEN, **settings))
    headers = dict(BEARER) if known else {}
    return TestClient(make_app(state), base_url=f"http://{HOST}", headers=headers)


def connect_to(address: str, path: str) -> ClientConnection:
    """A WebSocket to a server that `running` serves, as a browser that knows the token opens it."""
    base = address.partition("?")[0]
    return connect(
        f"{base.replace('http', 'ws', 1)}{path}",
        origin=base.rstrip("/"),  # type: ignore[arg-type]
        additional_headers=dict(BEARER),
        max_size=None,
        compression=None,
    )
