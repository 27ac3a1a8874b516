"""nes-py behind our environment: the real package, mended, plays as our own console does."""

from __future__ import annotations

import warnings
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from plays import PLAYS

import warpzone
from warpzone import _native
from warpzone.envs.backends import nes_py, nes_py_fixes
from warpzone.envs.backends.nes_py import NesPyMachine, plain_image
from warpzone.envs.backends.start import Start
from warpzone.errors import BackendError, ClosedError, ConfigError, LevelWarning
from warpzone.evaluation.policies import SequencePolicy
from warpzone.rom import locate as roms

SECOND = 15  # agent steps of four frames


def make(level: Any = "1-1", **options: Any) -> warpzone.MarioEnv:
    return warpzone.MarioEnv(level, backend="nes-py", **{"obs": "tiles"} | options)


def play(backend: Any, level: str, text: str) -> tuple[list[int], dict[str, Any]]:
    policy = SequencePolicy(text)
    env = warpzone.MarioEnv(level, backend=backend, obs="tiles", actions=list(policy.actions))
    obs, info = env.reset(seed=0)
    policy.reset()
    track = []
    for _ in range(500):
        # Sequences look at nothing.
        obs, _, terminated, truncated, info = env.step(policy.act(obs, info, None))  # type: ignore[arg-type]
        track.append(int(info["x_pos"]))
        if terminated or truncated:
            break
    env.close()
    return track, info


@pytest.mark.parametrize("level", PLAYS)
def test_scripted_play_agrees_with_our_console(level: str) -> None:
    # nes-py's frames slip: now and then one holds no frame of the game and a neighbour two, so
    # buttons are seen a frame early or late. Over any second it is even.
    ours, our_end = play("native", level, PLAYS[level])
    theirs, their_end = play("nes-py", level, PLAYS[level])
    assert our_end["flag_get"]
    assert their_end["flag_get"]
    assert our_end["death"] == their_end["death"]
    assert abs(len(ours) - len(theirs)) < SECOND
    for second, (x, other) in enumerate(zip(ours[::SECOND], theirs[::SECOND], strict=False)):
        assert abs(x - other) <= 16, f"second {second}"


def test_walking_into_the_first_enemy_kills_on_both() -> None:
    ours, our_end = play("native", "1-1", "RIGHT")
    theirs, their_end = play("nes-py", "1-1", "RIGHT")
    assert our_end["death"]
    assert their_end["death"]
    assert our_end["death_cause"] == their_end["death_cause"]
    assert abs(ours[-1] - theirs[-1]) <= 16


@pytest.mark.parametrize("level", ["1-2", "2-2", "8-4"])
def test_level_starts_where_ours_does(level: str) -> None:
    theirs, ours = make(level, power=2), warpzone.MarioEnv(level, obs="tiles", power=2)
    _, info = theirs.reset(seed=0)
    _, expected = ours.reset(seed=0)
    for name in ("world", "stage", "area", "area_type", "x_pos", "status", "time", "life"):
        assert info[name] == expected[name], name
    theirs.close()


@pytest.mark.slow
@pytest.mark.parametrize("game", ["smb", "lost-levels"])
def test_every_level_starts(game: str) -> None:
    for level in _native.level_names(game):
        env = make(level, game=game, strict_stage=True)
        _, info = env.reset(seed=0)
        assert f"{info['world']}-{info['stage']}" == level
        env.close()


def test_halfway_start_is_ours() -> None:
    theirs = make("1-1", halfway=True)
    ours = warpzone.MarioEnv("1-1", obs="tiles", halfway=True)
    assert theirs.reset(seed=0)[1]["x_pos"] == ours.reset(seed=0)[1]["x_pos"] > 1000
    theirs.close()


@pytest.mark.parametrize("obs", ["pixels", "rgb", "tiles"])
def test_spaces_infos_and_pictures_are_shaped_like_ours(obs: str) -> None:
    theirs = make(obs=obs, hud="mask" if obs == "rgb" else "keep", noop_max=5)
    ours = warpzone.MarioEnv("1-1", obs=obs)
    assert theirs.observation_space == ours.observation_space
    assert theirs.action_space == ours.action_space
    picture, info = theirs.reset(seed=1)
    assert theirs.observation_space.contains(picture)
    expected = ours.reset(seed=1)[1]
    assert {name: type(value) for name, value in info.items()} == {
        name: type(value) for name, value in expected.items()
    }
    if obs == "pixels":
        # The same scene: sky, ground and hills are as bright as ours, palettes differ a little.
        assert abs(float(picture.mean()) - float(ours.reset(seed=1)[0].mean())) < 25
    theirs.close()


def test_same_seed_gives_the_same_episode() -> None:
    env = make(sticky_prob=0.25, noop_max=30)
    episodes = []
    for _ in range(2):
        obs, _ = env.reset(seed=11)
        steps = [env.step(action % 7) for action in range(25)]
        episodes.append([obs["tiles"].copy(), *[step[0]["tiles"] for step in steps]])
    for first, second in zip(*episodes, strict=True):
        np.testing.assert_array_equal(first, second)
    env.close()


def test_gymnasium_has_nothing_to_complain_about() -> None:
    env = make(obs="pixels", render_mode="rgb_array")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", ".*not within the observation space.*")
        warnings.filterwarnings("ignore", ".*different from the unwrapped version.*")
        check_env(env, skip_render_check=True)
    env.reset(seed=0)
    screen = env.render()
    assert screen is not None
    assert screen.shape == (240, 256, 3)
    assert screen.std() > 10
    env.close()


def test_classic_reward_is_the_packages_own() -> None:
    env = make(reward="classic", frame_skip=1)
    env.reset(seed=0)
    game = nes_py_fixes.game_class()(str(plain_image(roms.load_game())), True)
    machine = env.machine
    assert isinstance(machine, NesPyMachine)
    machine._start(game, "1-1", Start())
    game._backup()
    game.reset()
    for number in range(260):
        action = 4 if number % 40 < 25 else 3
        game.allow_frames()
        _, reward, done, told = game.step(env._config.actions[action])
        _, our_reward, terminated, _, info = env.step(action)
        assert (our_reward, terminated) == (reward, done), number
        assert {name: info[name] for name in told} == told, number
        if done:
            break
    env.close()
    game.close()


# Mends and refusals.


def test_writes_reach_the_emulator_and_bytes_are_whole_numbers() -> None:
    memory = np.zeros(8, np.uint8)
    ram = nes_py_fixes.WholeNumbers(memory)
    ram[3] = 200
    assert memory[3] == 200
    assert ram[3] * 0x100 == 51200
    assert ram[2:4] == [0, 200]


def test_game_that_does_not_go_on_is_an_error_instead_of_a_hang() -> None:
    game = nes_py_fixes.game_class()(str(plain_image(roms.load_game())), True)
    game.reset()
    game._frames_left = 1
    game._frame_advance(0)
    with pytest.raises(BackendError, match="did not continue within 2000 frames"):
        game._frame_advance(0)
    game.close()


@pytest.mark.parametrize("package", list(nes_py_fixes.TESTED))
def test_untested_version_is_refused_by_name(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = metadata.version
    monkeypatch.setattr(metadata, "version", lambda name: "9.9" if name == package else real(name))
    with pytest.raises(BackendError, match=rf"{package} [\d.]+, not with 9\.9"):
        nes_py_fixes.check_versions()


def test_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", missing)
    with pytest.raises(BackendError, match=r'pip install "warpzone\[nes-py\]"'):
        nes_py_fixes.check_versions()


def test_level_that_cannot_be_started_is_told_once_or_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun = {"world": 0, "stage": 0, "area": 0, "halfway_page": 0}  # The machine only knows 1-1.
    monkeypatch.setattr(nes_py._native, "level_numbers", lambda game, level: begun)
    env = make("3-1")
    with pytest.warns(LevelWarning, match="nes-py began level 1-1 instead of 3-1"):
        env.reset(seed=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env.reset(seed=0)
    env.close()
    strict = make("3-1", strict_stage=True)
    with pytest.raises(BackendError, match="nes-py began level 1-1 instead of 3-1"):
        strict.reset(seed=0)
    strict.close()


def test_what_only_our_console_can_do_is_refused() -> None:
    with pytest.raises(ConfigError, match="no save states"):
        make(start_state=b"state")
    with pytest.raises(ConfigError, match="exact"):
        make(exact=True)
    with pytest.raises(ConfigError, match="backend is 'fceux'; it must be one of native, nes-py"):
        warpzone.MarioEnv(backend="fceux")  # type: ignore[arg-type]
    env = make()
    with pytest.raises(ConfigError, match="no save states"):
        env.reset(options={"state": b"state"})
    with pytest.raises(ConfigError, match="another machine"):
        _ = env.console
    env.close()


def test_closed_machine_is_not_read_any_more() -> None:
    env = make()
    env.reset(seed=0)
    env.close()
    env.close()
    with pytest.raises(ClosedError):
        env.ram()


def test_image_is_written_once_and_mended(data_folder: Path, rom_path: Path) -> None:
    image = roms.read_rom(rom_path)
    path = plain_image(image)
    assert path.parent == data_folder.parent / "nes-py"
    stamp = path.stat().st_mtime_ns
    assert plain_image(image).stat().st_mtime_ns == stamp
    path.write_bytes(b"damaged")
    assert plain_image(image).read_bytes() == image
