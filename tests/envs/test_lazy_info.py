"""An info behaves as a plain dict, whenever and however it is first read."""

from __future__ import annotations

import copy
import json
import pickle
import threading
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from env_support import GYMNASIUM_VERSION

import warpzone
from warpzone.envs.lazy_info import LazyInfo

VALUES: dict[str, Any] = {"x": 1, "y": [2, 3], "z": "four"}


class Source:
    """Values that count how often they are built."""

    def __init__(self) -> None:
        self.built: list[str] = []

    def one(self, name: str) -> Any:
        self.built.append(name)
        return VALUES[name]

    def all(self) -> dict[str, Any]:
        return {name: self.one(name) for name in VALUES}


def unread() -> tuple[LazyInfo, Source]:
    source = Source()
    return LazyInfo(dict.fromkeys(VALUES), source), source


def take_keywords(**keywords: Any) -> dict[str, Any]:
    return keywords


def changed(change: Callable[[dict[str, Any]], object]) -> Callable[[dict[str, Any]], Any]:
    """What a change returns, and what it leaves behind."""
    return lambda info: (change(info), dict(info))


READS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "item": lambda info: info["y"],
    "get": lambda info: info.get("y"),
    "get absent": lambda info: (info.get("w"), info.get("w", 7)),
    "in": lambda info: ("x" in info, "w" in info),
    "len": len,
    "bool": bool,
    "iteration": list,
    "reversed": lambda info: list(reversed(info)),
    "keys": lambda info: list(info.keys()),
    "values": lambda info: list(info.values()),
    "items": lambda info: list(info.items()),
    "equal": lambda info: (info == VALUES, info == {}),
    "unequal": lambda info: info != VALUES,
    "copy": lambda info: info.copy(),
    "copy.copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda info: pickle.loads(pickle.dumps(info)),
    "dict": dict,
    "unpacked": lambda info: {**info},
    "keywords": lambda info: take_keywords(**info),
    "or": lambda info: info | {"x": 9, "w": 8},
    "or from the right": lambda info: {"x": 9, "w": 8} | info,
    "merged into another": lambda info: changed(lambda other: other.update(info))({"x": 9}),
    "repr": repr,
    "json": json.dumps,
    "set item": changed(lambda info: info.__setitem__("x", 9)),
    "new item": changed(lambda info: info.__setitem__("w", 9)),
    "delete item": changed(lambda info: info.__delitem__("x")),
    "pop": changed(lambda info: info.pop("x")),
    "pop absent": changed(lambda info: info.pop("w", 7)),
    "popitem": changed(lambda info: info.popitem()),
    "setdefault": changed(lambda info: (info.setdefault("x", 9), info.setdefault("w", 9))),
    "update": changed(lambda info: info.update(x=9, w=8)),
    "update with itself": changed(lambda info: info.update(w=dict(info))),
    "in-place or": changed(lambda info: info.__ior__({"x": 9})),
    "clear": changed(lambda info: info.clear()),
}


@pytest.mark.parametrize("read", READS.values(), ids=list(READS))
@pytest.mark.parametrize("before", [None, "x"], ids=["unread", "one field read"])
def test_an_info_does_what_a_plain_dict_does(
    read: Callable[[dict[str, Any]], Any], before: str | None
) -> None:
    info, _ = unread()
    if before is not None:
        assert info[before] == VALUES[before]
    expected = read(dict(VALUES))
    result = read(info)
    assert result == expected
    assert type(result) is type(expected) or result is info
    if isinstance(expected, dict):
        assert list(result) == list(expected), "the order of keys"
    assert set(vars(dict)) - set(vars(LazyInfo)) <= {
        *("__new__", "__getattribute__", "__class_getitem__", "fromkeys"),
        *("__contains__", "__len__", "__sizeof__", "__hash__"),
    }, "a method of dict that nobody has thought about"


def test_values_are_built_only_when_they_are_read() -> None:
    info, source = unread()
    assert "x" in info
    assert len(info) == 3
    assert info.get("episode") is None
    assert source.built == []
    assert info["y"] is info["y"]
    assert source.built == ["y"]
    list(info.values())
    assert sorted(source.built) == ["x", "y", "y", "z"]
    info["y"], info["y"]
    assert len(source.built) == 4


def test_a_value_that_was_read_stays_the_same_object() -> None:
    env = warpzone.make_vec("1-1", num_envs=2, num_threads=1, obs="tiles")
    _, info = env.reset(seed=0)
    read = info["x_pos"]
    read[:] = 7
    assert dict(info)["x_pos"] is read
    assert info["x_pos"].tolist() == [7, 7]
    env.close()


def test_threads_that_read_one_info_see_the_same_values() -> None:
    for _ in range(50):
        info, _ = unread()
        seen: list[Any] = []
        barrier = threading.Barrier(4)

        def read(info: Any = info, barrier: Any = barrier, seen: list[Any] = seen) -> None:
            barrier.wait()
            seen.append((info["y"], list(info.values())))

        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert seen == [(VALUES["y"], list(VALUES.values()))] * 4


def test_an_info_describes_its_own_step_even_if_it_is_read_later() -> None:
    env = warpzone.make_vec("1-1", num_envs=2, num_threads=1, obs="tiles")
    env.reset(seed=0)
    infos = [env.step([3, 0])[4] for _ in range(20)]
    assert [info["steps"].tolist() for info in infos] == [[step, step] for step in range(1, 21)]
    env.close()


lists = pytest.mark.skipif(
    GYMNASIUM_VERSION < (1, 3), reason="Gymnasium before 1.2.3 wants a mask for every field"
)


@pytest.mark.parametrize(
    "wrap",
    [
        gym.wrappers.vector.RecordEpisodeStatistics,
        gym.wrappers.vector.NormalizeReward,
        pytest.param(gym.wrappers.vector.DictInfoToList, marks=lists),
        pytest.param(
            lambda env: gym.wrappers.vector.DictInfoToList(
                gym.wrappers.vector.RecordEpisodeStatistics(env)
            ),
            marks=lists,
        ),
        lambda env: gym.wrappers.vector.TransformReward(env, lambda reward: reward * 2),
        lambda env: gym.wrappers.vector.ClipReward(env, -1, 1),
    ],
)
def test_gymnasiums_vector_wrappers_see_the_infos(wrap: Callable[[Any], Any]) -> None:
    env = wrap(warpzone.make_vec("1-1", num_envs=2, num_threads=1, obs="tiles", max_steps=4))
    plain = warpzone.make_vec("1-1", num_envs=2, num_threads=1, obs="tiles", max_steps=4)
    env.reset(seed=0)
    plain.reset(seed=0)
    for _ in range(12):
        info, expected = env.step(np.array([3, 1]))[4], plain.step(np.array([3, 1]))[4]
        for index in range(2):
            for name in ("x_pos", "steps", "in_control"):
                seen = info[index][name] if isinstance(info, list) else info[name][index]
                assert seen == expected[name][index]
    env.close()
    plain.close()
