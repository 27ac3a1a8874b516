"""Watching a policy: it plays, a person takes over, rewinds, and hands back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from dashboard_support import TOKEN, connect_to, make_client

from warpzone import cli
from warpzone.dashboard.server import running
from warpzone.dashboard.settings import Settings
from warpzone.dashboard.watch_game import SCREEN, WatchGame
from warpzone.errors import WarpzoneError
from warpzone.evaluation.trained import TrainedPolicy, load_policy

POLICIES = Path(__file__).parents[2] / "policies"
RIGHT, LEFT = 0x80, 0x40


@pytest.fixture(scope="module")
def policy(rom_path: Path) -> TrainedPolicy:
    return load_policy(POLICIES / "8-3.policy")


def test_the_policy_plays_its_level(policy: TrainedPolicy) -> None:
    game = WatchGame(policy)
    before = game.frame
    for _ in range(30):
        game.step()
    assert game.facts["level"] == "8-3"
    assert game.facts["step"] == 30
    assert game.facts["progress"] > 50
    assert sum(game.facts["probabilities"]) == pytest.approx(1.0, abs=0.01)
    assert game.frame != before
    assert game.frame[0] == SCREEN
    json.dumps(game.facts)
    game.close()


def test_a_person_takes_over_with_any_buttons(policy: TrainedPolicy) -> None:
    game = WatchGame(policy)
    game.set_sticky(False)
    for _ in range(20):
        game.step(RIGHT)
    right = game.facts["x"]
    assert (game.facts["player"], game.facts["buttons"]) == ("person", RIGHT)
    for _ in range(20):
        game.step(LEFT)
    assert game.facts["x"] < right
    game.step()
    assert game.facts["player"] == "policy"
    game.close()


def test_rewinding_gives_the_same_future_again(policy: TrainedPolicy) -> None:
    game = WatchGame(policy)
    for _ in range(20):
        game.step()
    then, screen = game.facts, game.frame
    for _ in range(15):
        game.step()
    future = game.facts
    game.rewind(15)
    assert game.facts == then
    assert game.frame == screen
    for _ in range(15):
        game.step()
    assert game.facts == future
    game.rewind(10_000)
    assert game.facts["step"] == 0
    game.close()


def test_sticky_buttons_can_be_switched_in_the_middle_of_an_episode(policy: TrainedPolicy) -> None:
    game = WatchGame(policy)
    for _ in range(10):
        game.step()
    place, screen = game.facts["x"], game.frame
    game.set_sticky(not game.facts["sticky"])
    assert game.frame == screen
    game.step()
    assert game.facts["step"] == 11
    assert abs(game.facts["x"] - place) < 20
    game.close()


def test_an_episode_that_ended_is_followed_by_the_next(policy: TrainedPolicy) -> None:
    game = WatchGame(policy, level="1-1")
    assert game.facts["level"] == "1-1"
    for _ in range(2000):
        game.step(RIGHT)  # Into the first enemy, or the next.
        if game.has_ended:
            break
    assert game.has_ended
    game.step()
    assert (game.facts["step"], game.has_ended) == (0, False)
    game.close()


def test_a_browser_watches_steps_and_takes_over(rom_path: Path, tmp_path: Path) -> None:
    settings = Settings(tmp_path, port=0, token=TOKEN, policies=POLICIES)
    with (
        running(settings) as (_, address),
        connect_to(address, "ws/watch?policy=file:8-3.policy&level=1-1") as socket,
    ):

        def until(wanted: Any) -> dict[str, Any]:
            while True:
                message = socket.recv(timeout=60)
                if isinstance(message, bytes):
                    socket.send(json.dumps({"shown": True}))
                facts = {} if isinstance(message, bytes) else json.loads(message).get("facts", {})
                if facts and wanted(facts):
                    return dict(facts)

        socket.send("garbage")
        socket.send(json.dumps({"speed": "fast", "buttons": "all", "paused": 1}))
        socket.send(json.dumps({"taken_over": True, "buttons": RIGHT, "speed": 8}))
        playing = until(lambda facts: facts["player"] == "person" and facts["x"] > 60)
        assert playing["buttons"] == RIGHT
        socket.send(json.dumps({"paused": True, "taken_over": False}))
        paused = until(lambda facts: facts["paused"])
        socket.send(json.dumps({"step": True}))
        assert until(lambda facts: facts["player"] == "policy")["step"] == paused["step"] + 1


def test_policies_are_named_and_never_paths(rom_path: Path, tmp_path: Path) -> None:
    client = make_client(tmp_path, policies=POLICIES)
    rows = client.get("/api/policies").json()
    assert {"id": "file:8-3.policy", "name": "8-3", "level": "8-3"} in rows["policies"]
    assert len(rows["levels"]) == 32
    catalog = client.app.state.warpzone.policies  # type: ignore[attr-defined]
    for name in ("file:../policies/8-3.policy", "8-3.policy", "run:../x", ""):
        with pytest.raises(WarpzoneError):
            catalog.load(name)


@pytest.mark.parametrize("target", ["9-9", "nosuch.policy", ""])
def test_what_cannot_be_watched_is_a_sentence(
    target: str, capsys: pytest.CaptureFixture[str], rom_path: Path
) -> None:
    assert cli.main(["watch", target, "--policies", str(POLICIES)]) == 2
    assert capsys.readouterr().err.startswith("error: ")
