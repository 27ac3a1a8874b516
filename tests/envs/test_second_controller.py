"""The second controller of the single environment and of the console."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import warpzone
from warpzone.errors import ConfigError

SECOND_PAD = 0x06FD  # Where the game keeps the buttons of the second controller.
NUMBER_OF_PLAYERS = 0x077A  # 1 in a two-player game.
START, SELECT = 0x08, 0x04


def test_buttons_of_the_second_controller_reach_the_game_until_they_change(rom_path: Path) -> None:
    env = warpzone.MarioEnv("1-1")
    env.reset(seed=0)
    env.step(0)
    assert env.ram()[SECOND_PAD] == 0
    env.set_second_controller("RIGHT+A")
    for _ in range(2):
        env.step(0)
        assert env.ram()[SECOND_PAD] == 0x81  # The game stores A in bit 7 and RIGHT in bit 0.
    env.set_second_controller(0)
    env.step(0)
    assert env.ram()[SECOND_PAD] == 0


def test_mario_ignores_the_second_controller(rom_path: Path) -> None:
    with_it, without = warpzone.MarioEnv("1-1"), warpzone.MarioEnv("1-1")
    with_it.reset(seed=0)
    without.reset(seed=0)
    with_it.set_second_controller(["RIGHT", "A"])
    for _ in range(20):
        left, right = with_it.step(1), without.step(1)
        np.testing.assert_array_equal(left[0], right[0])
        assert left[1] == right[1]


def test_a_button_that_does_not_exist_is_refused(rom_path: Path) -> None:
    with pytest.raises(ConfigError, match="TURBO"):
        warpzone.MarioEnv("1-1").set_second_controller("TURBO")


def test_the_console_starts_a_two_player_game(rom_path: Path) -> None:
    nes = warpzone.Console(rom_path)
    nes.run_frames(120)
    for buttons in (SELECT, 0, START):
        nes.run_frames(30, buttons)
    assert nes.ram[NUMBER_OF_PLAYERS] == 1
    nes.run_frame(buttons=0, buttons2=0x80)
    nes.run_frame(buttons=0, buttons2=0x80)
    assert nes.ram[SECOND_PAD] == 0x01
