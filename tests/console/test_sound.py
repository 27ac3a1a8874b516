"""The synthesised sound: pitch and level of each channel, and no effect on the emulation."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from warpzone import _native
from warpzone.envs.console import Console
from warpzone.errors import ConfigError
from warpzone.rom.locate import load_game

RATE = 44_100
CYCLES_PER_SECOND = 1_789_773
FRAMES_PER_SECOND = 60.0988


def cartridge(writes: list[tuple[int, int]], sample: bytes = b"") -> bytes:
    """A cartridge whose program writes registers and then loops forever."""
    code = b"\x78"  # SEI
    for address, value in writes:
        code += bytes([0xA9, value, 0x8D, address & 0xFF, address >> 8])
    end = 0x8000 + len(code)
    code += bytes([0x4C, end & 0xFF, end >> 8])
    program = bytearray(0x8000)
    program[: len(code)] = code
    program[0x4000 : 0x4000 + len(sample)] = sample  # $C000
    program[0x7FFA:] = bytes([end & 0xFF, end >> 8, 0x00, 0x80, end & 0xFF, end >> 8])
    return b"NES\x1a\x02\x01" + bytes(10) + bytes(program) + bytes(0x2000)


def sound_of(
    writes: list[tuple[int, int]], frames: int = 60, sample: bytes = b"", exact: bool = False
) -> NDArray[np.float32]:
    console = Console(cartridge(writes, sample), exact)
    console.set_sound(RATE)
    console.power_on()
    parts = []
    for _ in range(frames):
        console.run_frame(render=False)
        parts.append(console.sound)
    return np.concatenate(parts)


def strongest_hertz(sound: NDArray[np.float32]) -> float:
    spectrum = np.abs(np.fft.rfft(sound * np.hanning(len(sound)), 8 * len(sound)))
    return float(np.argmax(spectrum)) * RATE / (8 * len(sound))


def level(sound: NDArray[np.float32]) -> float:
    return float(sound[RATE // 10 :].std())


def pulse(channel: int, timer: int, volume: int = 15) -> list[tuple[int, int]]:
    base = 0x4000 + 4 * channel
    return [
        (0x4015, 0x0F),
        (base, 0xB0 | volume),  # Half duty, length counter halted, constant volume.
        (base + 1, 0x08),
        (base + 2, timer & 0xFF),
        (base + 3, timer >> 8),
    ]


def triangle(timer: int) -> list[tuple[int, int]]:
    return [(0x4015, 4), (0x4008, 0xFF), (0x400A, timer & 0xFF), (0x400B, timer >> 8)]


def noise(period: int) -> list[tuple[int, int]]:
    return [(0x4015, 8), (0x400C, 0x3F), (0x400E, period), (0x400F, 0)]


@pytest.mark.parametrize("channel", [0, 1])
@pytest.mark.parametrize("timer", [126, 253, 508])
def test_a_pulse_channel_has_the_pitch_of_its_timer(channel: int, timer: int) -> None:
    expected = CYCLES_PER_SECOND / (16 * (timer + 1))
    assert strongest_hertz(sound_of(pulse(channel, timer))) == pytest.approx(expected, rel=0.002)


@pytest.mark.parametrize("timer", [126, 253])
def test_the_triangle_is_one_octave_below_a_pulse_channel(timer: int) -> None:
    expected = CYCLES_PER_SECOND / (32 * (timer + 1))
    assert strongest_hertz(sound_of(triangle(timer))) == pytest.approx(expected, rel=0.002)


def test_noise_has_no_pitch_and_gets_brighter_with_a_shorter_period() -> None:
    def centre(sound: NDArray[np.float32]) -> float:
        power = np.abs(np.fft.rfft(sound)) ** 2
        return float((power * np.fft.rfftfreq(len(sound), 1 / RATE)).sum() / power.sum())

    dark, bright = sound_of(noise(12)), sound_of(noise(4))
    assert level(dark) > 0.01
    assert centre(bright) > 2 * centre(dark)


def test_samples_are_played_from_the_program() -> None:
    # Four bits up, four bits down, a bit every 54 cycles.
    writes = [(0x4010, 0x4F), (0x4011, 64), (0x4012, 0), (0x4013, 1), (0x4015, 0x10)]
    sound = sound_of(writes, sample=b"\x0f" * 17)
    assert level(sound) > 0.005
    assert strongest_hertz(sound) == pytest.approx(CYCLES_PER_SECOND / 54 / 8, rel=0.002)


def test_volume_and_length_counter_are_obeyed() -> None:
    assert level(sound_of(pulse(0, 253, 15))) > 2 * level(sound_of(pulse(0, 253, 4)))
    counted = [
        (address, value & ~0x20 if address == 0x4000 else value) for address, value in pulse(0, 253)
    ]
    sound = sound_of(counted)
    assert np.abs(sound[: RATE // 20]).max() > 0.05
    assert np.abs(sound[RATE // 2 :]).max() < 1e-3, "length 10 ends after a twelfth of a second"


def test_a_sweep_changes_the_pitch() -> None:
    rising = [(a, 0x9A if a == 0x4001 else v) for a, v in pulse(0, 508)]
    sound = sound_of(rising, frames=30)
    assert strongest_hertz(sound[: RATE // 20]) < 0.8 * strongest_hertz(
        sound[RATE // 8 : RATE // 5]
    )


def test_aliases_stay_below_the_tone() -> None:
    timer = 20  # 5.3 kHz: its overtones lie above half the sample rate.
    sound = sound_of(pulse(0, timer))
    spectrum = np.abs(np.fft.rfft(sound * np.hanning(len(sound)))) ** 2
    hertz = np.fft.rfftfreq(len(sound), 1 / RATE)
    tone = CYCLES_PER_SECOND / (16 * (timer + 1))
    near = np.abs(hertz / tone - np.round(hertz / tone)) * tone < 60
    assert spectrum[~near & (hertz > 200)].sum() < 1e-4 * spectrum.sum()


def test_everything_at_full_volume_does_not_clip() -> None:
    loud = pulse(0, 253) + pulse(1, 254) + triangle(253)[1:] + noise(8)[1:]
    loud += [(0x4015, 0x0F), (0x4011, 127)]
    loud += [(0x4003, 0), (0x4007, 0), (0x400B, 0), (0x400F, 0)]
    sound = sound_of(loud)
    assert 0.1 < np.abs(sound).max() < 1.0


def test_without_writes_there_is_silence_and_without_sound_nothing() -> None:
    assert np.abs(sound_of([])[RATE // 10 :]).max() < 1e-3
    console = Console(cartridge([]))
    console.run_frame()
    assert console.sound_rate == 0
    assert len(console.sound) == 0


@pytest.mark.parametrize("rate", [44_100, 48_000])
def test_a_second_has_as_many_samples_as_the_rate(rate: int) -> None:
    console = Console(cartridge([]))
    console.set_sound(rate)
    count = 0
    for _ in range(120):
        console.run_frame(render=False)
        count += len(console.sound)
    assert count == pytest.approx(120 / FRAMES_PER_SECOND * rate, abs=2)
    assert console.sound.dtype == np.float32


@pytest.mark.parametrize("rate", [-1, 100, 1_000_000])
def test_an_impossible_rate_is_rejected(rate: int) -> None:
    with pytest.raises(ConfigError, match=f"the sample rate is {rate}; it must be from 8000"):
        Console(cartridge([])).set_sound(rate)


@pytest.mark.parametrize("exact", [False, True])
def test_the_game_runs_the_same_with_and_without_sound(exact: bool) -> None:
    loud, silent = Console(load_game("smb"), exact), Console(load_game("smb"), exact)
    for console in (loud, silent):
        _native.start(console, "smb", "1-1", 0)
    loud.set_sound(RATE)
    peak = 0.0
    for frame in range(90):
        buttons = 0x81 if frame % 40 < 20 else 0x82
        loud.run_frame(buttons, render=False)
        silent.run_frame(buttons, render=False)
        peak = max(peak, float(np.abs(loud.sound).max()))
    assert loud.save() == silent.save()
    assert 0.05 < peak < 1.0, "the music plays, unclipped"


def test_fast_and_literal_path_sound_the_same() -> None:
    parts: list[list[NDArray[np.float32]]] = [[], []]
    for exact, collected in zip((False, True), parts, strict=True):
        console = Console(load_game("smb"), exact)
        _native.start(console, "smb", "1-1", 0)
        console.set_sound(RATE)
        for _ in range(60):
            console.run_frame(0x80, render=False)
            collected.append(console.sound)
    np.testing.assert_array_equal(np.concatenate(parts[0]), np.concatenate(parts[1]))


def test_a_loaded_state_continues_without_a_jump_in_time() -> None:
    console = Console(load_game("smb"))
    _native.start(console, "smb", "1-1", 0)
    console.set_sound(RATE)
    state = console.save()
    for _ in range(30):
        console.run_frame(render=False)
    console.load(state)
    console.run_frame(render=False)
    assert 700 < len(console.sound) < 800
