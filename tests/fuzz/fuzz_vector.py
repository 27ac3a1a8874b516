"""Fuzzes vector environments with invalid actions, buffers, states and parameters.

Every call must succeed or be rejected with a clear message. A rejected call must not change
anything, and the environment must still step afterwards.
"""

from __future__ import annotations

import argparse
import random
import struct
import sys
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "console"))

from fuzz_outcome import FuzzFailureError, rejected
from states import hash_bytes

import warpzone
from warpzone.errors import EnvError

NUM_ENVS = 3
_HEADER = struct.Struct("<IIQQQQQ")  # As in native/vector/lane_state.cpp.
_WORD = (1 << 64) - 1
_KINDS: dict[str, dict[str, Any]] = {
    "pixels": {"size": 16, "stack": 2, "sticky_prob": 0.25},
    "tiles": {"obs": "tiles", "autoreset": "same-step", "max_steps": 9},
    "classic": {"size": 8, "stack": 1, "reward": "classic", "max_pool": True},
}
_DTYPES = ("?", "b", "B", "h", "H", "i", "I", "l", "L", "f", "d", "D", "O", "U3", "S3", "M8[D]")
_EXTREMES = (0, 1, -1, 2, 6, 7, 127, 128, 255, 2**31 - 1, -(2**31), 2**31, 2**63 - 1, -(2**63))


@cache
def _env(kind: str) -> warpzone.MarioVectorEnv:
    env = warpzone.make_vec("1-1,4-4", num_envs=NUM_ENVS, num_threads=2, **_KINDS[kind])
    env.reset(seed=0)
    for _ in range(20):
        env.step([3, 4, 2])
    return env


@cache
def _states(kind: str) -> tuple[bytes, ...]:
    env = _env(kind)
    return tuple(env.save_state(index) for index in range(NUM_ENVS))


def _number(rng: random.Random) -> int:
    return rng.choice(_EXTREMES) if rng.random() < 0.5 else rng.randrange(-10, 300)


def _junk(rng: random.Random) -> Any:
    """Returns a value that every parameter must handle."""
    return rng.choice(
        (
            None, True, -1, 0, 2**40, 10**400, 1.5, float("nan"), float("inf"), "", "x" * 200,
            "1-1\0", b"", b"\0" * 64, [], [[]], {}, (), (1, 2, 3), object(), np.zeros(0),
            np.zeros((2, 2)), np.float32("nan"), range(3), lambda: 0, Ellipsis, "\ud800",
        )
    )  # fmt: skip


def _array(rng: random.Random, shape: tuple[int, ...], dtype: str) -> Any:
    """Returns an array that may have the wrong shape, type, memory order or strides."""
    if rng.random() < 0.08:
        shape = rng.choice(((), (0,), (*shape, 1), shape[:-1], (shape[0] + 1, *shape[1:]), (1,)))
    if rng.random() < 0.08:
        dtype = rng.choice(_DTYPES)
    array = np.zeros(shape, np.dtype(dtype))
    change = rng.randrange(40)
    if change == 0 and array.ndim:
        array = np.repeat(array, 2, axis=0)[::2]
    elif change == 1 and array.ndim:
        array = array[::-1]
    elif change == 2:
        array = np.asfortranarray(array)
    elif change == 3:
        array.flags.writeable = False
    elif change == 4:
        array = array.astype(array.dtype.newbyteorder())
    elif change == 5 and array.ndim:
        array = np.broadcast_to(array[:1], array.shape)
    return array


def _actions(rng: random.Random) -> Any:
    if rng.random() < 0.15:
        return _junk(rng)
    count = NUM_ENVS if rng.random() < 0.8 else rng.randrange(6)
    values = [_number(rng) if rng.random() < 0.5 else rng.randrange(7) for _ in range(count)]
    dtype = rng.choice(_DTYPES)
    if rng.random() < 0.3:
        return values
    if dtype in "fd" and values:
        values[0] = rng.choice((float("nan"), float("inf"), 1.0, 0.5))  # type: ignore[call-overload]
    with np.errstate(all="ignore"):
        try:
            array = np.array(values).astype(dtype)
        except (OverflowError, ValueError, TypeError):
            return values
    return array if rng.random() < 0.7 else np.repeat(array, 2, axis=0)[::2]


def _steps(env: warpzone.MarioVectorEnv, rng: random.Random) -> None:
    for _ in range(rng.randrange(1, 3)):
        try:
            env.step([rng.randrange(7) for _ in range(NUM_ENVS)])
        except EnvError:  # The loaded episode had ended.
            env.reset()


def _unchanged_if_rejected(env: warpzone.MarioVectorEnv, call: Callable[[], object]) -> str:
    before = env.ram()
    if not rejected(call):
        return "accepted"
    if not np.array_equal(env.ram(), before):
        raise FuzzFailureError("a rejected call stepped an environment")
    return "rejected"


def fuzz_actions(rng: random.Random) -> str:
    """Steps with an action array that is probably invalid."""
    env, actions = _env(rng.choice(list(_KINDS))), _actions(rng)
    return _unchanged_if_rejected(env, lambda: env.step(actions))


def fuzz_buffers(rng: random.Random) -> str:
    """Steps into buffers that are probably invalid, and checks that accepted ones are written."""
    kind = rng.choice(list(_KINDS))
    env = _env(kind)
    space = env.observation_space
    obs: Any
    if kind == "tiles":
        names = ["tiles", "features", *(["more"] if rng.random() < 0.1 else [])]
        if rng.random() < 0.1:
            names.pop()
        boxes = {name: space[name if name != "more" else "tiles"] for name in names}
        obs = {name: _array(rng, box.shape, "B") for name, box in boxes.items()}
    else:
        obs = _array(rng, space.shape or (), "B")
    reward = _array(rng, (NUM_ENVS,), "f")
    ends = [_array(rng, (NUM_ENVS,), "?") for _ in range(2)]
    arrays = [obs, reward, *ends]
    if rng.random() < 0.1:
        arrays[rng.randrange(4)] = _junk(rng)
    if rng.random() < 0.1:
        arrays[3] = arrays[2]
    outcome = _unchanged_if_rejected(env, lambda: env.step_into([1] * NUM_ENVS, *arrays))
    if outcome == "accepted":
        written = obs["tiles"] if kind == "tiles" else obs
        observed = env.observe()[0]
        expected = observed["tiles"] if kind == "tiles" else observed
        if not np.array_equal(np.reshape(written, expected.shape), expected):
            raise FuzzFailureError("the caller's buffer was not written")
    return outcome


def _forged(state: bytes, rng: random.Random) -> bytes:
    """Changes the environment's part of a state and updates the checksum."""
    magic, version, console, lane, planes, shape, _ = _HEADER.unpack_from(state)
    body = bytearray(state[_HEADER.size :])
    for _ in range(rng.choice((1, 1, 2, 8))):
        at = console + rng.randrange(lane + (planes if rng.random() < 0.1 else 0))
        size = min(rng.choice((1, 1, 2, 4, 8)), len(body) - at)
        at -= (at - console) % size
        body[at : at + size] = (
            rng.randbytes(size)
            if rng.random() < 0.5
            else rng.choice((b"\0", b"\1", b"\x7f", b"\x80", b"\xff")) * size
        )
    header = _HEADER.pack(magic, version, console, lane, planes, shape, 0)
    checksum = (hash_bytes(header) * 31 + hash_bytes(bytes(body))) & _WORD
    return header[:-8] + checksum.to_bytes(8, "little") + bytes(body)


def _altered(state: bytes, rng: random.Random) -> bytes:
    kind = rng.randrange(5)
    if kind == 0:
        return state[
            : rng.choice((0, 1, _HEADER.size - 1, _HEADER.size, rng.randrange(len(state))))
        ]
    if kind == 1:
        return state + rng.randbytes(rng.choice((1, 8, 4096)))
    if kind == 2:
        return rng.randbytes(rng.choice((len(state), 4, 100)))
    data = bytearray(state)
    data[rng.randrange(_HEADER.size if kind == 3 else len(state))] ^= rng.randrange(1, 256)
    return bytes(data)


def fuzz_env_states(rng: random.Random) -> str:
    """Loads states that were altered, forged, or saved by a different environment."""
    kind = rng.choice(list(_KINDS))
    env, good = _env(kind), rng.choice(_states(kind))
    forge = rng.random() < 0.5
    bad = _forged(good, rng) if forge else _altered(good, rng)
    foreign = rng.random() < 0.1
    if foreign:
        bad = rng.choice(_states(rng.choice([name for name in _KINDS if name != kind])))
    indices = rng.sample(range(NUM_ENVS), rng.randrange(1, NUM_ENVS + 1))
    starts = rng.random() < 0.2
    load = env.set_start_state if starts else env.load_state
    outcome = _unchanged_if_rejected(env, lambda: load(bad, indices))
    if outcome == "accepted" and not (forge or starts):
        raise FuzzFailureError("an altered or foreign state was accepted")
    if outcome == "accepted":
        if starts:
            env.reset(seed=1)
        env.observe()
        _steps(env, rng)
        if rejected(lambda: env.load_state(env.save_state(indices[0]), indices[0])):
            raise FuzzFailureError("an environment rejected its own state")
        env.set_start_state(None)
    env.load_state(good)  # Forged counters must not persist.
    return outcome


def fuzz_parameters(rng: random.Random) -> str:
    """Creates an environment with parameters that are probably invalid."""
    names = [*warpzone.parameter_help(), "level", "num_envs", "num_threads", "weights", "game"]
    names += ["rom", "render_mode", "nonsense"]
    options: dict[str, Any] = {"num_envs": 1, "num_threads": 1, "size": 8}
    for name in rng.sample(names, rng.randrange(1, 4)):
        options[name] = rng.choice((_junk, _number))(rng)
    if rng.random() < 0.3:
        weight = rng.choice(list(_env("pixels").reward_weights()))
        options["weights"] = {weight: _junk(rng)}
    if isinstance(options["num_envs"], int) and not 0 < options["num_envs"] < 9:
        options["num_envs"] = min(options["num_envs"], 0)  # Large numbers are valid but slow.
    make = rng.choice((warpzone.make_vec, _make_single))

    def use() -> None:
        env = make(**options)
        env.reset(seed=0)
        env.step([0] * env.num_envs if isinstance(env, warpzone.MarioVectorEnv) else 0)
        env.close()

    return "rejected" if rejected(use) else "accepted"


def _make_single(num_envs: int, num_threads: int, **options: Any) -> warpzone.MarioEnv:
    return warpzone.MarioEnv(**options)


def fuzz_calls(rng: random.Random) -> str:
    """Calls the other methods with junk."""
    env = _env(rng.choice(list(_KINDS)))
    state = env.save_state(0)
    calls: list[Callable[[], object]] = [
        lambda: env.save_state(_junk(rng)),
        lambda: env.load_state(_junk(rng)),
        lambda: env.load_state(state, _junk(rng)),
        lambda: env.set_level(_junk(rng)),
        lambda: env.set_level("1-1", _junk(rng)),
        lambda: env.set_start_state(state, _junk(rng)),
        lambda: env.set_route(_junk(rng)),
        lambda: env.set_route([[_number(rng) for _ in range(3)] for _ in range(rng.randrange(5))]),
        lambda: env.set_step_limit(_junk(rng)),
        lambda: env.set_reward_weights(**{rng.choice(("time", "scale", "x")): _junk(rng)}),
        lambda: env.reset(seed=_junk(rng)),
        lambda: env.reset(options={"reset_mask": _junk(rng)}),
        lambda: env.reset(options=_junk(rng)),
        lambda: env.reset(seed=[_number(rng) for _ in range(rng.randrange(5))]),
    ]
    outcome = "rejected" if rejected(rng.choice(calls)) else "accepted"
    env.set_start_state(None)
    env.set_reward_weights(time=0.003, scale=1.0)
    _steps(env, rng)
    env.set_route(None)
    env.set_step_limit(0)
    return outcome


CASES: dict[str, tuple[Callable[[random.Random], str], int]] = {
    "actions": (fuzz_actions, 6),
    "buffers": (fuzz_buffers, 4),
    "env states": (fuzz_env_states, 6),
    "parameters": (fuzz_parameters, 3),
    "calls": (fuzz_calls, 2),
}
_NAMES = [name for name, (_, weight) in CASES.items() for _ in range(weight)]


def run_case(rng: random.Random) -> tuple[str, str]:
    """Runs one case.

    Returns:
        What was fuzzed, and whether it was accepted or rejected.

    Raises:
        FuzzFailureError: If the environment misbehaved.
    """
    name = rng.choice(_NAMES)
    return name, CASES[name][0](rng)


def fuzz_vector(cases: int, seed: int = 0) -> Counter[tuple[str, str]]:
    """Runs `cases` cases and counts the outcomes."""
    counts: Counter[tuple[str, str]] = Counter()
    for number in range(cases):
        try:
            counts[run_case(random.Random(f"{seed}/{number}"))] += 1
        except Exception as error:
            raise FuzzFailureError(f"case {number} of seed {seed}: {error}") from error
    return counts


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for (what, outcome), count in sorted(fuzz_vector(options.cases, options.seed).items()):
        print(f"{what:12} {outcome:8} {count:7}")
