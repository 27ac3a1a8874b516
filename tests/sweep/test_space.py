"""Search spaces are read, checked and written back without loss."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpzone.config import PRESET_NAMES, merged, resolve
from warpzone.errors import ConfigError
from warpzone.sweep.space import (
    Choices,
    Range,
    default_space,
    parse_dimension,
    parse_space,
    partial_tree,
)

RATES = st.floats(1e-9, 10.0, allow_nan=False)


@given(st.lists(RATES, min_size=2, max_size=2, unique=True), st.booleans())
def test_a_range_survives_being_written_and_read(bounds: list[float], log: bool) -> None:
    low, high = sorted(bounds)
    text = f"learning-rate={low!r}:{high!r}{':log' if log else ''}"
    dimension = parse_dimension(text)
    assert isinstance(dimension, Range)
    assert (dimension.low, dimension.high, dimension.log) == (low, high, log)
    assert parse_dimension(str(dimension)) == dimension


@given(st.lists(st.integers(1, 1000), min_size=2, max_size=9, unique=True))
def test_choices_survive_being_written_and_read(values: list[int]) -> None:
    dimension = parse_dimension(f"epochs={','.join(map(str, values))}")
    assert isinstance(dimension, Choices)
    assert [dimension.value(text) for text in dimension.texts] == values
    assert parse_dimension(str(dimension)) == dimension


def outcome(text: str) -> str:
    """Returns the dimension that a text stands for, written again, or the error."""
    try:
        return str(parse_dimension(text))
    except ConfigError as error:
        return str(error)


@given(st.text(max_size=60))
def test_any_text_is_a_space_or_one_sentence(text: str) -> None:
    assert outcome(text).startswith("--space") or parse_dimension(text)


@given(st.text(max_size=40))
def test_any_values_are_a_space_or_one_sentence(values: str) -> None:
    for name in ("learning-rate", "epochs", "optimizer", "size", "reward-time", "max-pool"):
        text = outcome(f"{name}={values}")
        assert text.startswith("--space") or str(parse_dimension(text)) == text


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("learning-rat=1:2", "did you mean learning-rate?"),
        ("seed=1:5", "set --seed instead"),
        ("level=1-1,1-2", "set --level instead"),
        ("learning-rate=1e-3", "only one value"),
        ("learning-rate=1e-3:1e-4", "the first must be below the second"),
        ("ent-coef=0:1:log", "must start above 0"),
        ("ent-coef=0.1:1:cubic", "ends with 'cubic'"),
        ("gamma=0.5:1.5", "from 0 to 1"),
        ("epochs=1.5:3", "a whole number"),
        ("epochs=2,2", "repeats a value"),
        ("optimizer=adam,sgd", "it must be adam or adamw"),
        ("gamma", "is not a search space"),
    ],
)
def test_a_wrong_space_says_what_to_do(text: str, says: str) -> None:
    with pytest.raises(ConfigError, match="--space") as caught:
        parse_dimension(text)
    assert says in str(caught.value)


def test_an_option_is_searched_once_and_not_set_as_well() -> None:
    with pytest.raises(ConfigError, match="epochs twice"):
        parse_space(["epochs=1:3", "epochs=2:4"], {})
    with pytest.raises(ConfigError, match="also set to one value"):
        parse_space(["epochs=1:3"], {"learn": {"epochs": 2}})


@pytest.mark.parametrize("preset", PRESET_NAMES)
def test_the_default_space_of_a_preset_is_valid_at_its_ends(preset: str) -> None:
    space = default_space(preset, {})
    for end in (0, -1):
        parameters = {
            item.name: item.texts[end] if isinstance(item, Choices) else (item.low, item.high)[end]
            for item in space
        }
        resolve(merged(partial_tree(space, parameters)), preset)


def test_the_default_space_leaves_out_what_is_set() -> None:
    names = [item.name for item in default_space("cpu", {"learn": {"gamma": 0.9}})]
    assert "gamma" not in names
    assert "learning-rate" in names
