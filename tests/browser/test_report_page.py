"""Reports in Chromium, opened from disk: charts, zoom, axis, sorting."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from warpzone import cli
from warpzone.config import TrainConfig, to_toml

pytestmark = pytest.mark.browser
NO_VALUE = "\N{EN DASH}"


@pytest.fixture
def page(browser: Any, tmp_path: Path) -> Any:
    """A comparison of three runs, two of which differ only in the seed."""
    for name, seed, gamma in (("aaa-0", 0, 0.97), ("aaa-1", 1, 0.97), ("b", 0, 0.5)):
        run = tmp_path / "runs" / name
        run.mkdir(parents=True)
        config = TrainConfig()
        config = replace(config, learn=replace(config.learn, gamma=gamma))
        config = replace(config, run=replace(config.run, seed=seed))
        (run / "config.toml").write_text(to_toml(config))
        rows = [
            {"run/steps": 1000 * i, "run/elapsed": 60.0 * i, "rollout/clear_rate": i / 20 / gamma}
            for i in range(1, 10 + seed)
        ]
        (run / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    output = tmp_path / "compare.html"
    assert cli.main(["runs", "compare", str(tmp_path / "runs"), "-o", str(output)]) == 0
    opened = browser.new_page(viewport={"width": 1280, "height": 900})
    errors: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.goto(output.as_uri())
    opened.wait_for_selector(".chart .u-over")
    yield opened
    assert errors == []
    opened.close()


def legend(page: Any) -> str:
    return str(page.locator(".chart .u-legend").first.inner_text())


def test_the_cursor_shows_the_step_and_the_value_of_every_curve(page: Any) -> None:
    page.locator(".chart .u-over").first.hover()
    assert page.locator(".chart").first.get_attribute("data-bands") == "1"
    text = legend(page).replace("\n", " ")
    assert "aaa (2 seeds)" in text
    assert NO_VALUE not in text
    assert "," in text.split("steps", 1)[1], "a number of steps"


def test_charts_zoom_and_reset(page: Any) -> None:
    box = page.locator(".chart .u-over").first.bounding_box()
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 50, y)
    page.mouse.down()
    page.mouse.move(box["x"] + 150, y, steps=4)
    page.mouse.up()
    reset = page.get_by_role("button", name="Reset zoom")
    assert reset.is_visible()
    page.locator(".chart .u-over").first.dblclick()
    assert not reset.is_visible()


def test_the_axis_changes_to_training_time(page: Any) -> None:
    page.get_by_label("Horizontal axis").select_option("time")
    page.locator(".chart .u-over").first.hover()
    assert "training time" in legend(page)
    page.get_by_text("Log scale").click()
    assert page.locator(".chart .u-over").count() == page.locator(".chart").count()


def test_tables_sort_by_a_column(page: Any) -> None:
    table = page.locator("table.sortable").first
    names = table.locator("tbody td:first-child")
    assert names.all_inner_texts() == ["aaa-0", "aaa-1", "b"]
    heading = table.get_by_role("button", name="run")
    heading.click()
    heading.click()
    assert names.all_inner_texts() == ["b", "aaa-1", "aaa-0"]
    assert table.locator("th").first.get_attribute("aria-sort") == "descending"
