"""A real run that trains, a real dashboard, and Chromium."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from dashboard_support import TOKEN

from warpzone.dashboard.server import running
from warpzone.dashboard.settings import Settings

sync_api = pytest.importorskip("playwright.sync_api")

# Charts and walls follow a run that shares the machine with the browser and with other tests.
PATIENCE = 60_000
POLICIES = Path(__file__).parents[2] / "policies"
_BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def browser() -> Iterator[object]:
    """Chromium of the system."""
    path = next((found for name in _BROWSERS if (found := shutil.which(name))), None)
    if path is None:
        pytest.skip("Chromium is missing: apt-get install chromium")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory, rom_path: Path) -> Iterator[Path]:
    """A folder with a run that trains until the tests end."""
    folder = tmp_path_factory.mktemp("runs")
    small = ["--obs=tiles", "--num-envs=4", "--num-threads=1", "--rollout-steps=16", "--hidden=16"]
    small += ["--minibatch-size=64", "--torch-threads=1", "--log-every=2", "--steps=1G"]
    small += ["--no-video", "--video-minutes=0", "--display=plain", "--name=mario", "--level=1-1"]
    small += ["--actions=simple"]
    with (folder / "train.txt").open("w") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "warpzone", "train", f"--runs={folder}", *small],
            stdout=output,
            stderr=output,
            env=os.environ | {"WARPZONE_ROM": str(rom_path)},
        )
    try:
        _wait_for(folder / "mario" / "metrics.jsonl", process)
        yield folder
    finally:
        process.terminate()
        process.wait(300)


def _wait_for(file: Path, process: subprocess.Popen[bytes]) -> None:
    """Starting takes seconds, or minutes on a machine with much else to do."""
    deadline = time.monotonic() + 300
    while not file.exists():
        assert process.poll() is None, (file.parents[1] / "train.txt").read_text()
        assert time.monotonic() < deadline
        time.sleep(0.1)


@pytest.fixture(scope="session")
def address(runs: Path) -> Iterator[str]:
    """Address of a dashboard, with its token."""
    with running(Settings(runs, port=0, token=TOKEN, policies=POLICIES)) as (_, address):
        yield address


@pytest.fixture
def page(browser: object, address: str) -> Iterator[object]:
    """A page that knows the token; errors of scripts fail the test."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})  # type: ignore[attr-defined]
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(address)
    yield page
    context.close()
    assert errors == []
