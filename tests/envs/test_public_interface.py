"""The interface that was promised to users works as written down."""

from __future__ import annotations

import shutil
from pathlib import Path

import gymnasium
import numpy as np
import pytest

import warpzone

PROMISED = """
env = warpzone.make_vec("1-1", num_envs=16, num_threads=2)
obs, info = env.reset(seed=0)
obs, reward, terminated, truncated, info = env.step(actions)
blob = env.save_state(env_id=3); env.load_state(blob, env_ids=[0, 1])
ram = env.ram()

single = gymnasium.make("warpzone/SuperMarioBros-8-4-v0")

nes = warpzone.Console("game.nes")
nes.run_frame(buttons=0x80, render=True)
b = nes.save()
seen = nes.ram, nes.screen, nes.peek(0x6000), nes.poke(0x75A, 9), nes.save(), nes.load(b), nes.frame_count, nes.cycle_count
registers = nes.cpu
nes.step_instruction()
"""  # noqa: E501


def test_the_promised_code_runs(
    rom_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(rom_path, tmp_path / "game.nes")
    monkeypatch.chdir(tmp_path)
    names = {
        "warpzone": warpzone,
        "gymnasium": gymnasium,
        "actions": np.full(16, 1),
    }
    exec(PROMISED, names)
    assert names["obs"].shape == (16, 4, 84, 84)  # type: ignore[attr-defined]
    assert names["obs"].dtype == np.uint8  # type: ignore[attr-defined]
    for name in ("x_pos", "progress", "flag_get"):
        assert names["info"][name].shape == (16,)  # type: ignore[index]
    assert names["ram"].shape == (16, 2048)  # type: ignore[attr-defined]
    assert not names["ram"].flags.writeable  # type: ignore[attr-defined]
    registers = names["registers"]
    for name in ("pc", "a", "x", "y", "sp", "p"):
        setattr(registers, name, getattr(registers, name))


def test_one_parameter_list_serves_both_environments() -> None:
    config = warpzone.make_vec("1-1").config
    for name in set(warpzone.parameter_help()) - {"level", "rom", "game", "weights"}:
        value = getattr(config, name)
        assert getattr(warpzone.make_vec("1-1", **{name: value}).config, name) == value
        gymnasium.make("warpzone/SuperMarioBros-1-1-v0", **{name: value})


def test_every_parameter_has_help() -> None:
    assert all(len(text) > 10 for text in warpzone.parameter_help().values())
