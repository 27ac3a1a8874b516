"""Save states restore exactly, and anything else is refused with its reason."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import levels
import numpy as np
import pytest
from picture_programs import draw
from states import HEADER_SIZE, forged, header_of
from twins import Twins

import warpzone

both_modes = pytest.mark.parametrize("exact", [False, True], ids=["fast", "exact"])
REPLAYED_FRAMES = 40


@pytest.fixture(scope="module")
def start_state(rom_path: Path) -> bytes:
    return levels.state_at_start(rom_path, levels.Level(1, 1))


@pytest.fixture
def nes(rom_path: Path, start_state: bytes) -> warpzone.Console:
    console = warpzone.Console(rom_path)
    console.load(start_state)
    return console


def play(console: warpzone.Console, buttons: list[int]) -> list[tuple[bytes, bytes]]:
    """Plays drawn frames and returns each one's state and picture."""
    seen = []
    for pressed in buttons:
        console.run_frame(pressed, render=True)
        seen.append((console.save(), console.screen.tobytes()))
    return seen


def assert_refused(console: warpzone.Console, state: bytes, reason: str) -> None:
    """Expects a sentence with the reason, and a machine that was not touched."""
    before, picture = console.save(), console.screen
    with pytest.raises(ValueError, match=reason):
        console.load(state)
    assert console.save() == before
    assert np.array_equal(console.screen, picture)


@both_modes
@pytest.mark.parametrize("seed", range(3))
def test_replay_from_a_state_repeats_every_byte_and_picture(
    rom_path: Path, start_state: bytes, exact: bool, seed: int
) -> None:
    rng = random.Random(seed)
    console = warpzone.Console(rom_path, exact=exact)
    console.load(start_state)
    play(console, levels.buttons_for(seed, rng.randrange(1, 60)))
    state = console.save()
    buttons = levels.buttons_for(seed + 100, REPLAYED_FRAMES)
    first = play(console, buttons)
    console.load(state)
    assert console.save() == state
    assert play(console, buttons) == first


def test_a_state_restores_in_a_console_that_has_never_run(rom_path: Path, nes: object) -> None:
    assert isinstance(nes, warpzone.Console)
    play(nes, levels.buttons_for(1, 30))
    state = nes.save()
    fresh = warpzone.Console(rom_path)
    fresh.load(state)
    buttons = levels.buttons_for(2, REPLAYED_FRAMES)
    assert play(fresh, buttons) == play(nes, buttons)


def test_states_have_the_same_size_at_any_moment(rom_path: Path, lost_levels_path: Path) -> None:
    sizes = set()
    for image in (rom_path.read_bytes(), lost_levels_path.read_bytes(), draw(0).image()):
        for exact in (False, True):
            console = warpzone.Console(image, exact=exact)
            sizes.add(len(console.save()))
            console.run_frame(0, render=False)
            console.poke(0x6000, 1)
            sizes.add(len(console.save()))
    assert len(sizes) == 1


def test_a_state_counts_frames_and_cycles(nes: warpzone.Console) -> None:
    state = nes.save()
    counted = nes.frame_count, nes.cycle_count
    nes.run_frames(5)
    nes.load(state)
    assert (nes.frame_count, nes.cycle_count) == counted


def test_a_state_keeps_cartridge_ram(nes: warpzone.Console) -> None:
    nes.poke(0x6123, 0x45)
    state = nes.save()
    nes.poke(0x6123, 0x67)
    nes.load(state)
    assert nes.peek(0x6123) == 0x45


def test_a_state_without_cartridge_ram_clears_it(nes: warpzone.Console) -> None:
    state = nes.save()
    nes.poke(0x6123, 0x45)
    nes.load(state)
    assert nes.peek(0x6123) == 0


@pytest.mark.parametrize("seed", range(12))
def test_exact_and_fast_consoles_take_each_others_states_between_frames(seed: int) -> None:
    twins = Twins(draw(seed).image())
    rng = random.Random(seed)
    for _ in range(10):
        twins.run_frame(rng.randrange(256))
        from_exact, from_fast = twins.exact.save(), twins.fast.save()
        twins.exact.load(from_fast)
        twins.fast.load(from_exact)
        assert twins.difference() is None, f"seed {seed}"


@pytest.mark.parametrize("swapped", [False, True], ids=["own", "each others"])
@pytest.mark.parametrize("seed", range(30))
def test_consoles_take_states_in_the_middle_of_a_picture(seed: int, swapped: bool) -> None:
    twins = Twins(draw(seed).image())
    rng = random.Random(seed)
    for _ in range(rng.randrange(2, 7)):
        twins.run_frame(rng.randrange(256))
    for _ in range(rng.randrange(6000)):
        twins.step_instruction()
    from_exact, from_fast = twins.exact.save(), twins.fast.save()
    for _ in range(200):
        twins.step_instruction()
    twins.exact.load(from_fast if swapped else from_exact)
    twins.fast.load(from_exact if swapped else from_fast)
    for frame in range(3):
        twins.run_frame(rng.randrange(256))
        # The picture in hand has lines from before the load.
        assert twins.difference(pictures=frame > 0) is None, f"seed {seed}, frame {frame}"


@pytest.mark.parametrize("length", [0, 1, 4, HEADER_SIZE - 1])
def test_a_state_without_a_whole_header_is_refused(nes: warpzone.Console, length: int) -> None:
    assert_refused(nes, nes.save()[:length], f"no save state.*{length} bytes")


@pytest.mark.parametrize("change", [-20_000, -1, 1, 4096])
def test_a_cut_or_padded_state_is_refused(nes: warpzone.Console, change: int) -> None:
    state = nes.save()
    wrong = state[:change] if change < 0 else state + bytes(change)
    assert_refused(nes, wrong, f"cut or padded.*{len(wrong)} bytes instead of {len(state)}")


@pytest.mark.parametrize(
    ("field", "reason"),
    [
        ("magic", "no save state: its first bytes"),
        ("version", "format version .* this build reads version"),
        ("size", "cut or padded"),
        ("cartridge", "another ROM"),
        ("checksum", "altered: its checksum"),
    ],
)
@pytest.mark.parametrize("bit", [0, 7, 31])
def test_a_changed_header_field_is_refused(
    nes: warpzone.Console, field: str, reason: str, bit: int
) -> None:
    state = nes.save()
    header = header_of(state)
    changed = replace(header, **{field: getattr(header, field) ^ (1 << bit)})
    assert_refused(nes, changed.packed() + state[HEADER_SIZE:], reason)


def test_any_changed_byte_of_the_body_is_refused(nes: warpzone.Console) -> None:
    state = nes.save()
    rng = random.Random(0)
    for _ in range(300):
        wrong = bytearray(state)
        wrong[rng.randrange(HEADER_SIZE, len(state))] ^= 1 << rng.randrange(8)
        assert_refused(nes, bytes(wrong), "altered: its checksum")


def test_a_state_of_another_rom_is_refused(nes: warpzone.Console, lost_levels_path: Path) -> None:
    assert_refused(nes, warpzone.Console(lost_levels_path).save(), "another ROM")


def test_the_other_mirroring_is_another_rom(nes: warpzone.Console, rom_path: Path) -> None:
    image = bytearray(rom_path.read_bytes())
    image[6] ^= 0x01
    assert_refused(nes, warpzone.Console(bytes(image)).save(), "another ROM")


@pytest.mark.parametrize("filler", [0x00, 0x7F, 0xFF])
def test_impossible_values_are_refused_in_spite_of_a_right_checksum(
    nes: warpzone.Console, filler: int
) -> None:
    state = nes.save()
    body = bytes([filler]) * (len(state) - HEADER_SIZE)
    assert_refused(nes, forged(state, body), "impossible values")


def test_a_right_checksum_is_what_it_takes(nes: warpzone.Console) -> None:
    """The other tests forge states; this shows that forging works as they believe."""
    state = nes.save()
    assert forged(state, state[HEADER_SIZE:]) == state


@pytest.mark.parametrize("wrong", [None, 3, "state", 1.5, [1, 2]])
def test_something_else_than_bytes_is_refused(nes: warpzone.Console, wrong: object) -> None:
    before = nes.save()
    with pytest.raises(TypeError):
        nes.load(wrong)  # type: ignore[arg-type]
    assert nes.save() == before
