"""Watching a policy, as a person does."""

from __future__ import annotations

from typing import Any

import pytest

sync_api = pytest.importorskip("playwright.sync_api")
pytestmark = pytest.mark.browser
expect = sync_api.expect
expect.set_options(timeout=60_000)

X = "+document.querySelector('[data-watch]').dataset.x"


def open_watch(page: Any) -> None:
    page.goto(page.url.partition("#")[0] + "#/watch?policy=file:8-3.policy&level=1-1")
    expect(page.locator("[data-watch]")).to_contain_text("1-1, step")


def test_taking_over_moves_mario_and_handing_back_lets_the_policy_play(page: Any) -> None:
    open_watch(page)
    page.get_by_role("button", name="Restart").click()
    page.get_by_role("button", name="Take over").click()
    expect(page.locator("[data-watch]")).to_contain_text("you play")
    before = page.evaluate(X)
    page.keyboard.down("ArrowRight")
    page.wait_for_function(f"before => {X} > before + 20", arg=before)
    expect(page.locator(".pads .on")).to_have_text(["RIGHT"])
    page.keyboard.up("ArrowRight")
    page.get_by_role("button", name="Hand back").click()
    expect(page.locator("[data-watch]")).to_contain_text("the policy plays")


def test_pause_step_and_rewind(page: Any) -> None:
    open_watch(page)
    status = page.locator("[data-watch]")
    page.wait_for_function("() => +document.querySelector('[data-watch]').dataset.step > 20")
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Continue")).to_be_visible()
    step = int(status.get_attribute("data-step"))
    page.get_by_role("button", name="Step", exact=True).click()
    expect(status).to_have_attribute("data-step", str(step + 1))
    page.get_by_role("button", name="Rewind").click()
    expect(status).to_have_attribute("data-step", str(step + 1 - 15))


def test_two_policies_play_side_by_side(page: Any) -> None:
    open_watch(page)
    page.get_by_role("button", name="Add a second game").click()
    expect(page.locator("[data-watch]")).to_have_count(2)
    expect(page.locator("[data-watch]").nth(1)).to_contain_text("1-1, step")
    page.get_by_role("button", name="Remove the second game").click()
    expect(page.locator("[data-watch]")).to_have_count(1)
