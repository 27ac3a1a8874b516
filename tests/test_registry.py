"""Names of users' encoders, rewards, algorithms and wrappers, and the modules behind them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from warpzone.config import ModelOptions, RunOptions, TrainConfig
from warpzone.errors import PluginError
from warpzone.registry import (
    Registry,
    encoders,
    load_plugins,
    name_of_wrapper,
    register_encoder,
    wrappers,
)

PLUGIN = """
import warpzone

@warpzone.register_reward("{name}")
def reward(info, previous):
    return info["coins"] - previous["coins"]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of plug-ins that Python finds; what was imported from it is forgotten."""
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def make_registry() -> Registry[object]:
    registry: Registry[object] = Registry("thing", "model.thing", ("built-in",))
    registry.add("mine", make_registry)
    return registry


def test_names_are_those_of_the_package_and_of_users() -> None:
    registry = make_registry()
    assert registry.names() == ["built-in", "mine"]
    assert registry.get("mine") is make_registry
    assert registry.is_own("mine")
    assert not registry.is_own("built-in")
    assert registry.plugin("mine") == __name__


def test_a_misspelt_name_gets_a_suggestion() -> None:
    with pytest.raises(PluginError, match=r"model\.thing is 'mime'.*did you mean mine\?"):
        make_registry().check("mime")


def test_an_unknown_name_lists_the_known_ones_and_the_option_for_plugins() -> None:
    with pytest.raises(PluginError, match=r"available: built-in, mine; use --plugin MODULE"):
        make_registry().get("xyz")


def test_a_missing_name_of_a_run_says_which_module_to_import() -> None:
    with pytest.raises(PluginError, match="it comes from my_nets: import it, or give --plugin my_"):
        make_registry().get("tiny", ["my_nets"])


def test_a_file_of_a_stranger_cannot_make_an_error_endless() -> None:
    with pytest.raises(PluginError) as error:
        make_registry().get("n" * 10_000, ["m" * 10_000] * 1000)
    assert len(str(error.value)) < 2000


def test_a_plugin_that_is_imported_but_registers_something_else_is_named(folder: Path) -> None:
    (folder / "other_names.py").write_text("")
    load_plugins(["other_names"])
    with pytest.raises(PluginError, match="no such thing is registered by other_names"):
        make_registry().get("tiny", ["other_names"])


def test_a_name_of_the_package_or_of_another_function_is_taken() -> None:
    with pytest.raises(
        PluginError, match=r"'nature', but warpzone has already registered that name"
    ):
        register_encoder("nature")(lambda space, size: None)
    registry = make_registry()
    with pytest.raises(PluginError, match="choose another"):
        registry.add("mine", test_a_misspelt_name_gets_a_suggestion)
    registry.add("mine", make_registry)  # As a notebook cell that is run twice.


@pytest.mark.parametrize("as_path", [False, True])
def test_a_plugin_is_a_module_or_a_file_and_is_remembered_as_it_was_given(
    folder: Path, as_path: bool
) -> None:
    name = f"coins-{as_path}"
    file = folder / f"plugin_{as_path}.py"
    file.write_text(PLUGIN.format(name=name))
    plugin = str(file) if as_path else file.stem
    load_plugins([plugin])
    load_plugins([plugin])
    config = TrainConfig(reward=replace(TrainConfig().reward, kind=name))
    config.verify()
    assert config.with_plugins().run.plugins == (plugin,)


@pytest.mark.parametrize(
    ("plugin", "message"),
    [
        ("no_such_module", "--plugin 'no_such_module' was not found"),
        ("none/such.py", "--plugin none/such.py is not a file"),
        ("broken", "--plugin broken failed during import: ZeroDivisionError"),
        ("broken.py", "--plugin broken.py failed during import: ZeroDivisionError"),
        ("leaves", "--plugin leaves failed during import: SystemExit: 2"),
        ("json.py", "has the same name as the module 'json'"),
        ("", "--plugin '' was not found"),
        ("..", r"--plugin '\.\.' was not found"),
        ("broken.", r"--plugin 'broken\.' was not found"),
    ],
)
def test_a_plugin_that_cannot_be_imported_is_rejected_with_one_message(
    folder: Path, monkeypatch: pytest.MonkeyPatch, plugin: str, message: str
) -> None:
    monkeypatch.chdir(folder)
    (folder / "broken.py").write_text("1 / 0")
    (folder / "leaves.py").write_text("raise SystemExit(2)")
    (folder / "json.py").write_text("")
    with pytest.raises(PluginError, match=message):
        load_plugins([plugin])


def test_a_configuration_names_the_plugins_of_what_it_uses_once() -> None:
    register_encoder("of-this-module")(lambda space, size: None)
    config = TrainConfig(
        model=ModelOptions(encoder="of-this-module"), run=RunOptions(plugins=("given",))
    )
    assert config.with_plugins().run.plugins == ("given", __name__)
    assert config.with_plugins().with_plugins().run.plugins == ("given", __name__)
    assert TrainConfig().with_plugins().run.plugins == ()
    assert encoders.is_own("of-this-module")


def test_an_unregistered_wrapper_is_registered_under_its_own_name() -> None:
    def wrap(env: object) -> object:
        return env

    name = name_of_wrapper(wrap)
    assert name == f"{__name__}:{wrap.__qualname__}"
    assert wrappers.get(name) is wrap
    wrappers.add("by-name", wrap)
    assert name_of_wrapper(wrap) == name
