"""The pages about runs, as a person uses them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from dashboard_support import metric_row, write_run

from warpzone.campaign.board_json import read_board
from warpzone.runs.directory import RunDirectory
from warpzone.runs.steering import read_steering
from warpzone.telemetry.reading import read_rows

sync_api = pytest.importorskip("playwright.sync_api")
pytestmark = pytest.mark.browser
expect = sync_api.expect
expect.set_options(timeout=60_000)
POLICIES = Path(__file__).parents[2] / "policies"


def open_tab(page: Any, tab: str, run: str = "mario") -> None:
    page.goto(page.url.partition("#")[0] + f"#/run/{run}?tab={tab}")


def test_a_wrong_token_is_refused(browser: Any, address: str) -> None:
    context = browser.new_context()
    page = context.new_page()
    assert page.goto(address.partition("?")[0] + "?token=wrong").status == 401
    assert "needs its token" in page.content()
    context.close()


def test_the_list_shows_a_run_that_trains_and_filters(page: Any, runs: Path) -> None:
    write_run(runs, "old/finished-one", [metric_row(5, rollout__clear_rate=0.5)])
    row = page.locator("tr", has_text="mario")
    expect(row).to_contain_text("running")
    expect(page.locator("tr", has_text="finished-one")).to_contain_text("50 %")
    page.get_by_role("searchbox").fill("running")
    expect(page.locator("tr", has_text="finished-one")).to_have_count(0)
    expect(row).to_have_count(1)


def test_charts_move_while_a_run_trains(page: Any) -> None:
    open_tab(page, "charts")
    chart = page.locator("[data-chart='speed/steps_per_second']")
    expect(chart.locator("canvas")).to_be_visible()
    before = int(chart.get_attribute("data-points"))
    page.wait_for_function(
        "before => +document.querySelector(`[data-chart='speed/steps_per_second']`)"
        ".dataset.points > before",
        arg=before,
    )
    page.get_by_label("Log scale").check()
    page.get_by_label("Horizontal axis").select_option("time")
    page.get_by_role("slider").fill("0")
    expect(chart.locator("canvas")).to_be_visible()


def test_dragging_zooms_and_a_button_resets(page: Any) -> None:
    open_tab(page, "charts")
    over = page.locator("[data-chart='speed/steps_per_second'] .u-over")
    expect(over).to_be_visible()
    over.scroll_into_view_if_needed()
    box = over.bounding_box()
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 0.3, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.7, middle, steps=5)
    page.mouse.up()
    reset = page.get_by_role("button", name="Reset zoom")
    expect(reset).to_be_visible()
    reset.click()
    expect(reset).to_be_hidden()


def test_the_wall_shows_moving_games_and_enlarges_one(page: Any) -> None:
    open_tab(page, "games")
    expect(page.locator(".wall button")).to_have_count(4)
    frames = "() => [...document.querySelectorAll('.wall canvas')].map(c => c.toDataURL()).join()"
    before = page.evaluate(frames)
    page.wait_for_function(f"before => ({frames})() !== before", arg=before)
    page.locator("[data-env='2']").click()
    expect(page.locator("[data-detail]")).to_contain_text("Environment 2, level 1-1")
    expect(page.locator(".actions .bar")).to_have_count(7)
    expect(page.locator(".actions .chosen")).to_have_count(1)
    expect(page.locator("[data-term='distance']")).to_contain_text("distance")
    expect(page.locator("[data-view]")).to_have_js_property("width", 16 * 8)


def test_lost_episodes_are_drawn_on_a_map_of_the_level(page: Any, runs: Path) -> None:
    place = {"level": "1-1", "end": "pit", "start": "level", "progress": 50, "x": 1100, "y": 30}
    run = write_run(runs, "lost", [metric_row(1)])
    (run / "episodes.jsonl").write_text(json.dumps(place) + "\n")
    open_tab(page, "levels", "lost")
    expect(page.locator("[data-levels]")).to_contain_text("pit 1")
    expect(page.locator(".levelmap")).to_have_attribute("data-deaths", "1")
    colors = "c => new Set(c.getContext('2d').getImageData(0, 80, c.width, 200).data).size"
    assert page.locator(".levelmap").evaluate(colors) > 10


def test_a_changed_learning_rate_is_in_the_next_update_and_in_the_log(
    page: Any, runs: Path
) -> None:
    run = RunDirectory(runs / "mario")
    open_tab(page, "steer")
    field = page.locator("[data-option='learn.learning_rate']")
    field.fill("0.000123")
    page.get_by_role("button", name="Apply changes").click()
    expect(page.locator("[data-history]")).to_contain_text("0.001 → 0.000123")
    (row,) = [row for row in read_steering(run) if row["action"] == "set"]
    assert row["changes"] == {"learn.learning_rate": [0.001, 0.000123]}
    open_tab(page, "log")
    change = "changed learn.learning_rate from 0.001 to 0.000123"
    expect(page.locator("pre")).to_contain_text(change)
    after = [r for r in read_rows(run.metrics) if r["run/updates"] > row["update"] + 2]
    assert all(r["learn/learning_rate"] <= 0.000123 for r in after)


def test_a_bad_value_is_a_sentence_and_changes_nothing(page: Any) -> None:
    open_tab(page, "steer")
    page.locator("[data-option='learn.clip_coef']").fill("lots")
    page.get_by_role("button", name="Apply changes").click()
    expect(page.get_by_role("status").filter(has_text="clip-coef is 'lots'")).to_be_visible()


def test_an_evaluation_is_asked_for_and_its_result_is_shown(page: Any, runs: Path) -> None:
    open_tab(page, "steer")
    page.get_by_role("button", name="Evaluate now").click()
    expect(page.locator("[data-history]")).to_contain_text("evaluate")
    # Its process has the lowest priority: a result that exists already need not be waited for.
    level = {"level": "1-1", "clears": 7, "episodes": 100, "clear_rate": 0.07}
    row = {"time": 9.0, "update": 2, "steps": 7, "elapsed": 1.5, "who": "me", "levels": [level]}
    run = write_run(runs, "evaluated", [metric_row(1, rollout__clear_rate=0.1)])
    (run / "evaluations.jsonl").write_text(json.dumps(row) + "\n")
    open_tab(page, "steer", "evaluated")
    expect(page.locator("[data-evaluations]")).to_contain_text("1-1: 7 of 100")


def test_pause_and_resume(page: Any) -> None:
    open_tab(page, "steer")
    page.get_by_role("button", name="Pause").click()
    expect(page.locator(".state")).to_have_text("paused")
    page.get_by_role("button", name="Resume").click()
    expect(page.locator(".state")).to_have_text("running")


def test_garbage_and_a_deleted_run_are_named_and_the_page_continues(page: Any, runs: Path) -> None:
    run = write_run(runs, "broken", [metric_row(1, rollout__clear_rate=0.1)])
    with (run / "metrics.jsonl").open("a") as file:
        file.write('garbage\n{"run/steps": 2, "rollout/clear_rate": NaN}\n')
        file.write(json.dumps(metric_row(3, rollout__clear_rate=0.3)) + "\n")
    open_tab(page, "charts", "broken")
    expect(page.locator(".error", has_text="damaged").first).to_be_visible()
    expect(page.locator("[data-chart='rollout/clear_rate']")).to_have_attribute("data-points", "2")
    (run / "config.toml").unlink()
    expect(page.locator(".error", has_text="'broken' was deleted")).to_be_visible()
    page.get_by_role("link", name="Runs").click()
    expect(page.locator("tr", has_text="mario")).to_contain_text("running")


def test_the_page_speaks_chinese_and_is_dark_when_asked(page: Any) -> None:
    page.get_by_role("button", name="中文").click()
    expect(page.get_by_role("heading", name="训练")).to_be_visible()
    page.get_by_role("button", name="浅色 / 深色").click()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.reload()
    expect(page.get_by_role("heading", name="训练")).to_be_visible()


def test_everything_is_reachable_with_the_keyboard(page: Any) -> None:
    expect(page.locator("tr", has_text="mario")).to_be_visible()
    seen = []
    for _ in range(40):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("document.activeElement.textContent.trim()"))
        if seen[-1] == "mario":
            break
    assert "Runs" in seen
    page.keyboard.press("Enter")
    expect(page.get_by_role("tab", name="Charts")).to_be_visible()


@pytest.mark.parametrize("width", [1280, 400])
def test_no_page_is_wider_than_the_screen(page: Any, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    for tab in ("charts", "games", "steer", "levels", "episodes", "log", "files", "config"):
        open_tab(page, tab)
        expect(page.locator(f"[data-tab='{tab}']")).to_have_attribute("aria-selected", "true")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, tab
    assert page.locator("header").bounding_box()["height"] < 64  # One line, on a phone as well.


def test_runs_are_compared_and_the_board_leads_to_a_policy(page: Any, runs: Path) -> None:
    write_run(runs, "other", [metric_row(step, rollout__clear_rate=0.5) for step in range(9)])
    page.goto(page.url.partition("#")[0] + "#/compare?runs=mario,other")
    expect(page.locator("[data-differences]")).to_contain_text("env.num_envs")
    expect(page.locator(".chart canvas")).to_be_visible()
    expect(page.locator("[data-boards]")).to_contain_text("2-1")
    page.get_by_role("link", name="Board").click()
    board = read_board(POLICIES)
    expect(page.locator("h2").first).to_contain_text(f"{len(board.reached)} of 32 levels at 90 %")
    for level, row in board.rows.items():
        figure = f"{row.score.clear_rate:.1%}".replace("%", " %")
        expect(page.locator(f"[data-level='{level}'] .rate")).to_have_text(figure)
    page.locator("[data-level='2-1']").click()
    page.get_by_role("link", name="Watch this policy").click()
    expect(page.locator("[data-watch]")).to_contain_text("2-1, step")


def test_labels_of_axes_are_short(page: Any) -> None:
    labels = page.evaluate(
        "async () => { const { tick } = await import('/js/format.js');"
        " return [0, 0.25, 0.00075, 0.001, -0.0005, 12_000].map(tick); }"
    )
    assert labels == ["0", "0.25", "7.5e-4", "1e-3", "-5e-4", "12k"]


def test_seeds_are_one_curve_with_a_band_and_their_group_folds(page: Any, runs: Path) -> None:
    for seed in (1, 2, 3):
        rows = [metric_row(step, rollout__clear_rate=step / 10 / seed) for step in range(9)]
        write_run(runs, f"seeds/mario-{seed}", rows)
    page.get_by_role("searchbox").fill("seeds/")
    fold = page.locator("[data-group='seeds']")
    expect(page.locator("tr", has_text="mario-2")).to_be_visible()
    fold.click()
    expect(page.locator("tr", has_text="mario-2")).to_have_count(0)
    page.locator("tr.group").get_by_role("link", name="Compare").click()
    expect(page.locator(".chart")).to_have_attribute("data-bands", "1")
    expect(page.locator(".u-legend").first).to_contain_text("seeds/mario (3 seeds)")
    page.get_by_label("Group seeds").uncheck()
    expect(page.locator(".chart")).to_have_attribute("data-bands", "0")
