"""Written sequences of buttons, and the action that leads forward."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpzone.envs.actions import resolve_actions
from warpzone.envs.button_script import parse_script, script_steps, steps_of
from warpzone.envs.probe import probe_forward
from warpzone.errors import ConfigError


def test_a_sequence_in_frames_becomes_actions_by_step() -> None:
    actions = resolve_actions("extended")
    steps = script_steps(parse_script("START:8,right+b:10,NOOP"), actions, 4, "script.sequence")
    start, forward, nothing = (actions.index(byte) for byte in (0x08, 0x82, 0x00))
    assert steps == [start] * 2 + [forward] * 3 + [nothing]
    assert steps_of(9, 4) == 3


def test_buttons_that_no_action_presses_are_refused_with_the_list() -> None:
    with pytest.raises(ConfigError, match=r"script\.sequence presses START.*RIGHT\+A.*extended"):
        script_steps(parse_script("START:8"), resolve_actions("simple"), 4, "script.sequence")


@pytest.mark.parametrize(
    ("text", "message"),
    [("RIGHT:0", "frames above 0"), ("RIGHT:x", "frames above 0"), ("JUMP:3", "no button")],
)
def test_mistakes_are_named(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_script(text)


def test_probing_finds_an_action_that_runs_right(rom_path: Path) -> None:
    best = probe_forward(120, "1-1", "complex", frame_skip=4)
    assert resolve_actions("complex")[best] & 0x82 == 0x82  # RIGHT and B
