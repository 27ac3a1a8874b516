"""Runs the blocks of a page as a person does who pastes them."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from doc_blocks import ROOT, Block

from warpzone.runs.directory import RunDirectory

_PATIENCE = 300.0  # Seconds, on a busy machine.
_SMALL = ["--obs=tiles", "--num-envs=4", "--hidden=16", "--rollout-steps=8", "--minibatch-size=16"]
_QUIET = ["--no-video", "--video-minutes=0", "--display=quiet"]


def run_blocks(blocks: list[Block], folder: Path) -> None:
    """Runs the blocks of a page in their order; Python blocks share their variables."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks:
        for name in block.marks.get("needs", ()):
            shutil.copytree(ROOT / name, folder / name, dirs_exist_ok=True)
        _make_runs(folder, block.marks.get("runs", []))
        with _training(folder, block.marks.get("training", [])):
            if "file" in block.marks:
                (folder / block.marks["file"][0]).write_text(block.code, encoding="utf-8")
            elif block.language == "python":
                exec(compile(block.code, str(block), "exec"), names)
            elif "serves" in block.marks:
                for command in block.commands:
                    _serve(command, block, folder)
            else:
                done = subprocess.run(
                    ["bash", "-e", "-c", block.code],
                    cwd=folder,
                    env=_variables(block),
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    text=True,
                    check=False,
                )
                assert done.returncode == 0, f"{block}:\n{done.stdout}{done.stderr}"


def _variables(block: Block) -> dict[str, str]:
    """This environment comes first on the path; pip finds no index, and no browser opens."""
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    offline = {"PIP_NO_INDEX": "1", "BROWSER": "true", "PYTHONUNBUFFERED": "1"}
    return os.environ | {"PATH": programs} | offline | block.variables


def _serve(command: str, block: Block, folder: Path) -> None:
    """Runs a command, and presses Ctrl-C as soon as it has printed an address."""
    process = subprocess.Popen(
        ["bash", "-c", f"exec {command}"],
        cwd=folder,
        env=_variables(block),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    printed, expected = [], [0]
    assert process.stdout is not None
    for line in process.stdout:
        printed.append(line)
        if "http://" in line:
            process.send_signal(signal.SIGINT)
            expected = [0, 128 + signal.SIGINT]
    assert process.wait(_PATIENCE) in expected, f"{block}: {command}\n{''.join(printed)}"


def _train_command(run: Path, *options: str) -> list[str]:
    command = [sys.executable, "-m", "warpzone", "train", f"--runs={run.parent}"]
    return [*command, f"--name={run.name}", *_SMALL, *_QUIET, *options]


def _place(folder: Path, name: str) -> Path:
    """A name is a run below runs/; anything with a slash is a path."""
    return folder / name if "/" in name else folder / "runs" / name


def _make_runs(folder: Path, names: list[str]) -> None:
    """Trains one short run, and copies it for the other names."""
    places = [_place(folder, name) for name in names]
    missing = [place for place in places if not place.exists()]
    if not missing:
        return
    first, *others = missing
    options = _train_command(first, "--level=1-1", "--steps=2048", "--log-every=1")
    subprocess.run(options, cwd=folder, check=True)
    for place in others:
        shutil.copytree(first, place)


@contextlib.contextmanager
def _training(folder: Path, names: list[str]) -> Iterator[None]:
    """Trains runs of two levels until the block has ended."""
    options = ["--level=1-1,1-2", "--level-order=random", "--steps=10M"]
    places = [_place(folder, name) for name in names]
    with contextlib.ExitStack() as stack:
        for place in places:
            shutil.rmtree(place, ignore_errors=True)  # An earlier block's, which has ended.
            process = subprocess.Popen(_train_command(place, *options), cwd=folder)
            stack.callback(process.wait, _PATIENCE)
            stack.callback(process.terminate)
            deadline = time.monotonic() + _PATIENCE
            while not RunDirectory(place).heartbeat.exists():
                assert process.poll() is None, place
                assert time.monotonic() < deadline, place
                time.sleep(0.1)
        yield
