"""Written sequences of buttons, and the action that leads forward."""

from __future__ import annotations

from pathlib import Path

import pytest

import warpzone
from warpzone.envs.actions import resolve_actions
from warpzone.envs.button_script import Hold, parse_script, script_steps, steps_of
from warpzone.envs.probe import probe_forward
from warpzone.errors import ConfigError

DOCUMENTED = "START:8,RIGHT+B:180"


def test_a_script_in_frames_becomes_one_action_per_step() -> None:
    actions = resolve_actions("simple")
    steps = script_steps(parse_script("right+b:10,NOOP"), actions, 4, "script.sequence")
    forward, nothing = (actions.index(byte) for byte in (0x82, 0x00))
    assert steps == [forward] * 3 + [nothing]
    assert steps_of(9, 4) == 3


@pytest.mark.parametrize("text", [DOCUMENTED, "NOOP:30,START:8,NOOP:20,START,RIGHT+B:180"])
def test_start_at_the_beginning_belongs_to_the_title_screen_and_is_skipped(text: str) -> None:
    assert parse_script(text) == [Hold(0x82, 180)]


@pytest.mark.parametrize("text", ["RIGHT:8,START:8", "START:8,RIGHT:8,START", "START+RIGHT:8"])
def test_start_that_would_pause_the_game_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="pauses the game; leave START out, or put it first"):
        parse_script(text)


@pytest.mark.parametrize("level", ["1-1", "game"])
def test_the_documented_script_makes_progress(level: str) -> None:
    env = warpzone.MarioEnv(level, obs="tiles")
    actions = resolve_actions("simple")
    env.reset(seed=0)
    for action in script_steps(parse_script(DOCUMENTED), actions, 4, "script.sequence"):
        _, _, terminated, _, info = env.step(action)
        if terminated:
            break
    assert info["progress"] > 200
    env.close()


def test_buttons_that_no_action_presses_are_refused_with_the_list() -> None:
    with pytest.raises(ConfigError, match=r"script\.sequence presses DOWN.*RIGHT\+A.*extended"):
        script_steps(parse_script("DOWN:8"), resolve_actions("simple"), 4, "script.sequence")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("RIGHT:0", "frames above 0"),
        ("RIGHT:x", "frames above 0"),
        ("JUMP:3", "not a button"),
        ("START:8", "only START"),
    ],
)
def test_mistakes_are_named(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_script(text)


def test_probing_finds_an_action_that_runs_right(rom_path: Path) -> None:
    best = probe_forward(120, "1-1", "complex", frame_skip=4)
    assert resolve_actions("complex")[best] & 0x82 == 0x82  # RIGHT and B
