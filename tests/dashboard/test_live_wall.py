"""The live wall: rollouts that are played again equal those of the run, bit by bit."""

from __future__ import annotations

import json
import os
import threading
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from dashboard_support import BEARER, HOST, TOKEN, connect_to, make_client, write_run
from tiny import NUM_ENVS, STEPS, tiny

from warpzone.config import TrainConfig, to_toml
from warpzone.dashboard.frames import COLORS
from warpzone.dashboard.live_player import DETAIL, VIEW, WALL, LivePlayer
from warpzone.dashboard.server import running
from warpzone.dashboard.settings import Settings
from warpzone.envs.vector import MarioVectorEnv
from warpzone.runs.directory import RunDirectory
from warpzone.runs.live_rollout import (
    FRESH_SECONDS,
    LiveRequest,
    LiveRollout,
    read_request,
    read_rollout,
    write_request,
)
from warpzone.training.live_feed import LiveFeed
from warpzone.training.trainer import Trainer

EVERYONE = tuple(range(NUM_ENVS))


def watched_run(tmp_path: Path, config: TrainConfig, details: tuple[int, ...] = ()) -> Any:
    """Trains two updates while somebody watches; returns trainer, run and the rollout it left."""
    run = RunDirectory(write_run(tmp_path, phase="update"))
    run.write_config(to_toml(config))
    trainer = Trainer(config, live_feed=LiveFeed(run))
    trainer.begin()
    write_request(run, LiveRequest("one", EVERYONE, details))
    trainer.update()
    assert read_rollout(run, "one") is None  # It was asked for after its start.
    trainer.update()
    return trainer, run, read_rollout(run, "one")


def short_episodes(config: TrainConfig, **env: Any) -> TrainConfig:
    return replace(config, env=replace(config.env, max_steps=5, **env))


@pytest.mark.parametrize(
    "config",
    [
        tiny(),
        short_episodes(tiny(), sticky_prob=0.3, noop_max=20),
        short_episodes(tiny(acting="torch")),
        short_episodes(tiny(), level="1-1,1-2,4-1"),
        replace(tiny(), env=replace(tiny().env, obs="pixels")),
    ],
    ids=["plain", "sticky and resets", "acting in PyTorch", "levels", "pixels"],
)
def test_a_rollout_played_again_ends_where_the_run_ended(
    tmp_path: Path, config: TrainConfig
) -> None:
    trainer, _, rollout = watched_run(tmp_path, config)
    assert rollout.resets_known
    player = LivePlayer(config, NUM_ENVS)
    moments = list(player.play(rollout, ()))
    assert len(moments) == STEPS
    assert (player.ram() == trainer.env.ram()).all()
    assert moments[0].wall != moments[-1].wall
    player.close()
    trainer.close()


def test_probabilities_of_enlarged_environments_are_those_of_the_policy(tmp_path: Path) -> None:
    config = tiny()
    trainer, _, rollout = watched_run(tmp_path, config, details=(2, 0))
    assert rollout.details == (2, 0)
    assert rollout.probabilities.shape[:2] == (STEPS, 2)
    storage = trainer.storage
    taken = np.take_along_axis(rollout.probabilities, rollout.actions[:, [2, 0], None], 2)[..., 0]
    # The policy has learned since, but acted with these probabilities.
    assert np.log(taken) == pytest.approx(storage.log_probs[:, [2, 0]].numpy(), abs=1e-4)
    player = LivePlayer(config, NUM_ENVS)
    moment = next(player.play(rollout, {2}))
    facts, (message,) = moment.details[2]
    assert list(moment.details) == [2]
    assert (message[0], moment.wall[0]) == (DETAIL, WALL)
    assert sum(facts["probabilities"]) == pytest.approx(1.0, abs=0.01)
    assert facts["actions"][facts["action"]]
    assert (len(facts["tiles"]), len(facts["tiles"][0])) == (13, 16)
    json.dumps(facts)
    player.close()
    trainer.close()


def test_the_reward_of_an_enlarged_environment_is_shown_term_by_term(tmp_path: Path) -> None:
    config = short_episodes(tiny())
    config = replace(config, reward=replace(config.reward, distance=0.5, time=0.25))
    trainer, _, rollout = watched_run(tmp_path, config)
    player = LivePlayer(config, NUM_ENVS)
    for moment in player.play(rollout, {1}):
        facts = moment.details[1][0]
        assert sum(facts["terms"].values()) == pytest.approx(facts["reward"], abs=1e-3)
        assert facts["terms"]["time"] == -0.25
    player.close()
    trainer.close()


@pytest.mark.parametrize(("obs", "planes"), [("pixels", 1), ("rgb", 3)])
def test_an_enlarged_environment_shows_the_image_that_the_network_sees(
    tmp_path: Path, obs: str, planes: int
) -> None:
    config = tiny()
    env = replace(config.env, obs=obs, size=(84, 84), stack=2)  # type: ignore[arg-type]
    config = replace(config, env=env)
    trainer, _, rollout = watched_run(tmp_path, config)
    player = LivePlayer(config, NUM_ENVS)
    last = list(player.play(rollout, {3}))[-1]
    facts, (_, view) = last.details[3]
    assert facts["tiles"] == []
    assert view[0] == VIEW
    colors, body = view[1], zlib.decompress(view[8:], wbits=-15)
    pixels = np.frombuffer(body[3 * colors + 2 :], np.uint8).reshape(84, 2 * 84)
    seen, _ = trainer.env.observe()
    newest = seen[3][-planes:].mean(0)
    palette = np.frombuffer(body[: 3 * colors], np.uint8).reshape(-1, 3).mean(1)
    assert np.abs(palette[pixels[:, 84:]] - newest).max() <= 26
    player.close()
    trainer.close()


def test_where_only_the_run_knows_the_next_start_an_environment_stays_at_its_end(
    tmp_path: Path,
) -> None:
    config = short_episodes(tiny())
    config = replace(config, starts=replace(config.starts, share=0.9))
    trainer, _, rollout = watched_run(tmp_path, config)
    assert not rollout.resets_known
    player = LivePlayer(config, NUM_ENVS)
    ends = [moment.details[0][0]["over"] for moment in player.play(rollout, {0})]
    first = int(np.flatnonzero(rollout.ended[:, 0])[0])
    assert ends == [step > first for step in range(STEPS)]
    player.close()
    trainer.close()


def test_watching_does_not_change_what_is_learned(tmp_path: Path) -> None:
    config = short_episodes(tiny())
    watched, _, _ = watched_run(tmp_path, config, details=(1,))
    alone = Trainer(config)
    alone.begin()
    for _ in range(2):
        alone.update()
    for name, value in alone.model.state_dict().items():
        assert torch.equal(value, watched.model.state_dict()[name]), name
    watched.close()
    alone.close()


def test_a_run_that_nobody_watches_writes_nothing(tmp_path: Path) -> None:
    run = RunDirectory(write_run(tmp_path))
    trainer = Trainer(tiny(), live_feed=LiveFeed(run))
    trainer.begin()
    for _ in range(3):
        trainer.update()
    assert not run.live.exists()
    trainer.close()


def test_an_old_request_no_longer_counts(tmp_path: Path) -> None:
    run = RunDirectory(write_run(tmp_path))
    write_request(run, LiveRequest("one", (0, 1), (1,)))
    assert read_request(run, 4) == LiveRequest("one", (0, 1), (1,))
    path = run.live / "request.json"
    old = path.stat().st_mtime - FRESH_SECONDS - 1
    os.utime(path, (old, old))
    assert read_request(run, 4) is None


@pytest.mark.parametrize(
    "text", ["garbage", "[]", "{}", '{"sequence": 1, "envs": [], "details": []}', "\0"]
)
def test_damaged_requests_are_ignored(tmp_path: Path, text: str) -> None:
    run = RunDirectory(write_run(tmp_path))
    run.live.mkdir()
    (run.live / "request.json").write_text(text)
    assert read_request(run, 4) is None


def test_environments_that_do_not_exist_are_left_out(tmp_path: Path) -> None:
    run = RunDirectory(write_run(tmp_path))
    write_request(run, LiveRequest("one", (0, 9, 2, -1, 2), (9, 2)))
    assert read_request(run, 4) == LiveRequest("one", (0, 2), (2,))


@pytest.mark.parametrize("data", [b"", b"garbage", b"PK\x03\x04half"])
def test_damaged_rollouts_are_ignored(tmp_path: Path, data: bytes) -> None:
    run = RunDirectory(write_run(tmp_path))
    run.live.mkdir()
    (run.live / "rollout.npz").write_bytes(data)
    assert read_rollout(run, "one") is None


def test_color_numbers_give_back_the_screen(rom_path: Path) -> None:
    env = MarioVectorEnv(["1-1"], num_envs=2, render_mode="rgb_array", rom=rom_path)
    env.reset(seed=0)
    colors = np.frombuffer(COLORS, np.uint8).reshape(-1, 3)
    whole, small = env.pool.color_numbers(1), env.pool.color_numbers(1, 2)
    assert (colors[whole] == (env.render() or ())[1]).all()
    assert (small == whole[::2, ::2]).all()
    with pytest.raises(ValueError, match="shrink is 0"):
        env.pool.color_numbers(1, 0)
    env.close()


def test_a_browser_gets_the_games_of_a_run_and_costs_nothing_afterwards(tmp_path: Path) -> None:
    config = tiny()
    run = RunDirectory(write_run(tmp_path, phase="update"))
    run.write_config(to_toml(config))
    trainer = Trainer(config, live_feed=LiveFeed(run))
    trainer.begin()
    ended = threading.Event()

    def train() -> None:
        while not ended.is_set():
            trainer.update()

    thread = threading.Thread(target=train)
    thread.start()
    try:
        with running(Settings(tmp_path, port=0, token=TOKEN)) as (_, address):
            with connect_to(address, f"ws/wall?run={run.name}") as socket:
                socket.send("garbage")
                socket.send(json.dumps({"detail": 3}))
                kinds = set()
                facts: dict[str, Any] = {}
                while not (facts.get("probabilities") and kinds == {WALL, DETAIL}):
                    message = socket.recv(timeout=60)
                    if isinstance(message, bytes):
                        kinds.add(message[0])
                        socket.send(json.dumps({"shown": True}))
                    else:
                        facts = json.loads(message).get("detail", facts)
                assert facts["env"] == 3
            while any(thread.name == "wall" for thread in threading.enumerate()):
                ended.wait(0.05)  # The test's time limit ends a wall that stays.
    finally:
        ended.set()
        thread.join()
        trainer.close()


def test_a_run_that_does_not_exist_is_named(tmp_path: Path) -> None:
    headers = BEARER | {"origin": f"http://{HOST}"}
    with make_client(tmp_path).websocket_connect(
        f"ws://{HOST}/ws/wall?run=nosuch", headers=headers
    ) as socket:
        assert "'nosuch' is not a run" in socket.receive_json()["status"]


def test_a_rollout_survives_its_file(tmp_path: Path) -> None:
    from warpzone.runs.live_rollout import write_rollout

    run = RunDirectory(write_run(tmp_path))
    run.live.mkdir()
    shape = (3, 2)
    rollout = LiveRollout(
        sequence="a",
        update=7,
        resets_known=False,
        envs=(4, 1),
        levels=("1-1", "8-4"),
        states=[b"abc", b"\0\0"],
        actions=np.arange(6).reshape(shape),
        ended=np.zeros(shape, np.bool_),
        rewards=np.ones(shape, np.float32),
        values=np.ones(shape, np.float32),
    )
    write_rollout(run, rollout)
    again = read_rollout(run, "a")
    assert again is not None
    assert (again.envs, again.levels, again.states) == ((4, 1), ("1-1", "8-4"), [b"abc", b"\0\0"])
    assert (again.actions == rollout.actions).all()
    assert read_rollout(run, "b") is None
    assert [path.name for path in run.live.iterdir()] == ["rollout.npz"]
