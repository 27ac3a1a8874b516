"""Save states restore exactly, and anything else is rejected with the reason."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import levels
import numpy as np
import pytest
from console_pair import ConsolePair
from ppu_programs import random_program
from states import HEADER_SIZE, forged, header_of

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
    """Plays with rendering and returns the state and screen of each frame."""
    results = []
    for pressed in buttons:
        console.run_frame(pressed, render=True)
        results.append((console.save(), console.screen.tobytes()))
    return results


def assert_rejected(console: warpzone.Console, state: bytes, reason: str) -> None:
    """Expects an error with the reason, and an unchanged console."""
    before, screen = console.save(), console.screen
    with pytest.raises(ValueError, match=reason):
        console.load(state)
    assert console.save() == before
    assert np.array_equal(console.screen, screen)


@both_modes
@pytest.mark.parametrize("seed", range(3))
def test_replay_from_a_state_repeats_every_byte_and_screen(
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


def test_all_states_have_the_same_size(rom_path: Path, lost_levels_path: Path) -> None:
    sizes = set()
    for image in (rom_path.read_bytes(), lost_levels_path.read_bytes(), random_program(0).image()):
        for exact in (False, True):
            console = warpzone.Console(image, exact=exact)
            sizes.add(len(console.save()))
            console.run_frame(0, render=False)
            console.poke(0x6000, 1)
            sizes.add(len(console.save()))
    assert len(sizes) == 1


def test_a_state_restores_the_frame_and_cycle_counts(nes: warpzone.Console) -> None:
    state = nes.save()
    counted = nes.frame_count, nes.cycle_count
    nes.run_frames(5)
    nes.load(state)
    assert (nes.frame_count, nes.cycle_count) == counted


def test_a_state_restores_cartridge_ram(nes: warpzone.Console) -> None:
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
def test_exact_and_fast_consoles_load_each_others_states_between_frames(seed: int) -> None:
    pair = ConsolePair(random_program(seed).image())
    rng = random.Random(seed)
    for _ in range(10):
        pair.run_frame(rng.randrange(256))
        from_exact, from_fast = pair.exact.save(), pair.fast.save()
        pair.exact.load(from_fast)
        pair.fast.load(from_exact)
        assert pair.difference() is None, f"seed {seed}"


@pytest.mark.parametrize("swapped", [False, True], ids=["own", "each others"])
@pytest.mark.parametrize("seed", range(30))
def test_consoles_load_states_from_the_middle_of_a_frame(seed: int, swapped: bool) -> None:
    pair = ConsolePair(random_program(seed).image())
    rng = random.Random(seed)
    for _ in range(rng.randrange(2, 7)):
        pair.run_frame(rng.randrange(256))
    for _ in range(rng.randrange(6000)):
        pair.step_instruction()
    from_exact, from_fast = pair.exact.save(), pair.fast.save()
    for _ in range(200):
        pair.step_instruction()
    pair.exact.load(from_fast if swapped else from_exact)
    pair.fast.load(from_exact if swapped else from_fast)
    for frame in range(3):
        pair.run_frame(rng.randrange(256))
        # The first screen still contains lines from before the load.
        assert pair.difference(screens=frame > 0) is None, f"seed {seed}, frame {frame}"


@pytest.mark.parametrize("length", [0, 1, 4, HEADER_SIZE - 1])
def test_a_state_with_an_incomplete_header_is_rejected(nes: warpzone.Console, length: int) -> None:
    assert_rejected(nes, nes.save()[:length], f"not a save state.*{length} bytes")


@pytest.mark.parametrize("change", [-20_000, -1, 1, 4096])
def test_a_truncated_or_padded_state_is_rejected(nes: warpzone.Console, change: int) -> None:
    state = nes.save()
    wrong = state[:change] if change < 0 else state + bytes(change)
    assert_rejected(nes, wrong, f"cut or padded.*{len(wrong)} bytes instead of {len(state)}")


@pytest.mark.parametrize(
    ("field", "reason"),
    [
        ("magic", "not a save state: its first bytes"),
        ("version", "format version .* this build reads version"),
        ("size", "cut or padded"),
        ("cartridge", "another ROM"),
        ("checksum", "altered: its checksum"),
    ],
)
@pytest.mark.parametrize("bit", [0, 7, 31])
def test_a_changed_header_field_is_rejected(
    nes: warpzone.Console, field: str, reason: str, bit: int
) -> None:
    state = nes.save()
    header = header_of(state)
    changed = replace(header, **{field: getattr(header, field) ^ (1 << bit)})
    assert_rejected(nes, changed.packed() + state[HEADER_SIZE:], reason)


def test_any_changed_byte_of_the_body_is_rejected(nes: warpzone.Console) -> None:
    state = nes.save()
    rng = random.Random(0)
    for _ in range(300):
        wrong = bytearray(state)
        wrong[rng.randrange(HEADER_SIZE, len(state))] ^= 1 << rng.randrange(8)
        assert_rejected(nes, bytes(wrong), "altered: its checksum")


def test_a_state_of_another_rom_is_rejected(nes: warpzone.Console, lost_levels_path: Path) -> None:
    assert_rejected(nes, warpzone.Console(lost_levels_path).save(), "another ROM")


def test_a_rom_with_different_mirroring_is_another_rom(
    nes: warpzone.Console, rom_path: Path
) -> None:
    image = bytearray(rom_path.read_bytes())
    image[6] ^= 0x01
    assert_rejected(nes, warpzone.Console(bytes(image)).save(), "another ROM")


@pytest.mark.parametrize("filler", [0x00, 0x7F, 0xFF])
def test_impossible_values_are_rejected_despite_a_valid_checksum(
    nes: warpzone.Console, filler: int
) -> None:
    state = nes.save()
    body = bytes([filler]) * (len(state) - HEADER_SIZE)
    assert_rejected(nes, forged(state, body), "impossible values")


def test_forged_states_have_a_valid_checksum(nes: warpzone.Console) -> None:
    """The other tests rely on `forged`."""
    state = nes.save()
    assert forged(state, state[HEADER_SIZE:]) == state


@pytest.mark.parametrize("wrong", [None, 3, "state", 1.5, [1, 2]])
def test_anything_but_bytes_is_rejected(nes: warpzone.Console, wrong: object) -> None:
    before = nes.save()
    with pytest.raises(TypeError):
        nes.load(wrong)  # type: ignore[arg-type]
    assert nes.save() == before
