"""What users can plug in by name: encoders, rewards and algorithms.

A name belongs to the function or class that registered it. Importing the module that registers it
is all that is needed to use it:

    import warpzone

    @warpzone.register_encoder("tiny")
    def make_encoder(space, size):
        return MyNetwork(space, size)

    warpzone.training(level="1-1", encoder="tiny")

From the command line, `--plugin my_module` imports the module first. Runs and policy files record
names and modules, never code: whoever loads one imports the module again.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, TypeVar

from numpy.typing import NDArray

from warpzone.errors import ConfigError, PluginError

Info = Mapping[str, Any]
"""Arrays by name, one value per environment."""
EncoderFactory = Callable[[Any, int], Any]
"""From the observation space and the width asked for (`--hidden`) to a `torch.nn.Module`."""
RewardFunction = Callable[[Info, Info], NDArray[Any]]
"""From the info of a step and of the step before to one reward per environment."""

AlgorithmClass = type[Any]
"""A subclass of `warpzone.Algorithm`."""

Item = TypeVar("Item")
Factory = TypeVar("Factory", bound=EncoderFactory)
Function = TypeVar("Function", bound=RewardFunction)
Class = TypeVar("Class", bound=AlgorithmClass)


class Registry(Generic[Item]):
    """Names of one kind."""

    def __init__(self, kind: str, option: str, builtin: Sequence[str] = ()):
        """Begins without entries.

        Args:
            kind: What the names stand for, such as 'encoder'.
            option: The option that takes a name, such as 'model.encoder'.
            builtin: Names that only this package may register.
        """
        self.kind, self.option, self.builtin = kind, option, tuple(builtin)
        self._items: dict[str, Item] = {}

    def add(self, name: str, item: Item) -> None:
        """Registers a function or class under a name.

        Raises:
            PluginError: The name is taken.
        """
        provider = _provider(item)
        reserved = name in self.builtin and not provider.startswith("warpzone.")
        taken = name in self._items and not _redefines(self._items[name], item)
        if taken or reserved:
            owner = "warpzone" if reserved else _provider(self._items[name])
            raise PluginError(
                f"{provider} registers the {self.kind} {name!r}, but {owner} has registered that "
                "name already; choose another"
            )
        self._items[name] = item

    def names(self) -> list[str]:
        """Every name that can be used now, the built-in ones first."""
        return [*self.builtin, *(name for name in self._items if name not in self.builtin)]

    def get(self, name: str, plugins: Sequence[str] = ()) -> Item:
        """What was registered under a name.

        Args:
            name: The name.
            plugins: Modules that a run recorded; they are named if the name is missing.

        Raises:
            PluginError: There is no such name.
        """
        if name in self._items:
            return self._items[name]
        message = f"{self.option} is {name!r}, but no such {self.kind} is registered"
        if plugins:
            modules = " and ".join(plugins)
            options = " ".join(f"--plugin {plugin}" for plugin in plugins)
            raise PluginError(
                f"{message}; it comes from {modules}: import that first, or give {options}"
            )
        close = difflib.get_close_matches(name, self.names(), 1)
        known = f" (did you mean {close[0]!r}?)" if close else f"; there are {self._listed()}"
        raise PluginError(f"{message}{known}; names of your own need --plugin MODULE")

    def _listed(self) -> str:
        return ", ".join(self.names()) or "none yet"

    def provider(self, name: str) -> str:
        """The module that registered a name; empty for built-in and unknown names."""
        if name in self.builtin or name not in self._items:
            return ""
        return _provider(self._items[name])


encoders: Registry[EncoderFactory] = Registry(
    "encoder", "model.encoder", ("space-to-depth", "nature", "impala", "tiles")
)
algorithms: Registry[AlgorithmClass] = Registry("algorithm", "learn.algo", ("ppo", "vtrace"))
rewards: Registry[RewardFunction] = Registry("reward", "reward.function")


def register_encoder(name: str) -> Callable[[Factory], Factory]:
    """Registers a network that turns observations into vectors.

    The decorated function takes the observation space of one environment and the width that
    `--hidden` asks for, and returns a `torch.nn.Module`. Its `forward` takes a batch of uint8
    observations (a tensor for a `Box` space, a dict of tensors for a `Dict` space) and returns
    [B, any width]. The policy and value heads, and the recurrent memory, are added to it.

    Example:
        >>> @warpzone.register_encoder("tiny")
        ... def make_encoder(space, size):
        ...     return TinyNetwork(space["tiles"].shape, size)
        >>> warpzone.training(level="1-1", obs="tiles", encoder="tiny", steps=300_000)
    """

    def register(factory: Factory) -> Factory:
        encoders.add(name, factory)
        return factory

    return register


def register_reward(name: str) -> Callable[[Function], Function]:
    """Registers a reward for training, in place of the environment's own.

    The decorated function takes the info of a step and the info of the step before, both dicts of
    arrays with one value per environment, and returns one reward per environment.

    Example:
        >>> @warpzone.register_reward("coins")
        ... def coins(info, previous):
        ...     return info["coins"] - previous["coins"]
        >>> warpzone.training(level="1-1", obs="tiles", reward="coins", steps=300_000)
    """

    def register(function: Function) -> Function:
        rewards.add(name, function)
        return function

    return register


def register_algorithm(name: str) -> Callable[[Class], Class]:
    """Registers a subclass of `warpzone.Algorithm`; see there for an example."""

    def register(algorithm: Class) -> Class:
        algorithms.add(name, algorithm)
        return algorithm

    return register


def load_plugins(plugins: Sequence[str]) -> None:
    """Imports modules that register names.

    Args:
        plugins: Names of modules, such as 'my_module', or paths of Python files.

    Raises:
        PluginError: A module is not found, or fails while it is imported.
    """
    for plugin in plugins:
        try:
            _import_file(Path(plugin)) if plugin.endswith(".py") else _import_module(plugin)
        except (PluginError, ConfigError):
            raise
        except Exception as error:
            raise PluginError(
                f"--plugin {plugin} failed while it was imported: {type(error).__name__}: {error}"
            ) from error


def _import_module(name: str) -> ModuleType:
    if importlib.util.find_spec(name.partition(".")[0]) is None:
        raise PluginError(
            f"--plugin {name} is not a module that Python finds; give the path of a .py file, or "
            "add its folder to PYTHONPATH"
        )
    return importlib.import_module(name)


def _import_file(path: Path) -> None:
    if not path.is_file():
        raise PluginError(f"--plugin {path} does not exist")
    loaded = sys.modules.get(path.stem)
    if loaded is not None:
        if loaded.__file__ is not None and Path(loaded.__file__).resolve() == path.resolve():
            return
        raise PluginError(
            f"--plugin {path} has the name of the module {path.stem!r}, which is loaded already; "
            "rename the file"
        )
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[path.stem]
        raise


def _redefines(old: object, new: object) -> bool:
    """Whether the same definition was executed again, as a notebook cell that is run twice."""
    return _provider(old) == _provider(new) and _qualname(old) == _qualname(new)


def _qualname(item: object) -> str:
    return str(getattr(item, "__qualname__", ""))


def _provider(item: object) -> str:
    """The module of a function or class; of a script, the name of its file."""
    module = str(getattr(item, "__module__", ""))
    if module != "__main__":
        return module
    file = getattr(sys.modules["__main__"], "__file__", None)
    return "__main__" if file is None else Path(file).name
