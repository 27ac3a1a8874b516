"""Every keyword is spelled out in the source, and none differs from the native list."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Never, get_args, get_type_hints

import gymnasium as gym
import pytest

import warpzone
from warpzone import _native
from warpzone.envs import options as env_options
from warpzone.envs.options import EnvOptions, check_names
from warpzone.envs.setup import prepare
from warpzone.envs.vectors.gym_vector import GymVectorEnv
from warpzone.envs.vectors.make import make_vector_env
from warpzone.errors import ConfigError

#: Keywords of every environment: those of the native list, and those that find the game.
KEYWORDS = [
    "rom",
    "game",
    "weights",
    *(name for name in _native.EnvConfig.help() if name != "level"),
]
SPELLED_OUT = {"make_vec": warpzone.make_vec, "MarioVectorEnv": warpzone.MarioVectorEnv.__init__}
TYPED = {
    "MarioEnv": warpzone.MarioEnv.__init__,
    "GymVectorEnv": GymVectorEnv.__init__,
    "make_vector_env": make_vector_env,
}
spelled_out = pytest.mark.parametrize("function", SPELLED_OUT.values(), ids=list(SPELLED_OUT))


def keyword_parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """The keywords of every environment as a function takes them."""
    parameters = inspect.signature(function).parameters
    return {name: parameters[name] for name in parameters if name in KEYWORDS}


@spelled_out
def test_every_native_parameter_is_a_keyword_in_the_same_order(
    function: Callable[..., Any],
) -> None:
    assert list(keyword_parameters(function)) == KEYWORDS
    left = set(inspect.signature(function).parameters) - set(KEYWORDS)
    assert left - {"self"} == {"level", "num_envs", "num_threads", "render_mode", "unknown"}


@spelled_out
def test_every_default_is_the_native_default(function: Callable[..., Any]) -> None:
    defaults = {name: one.default for name, one in keyword_parameters(function).items()}
    assert inspect.Parameter.empty not in defaults.values()
    given, native = prepare("1-1", **defaults), _native.EnvConfig()
    for name in _native.EnvConfig.help():
        assert getattr(given.config, name) == getattr(native, name), name
    assert given.weights.as_dict() == _native.RewardWeights().as_dict()


@spelled_out
def test_types_are_those_of_the_typed_keywords(function: Callable[..., Any]) -> None:
    hints = get_type_hints(function)
    assert {name: hints[name] for name in KEYWORDS} == get_type_hints(EnvOptions)
    assert hints["unknown"] is Never, "a type checker reports unknown keywords"


@pytest.mark.parametrize("function", TYPED.values(), ids=list(TYPED))
def test_the_other_environments_take_the_typed_keywords(function: Callable[..., Any]) -> None:
    assert EnvOptions in get_args(
        inspect.signature(function, eval_str=True).parameters["options"].annotation
    )


@pytest.mark.parametrize(
    ("choice", "name"),
    [
        ("LevelOrder", "level_order"),
        ("ObsKind", "obs"),
        ("Channels", "channels"),
        ("Sticky", "sticky"),
        ("Hud", "hud"),
        ("RewardKind", "reward"),
        ("Autoreset", "autoreset"),
        ("Game", "game"),
    ],
)
def test_the_choices_of_a_keyword_are_those_that_the_core_takes(choice: str, name: str) -> None:
    choices = get_args(getattr(env_options, choice))
    for value in choices:
        prepare("1-1", **{"obs": "rgb", name: value})
    with pytest.raises(ConfigError) as refused:
        prepare("1-1", **{name: "nonsense"})
    for value in choices:
        assert value in str(refused.value)


def test_the_docstring_of_make_vec_holds_the_help_of_every_keyword() -> None:
    documented = re.sub(r"\s+", " ", inspect.getdoc(warpzone.make_vec) or "")
    for name, text in warpzone.parameter_help().items():
        assert f" {name}: {text} " in documented, f"write in make_vec: {name}: {text}"
    assert set(warpzone.parameter_help()) == {"level", *KEYWORDS}


def test_the_source_shows_every_keyword_with_its_default() -> None:
    """Editors read the source: no decorator or generated signature may hide it."""
    source = Path(inspect.getfile(warpzone.make_vec)).read_text()
    for name, parameter in keyword_parameters(warpzone.make_vec).items():
        written = re.escape(repr(parameter.default).replace("'", '"'))
        assert re.search(rf"^    {name}: .* = {written},$", source, re.MULTILINE), name


MAKERS: dict[str, Callable[..., Any]] = {
    "make_vec": warpzone.make_vec,
    "MarioEnv": warpzone.MarioEnv,
    "gymnasium.make": lambda **options: gym.make("warpzone/SuperMarioBros-1-1-v0", **options),
    "make_vector_env": lambda **options: make_vector_env("1-1", vector="sync", **options),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=list(MAKERS))
@pytest.mark.parametrize(
    ("unknown", "suggestion"),
    [
        ("frameskip", "did you mean 'frame_skip'?"),
        ("levels", "did you mean 'level'?"),
        ("render_mod", "did you mean 'render_mode'?"),
        ("weight", "did you mean 'weights'?"),
        ("zzz", "choose from "),
    ],
)
def test_an_unknown_keyword_gets_a_suggestion(
    make: Callable[..., Any], unknown: str, suggestion: str
) -> None:
    with pytest.raises(ConfigError) as refused:
        make(**{unknown: 1})
    assert str(refused.value).startswith(f"'{unknown}' is not an environment parameter; ")
    assert suggestion in str(refused.value)


def test_an_unknown_reward_weight_gets_a_suggestion() -> None:
    env = warpzone.make_vec("1-1", obs="tiles")
    for refuse in (
        lambda: warpzone.make_vec("1-1", weights={"distanse": 1.0}),
        lambda: env.set_reward_weights(distanse=1.0),
    ):
        with pytest.raises(ConfigError, match="not a reward weight; did you mean 'distance'"):
            refuse()
    env.close()


def test_without_a_near_name_all_names_are_listed() -> None:
    with pytest.raises(ConfigError, match="'q' is not a thing; choose from one, two"):
        check_names(["one", "q"], ["one", "two"], "a thing")
