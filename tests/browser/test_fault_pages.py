"""What the page says when something around it fails; it continues in every case."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from dashboard_support import TOKEN, metric_row, write_run

from warpzone.dashboard.server import running
from warpzone.dashboard.settings import Settings

sync_api = pytest.importorskip("playwright.sync_api")
pytestmark = pytest.mark.browser
expect = sync_api.expect
expect.set_options(timeout=60_000)

IDENTIFY = "from warpzone.system.processes import ProcessId; import json, time\n"
IDENTIFY += "print(json.dumps(ProcessId.own().as_row()), flush=True); time.sleep(600)"


@pytest.fixture
def tab(browser: Any) -> Iterator[Any]:
    """A page without a server of its own."""
    context = browser.new_context()
    context.set_default_timeout(60_000)
    yield context.new_page()
    context.close()


def test_a_killed_dashboard_is_named_and_the_page_resumes_with_the_next_one(
    tab: Any, tmp_path: Path
) -> None:
    write_run(tmp_path, "mario", [metric_row(1, rollout__clear_rate=0.25)])
    with running(Settings(tmp_path, port=0, token=TOKEN)) as (_, address):
        tab.goto(address)
        expect(tab.locator("tr", has_text="mario")).to_contain_text("25 %")
        port = int(address.partition("127.0.0.1:")[2].partition("/")[0])
    banner = tab.locator("#offline")
    expect(banner).to_contain_text("Training is not affected")
    write_run(tmp_path, "second", [metric_row(1, rollout__clear_rate=0.75)])
    with running(Settings(tmp_path, port=port, token=TOKEN)):
        expect(banner).to_be_hidden()
        expect(tab.locator("tr", has_text="second")).to_contain_text("75 %")


def test_a_killed_trainer_is_shown_as_crashed(tab: Any, tmp_path: Path) -> None:
    trainer = subprocess.Popen([sys.executable, "-c", IDENTIFY], stdout=subprocess.PIPE, text=True)
    try:
        assert trainer.stdout is not None
        owner = json.loads(trainer.stdout.readline())
        run = write_run(tmp_path, "mario", [metric_row(1, rollout__clear_rate=0.25)])
        beat = {"time": time.time(), "phase": "update", "steps": 1, "update": 1}
        (run / "heartbeat.jsonl").write_text(json.dumps(beat | owner) + "\n")
        with running(Settings(tmp_path, port=0, token=TOKEN)) as (_, address):
            tab.goto(address + "#/run/mario?tab=steer")
            expect(tab.locator(".state")).to_have_text("running")
            trainer.kill()
            trainer.wait()
            expect(tab.locator(".state")).to_have_text("crashed")
            expect(tab.get_by_role("button", name="Pause")).to_be_disabled()
            expect(tab.get_by_text("The run is not training")).to_be_visible()
    finally:
        trainer.kill()
        trainer.wait()
