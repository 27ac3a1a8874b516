"""Prints how long the dashboard takes to answer about many runs, and about a very long one.

python benchmarks/dashboard_load.py
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import watched_run

from warpzone.config import TrainConfig, to_toml

METRICS = 20
BAR_SECONDS = 1.0


def write_run(folder: Path, rows: int) -> None:
    """Writes a run as the trainer leaves it."""
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(to_toml(TrainConfig()))
    beat = {"time": time.time(), "phase": "finished", "steps": rows * 100, "update": rows}
    (folder / "heartbeat.jsonl").write_text(json.dumps(beat) + "\n")
    with (folder / "metrics.jsonl").open("w") as file:
        for row in range(rows):
            values = {f"loss/part_{number}": row / (number + 1) for number in range(METRICS - 4)}
            counters = {"run/steps": row * 100, "run/updates": row, "run/session": 1}
            done = {"run/elapsed": row / 10, "rollout/clear_rate": (row % 100) / 100}
            file.write(json.dumps(counters | done | values) + "\n")


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds that a call takes, and its result."""
    begun = time.perf_counter()
    result = work()
    return time.perf_counter() - begun, result


def ask(address: str, path: str) -> Any:
    """Asks the server as the page does."""
    request = urllib.request.Request(address + path, headers=watched_run.headers())
    with urllib.request.urlopen(request) as answer:
        return json.loads(answer.read())


def whole_list(address: str) -> Any:
    """Asks for the list of runs until no run is missing."""
    answer = ask(address, "api/runs")
    while answer["missing"]:
        answer = ask(address, "api/runs")
    return answer


def measure(folder: Path) -> Iterator[tuple[str, float, float]]:
    """Requests that pages begin with, to a server that has just started.

    Yields:
        What was asked for, seconds to the answer, and seconds of CPU time that the server took,
        which other work on the machine changes little.
    """
    with watched_run.dashboard(folder) as (server, address):

        def measured(what: str, work: Callable[[], Any]) -> tuple[tuple[str, float, float], Any]:
            before = watched_run.cpu_seconds(server)
            seconds, answer = timed(work)
            return (what, seconds, watched_run.cpu_seconds(server) - before), answer

        row, _ = measured("list of runs, first answer", lambda: ask(address, "api/runs"))
        yield row
        row, _ = measured("the rest of the list", lambda: whole_list(address))
        yield row
        row, _ = measured("the list again", lambda: ask(address, "api/runs"))
        yield row
        row, run = measured("page of the long run", lambda: ask(address, "api/run?run=long"))
        yield row
        query = f"run=long&names={','.join(run['metrics'][:16])}&points=800"
        row, _ = measured("its first charts", lambda: ask(address, f"api/curves?{query}"))
        yield row


def main() -> None:
    """Writes runs into a temporary folder and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--points", type=int, default=1_000_000, help="values in the long run")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number in range(given.runs - 1):
            write_run(folder / f"group-{number % 10}" / f"run-{number:04d}", 50)
        write_run(folder / "long", given.points // METRICS)
        print(f"{given.runs} runs; bar: {BAR_SECONDS:g} s to the first useful answer")
        print("| what | seconds | CPU seconds of the server |\n|---|---|---|")
        for what, seconds, cpu in measure(folder):
            print(f"| {what} | {seconds:.2f} | {cpu:.2f} |", flush=True)


if __name__ == "__main__":
    main()
