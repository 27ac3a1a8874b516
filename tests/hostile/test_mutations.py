"""Files of the right shape with one thing replaced: generated, not thought of."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from damage import join_policy, split_policy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from outcome import assert_sane, run
from world import BOARD, CAMPAIGN, POLICY, RUN

from warpzone.campaign.state import read_state
from warpzone.errors import WarpzoneError
from warpzone.evaluation.trained import load_policy

FEW = settings(
    deadline=None,
    max_examples=25,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | st.sampled_from(["\x1b[2J", "../../x", "\ud800", "9" * 400, "[red]", "1-1"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=5,
)


def _places(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every value of a tree."""
    if path:
        yield path
    items = (
        tree.items()
        if isinstance(tree, dict)
        else enumerate(tree)
        if isinstance(tree, list)
        else ()
    )
    for key, value in items:
        yield from _places(value, (*path, key))


def mutated(data: st.DataObject, tree: Any) -> Any:
    """A tree in which something is replaced by another value, or missing."""
    tree = copy.deepcopy(tree)
    *above, last = data.draw(st.sampled_from(list(_places(tree))))
    parent = tree
    for key in above:
        parent = parent[key]
    if isinstance(parent, dict) and data.draw(st.booleans()):
        del parent[last]
    else:
        parent[last] = data.draw(VALUES)
    return tree


@pytest.fixture
def world(pristine_world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(pristine_world, tmp_path / "world")
    monkeypatch.chdir(tmp_path / "world")
    return tmp_path / "world"


@contextmanager
def restored(path: Path) -> Iterator[bytes]:
    """What a file holds; it is as before at the end."""
    before = path.read_bytes()
    try:
        yield before
    finally:
        path.write_bytes(before)


@pytest.mark.parametrize(
    ("name", "command"),
    [
        (f"{BOARD}/scoreboard.json", ("scoreboard", BOARD)),
        (f"{RUN}/checkpoints/update-00000002.json", ("runs", "show", RUN)),
        (f"{RUN}/checkpoints/latest.json", ("runs", "show", RUN)),
        (f"{RUN}/checkpoints/update-00000002.json", ("tools", "backfill", "runs")),
        (f"{RUN}/heartbeat.jsonl", ("report", RUN, "--no-videos")),
        (f"{RUN}/metrics.jsonl", ("report", RUN, "--no-videos")),
        ("doctor-env.jsonl", ("doctor", "env", "--summary")),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value[:2]),
)
@FEW
@given(data=st.data())
def test_a_file_with_one_wrong_value_is_used_or_refused(
    world: Path, name: str, command: tuple[str, ...], data: st.DataObject
) -> None:
    with restored(world / name) as before:
        tree = mutated(data, json.loads(before.splitlines()[0] if name.endswith("l") else before))
        (world / name).write_text(json.dumps(tree) + "\n")
        assert_sane(run(*command), world)


@FEW
@given(data=st.data())
def test_a_policy_with_one_wrong_value_is_loaded_or_refused(
    world: Path, data: st.DataObject
) -> None:
    with restored(world / POLICY) as before:
        magic, header, packed = split_policy(before)
        (world / POLICY).write_bytes(join_policy(magic, mutated(data, header), packed))
        with suppress(WarpzoneError):
            load_policy(world / POLICY)


@FEW
@given(data=st.data())
def test_a_campaign_with_one_wrong_value_is_read_or_refused(
    world: Path, data: st.DataObject
) -> None:
    with restored(world / CAMPAIGN / "campaign.json") as before:
        tree = mutated(data, json.loads(before))
        (world / CAMPAIGN / "campaign.json").write_text(json.dumps(tree))
        with suppress(WarpzoneError):
            read_state(world / CAMPAIGN)


@FEW
@given(place=st.integers(0, 10**6), mask=st.integers(1, 255))
def test_a_checkpoint_with_one_wrong_byte_is_refused(world: Path, place: int, mask: int) -> None:
    with restored(world / RUN / "checkpoints/update-00000002.pt") as before:
        altered = bytearray(before)
        altered[place % len(altered)] ^= mask
        (world / RUN / "checkpoints/update-00000002.pt").write_bytes(bytes(altered))
        outcome = run("runs", "show", RUN)
        assert_sane(outcome, world)
        assert outcome.code == 2
