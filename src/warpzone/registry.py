"""What users can plug in by name: encoders, rewards, algorithms and vector wrappers.

A name belongs to the function or class that registered it. Importing the module that registers it
is all that is needed to use it:

    import warpzone

    @warpzone.register_encoder("tiny")
    def make_encoder(space, size):
        return MyNetwork(space, size)

    warpzone.train(level="1-1", encoder="tiny")

From the command line, `--plugin my_module` imports the module first. Runs and policy files record
names and modules, never code. Loading one never imports a module: whoever loads it does.
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
Wrap = Callable[[Any], Any]
"""Puts Gymnasium's vector wrappers around a vector environment."""

Item = TypeVar("Item")
Factory = TypeVar("Factory", bound=EncoderFactory)
Function = TypeVar("Function", bound=RewardFunction)
Class = TypeVar("Class", bound=AlgorithmClass)
Wrapper = TypeVar("Wrapper", bound=Wrap)

NO_WRAPPER = "none"
# What an error shows; a file of a stranger may name any number of endless modules.
_MOST_NAMED, _LONGEST_NAME = 5, 100


class Registry(Generic[Item]):
    """Names of one kind."""

    def __init__(self, kind: str, option: str, builtin: Sequence[str] = ()):
        """Begins without entries.

        Args:
            kind: What the names stand for, such as 'encoder'.
            option: The option that takes a name, such as 'model.encoder'.
            builtin: Names that belong to this package.
        """
        self.kind, self.option, self.builtin = kind, option, tuple(builtin)
        self._items: dict[str, Item] = {}
        self._plugins: dict[str, str] = {}

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
        self._plugins[name] = _importing[-1] if _importing else provider

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
        if name not in self._items:
            raise PluginError(self._missing(name, plugins))
        return self._items[name]

    def check(self, name: str, plugins: Sequence[str] = ()) -> None:
        """Checks that a name can be used.

        Args:
            name: The name.
            plugins: Modules that a run recorded; they are named if the name is missing.

        Raises:
            PluginError: There is no such name.
        """
        if name not in self.names():
            raise PluginError(self._missing(name, plugins))

    def is_own(self, name: str) -> bool:
        """Whether a name was registered by a user."""
        return name in self._items and name not in self.builtin

    def plugin(self, name: str) -> str:
        """What to import, or to give as `--plugin`, for a registered name of a user."""
        return self._plugins[name]

    def _missing(self, name: str, plugins: Sequence[str]) -> str:
        message = f"{self.option} is {_short(name)!r}, but no such {self.kind} is registered"
        absent = [_short(plugin) for plugin in plugins if plugin not in _imported][:_MOST_NAMED]
        if absent:
            options = " ".join(f"--plugin {plugin}" for plugin in absent)
            return f"{message}; it comes from {' and '.join(absent)}: import it, or give {options}"
        close = difflib.get_close_matches(name, self.names(), 1)
        if close:
            return f"{message}; did you mean {close[0]}?"
        if plugins:
            modules = " and ".join(plugins[:_MOST_NAMED])
            return f"{message} by {modules}; there are {', '.join(self.names())}"
        return (
            f"{message}; there are {', '.join(self.names())}, and those of a plug-in need --plugin "
            "MODULE"
        )


_importing: list[str] = []
"""Plug-ins that are being imported, the innermost last."""
_imported: set[str] = set()
"""Plug-ins that `load_plugins` has imported."""

encoders: Registry[EncoderFactory] = Registry(
    "encoder", "model.encoder", ("auto", "space-to-depth", "nature", "impala", "tiles")
)
algorithms: Registry[AlgorithmClass] = Registry("algorithm", "learn.algo", ("ppo", "vtrace"))
rewards: Registry[RewardFunction] = Registry("reward", "reward.kind", ("shaped", "classic"))
wrappers: Registry[Wrap] = Registry("wrapper", "env.wrap", (NO_WRAPPER,))


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
        >>> warpzone.train(level="1-1", obs="tiles", encoder="tiny", steps=300_000)
    """

    def register(factory: Factory) -> Factory:
        encoders.add(name, factory)
        return factory

    return register


def register_reward(name: str) -> Callable[[Function], Function]:
    """Registers a reward for training, in place of the environment's own.

    The decorated function takes the info of a step and the info before it, both dicts of arrays
    with one value per environment, and returns one finite number per environment. At the first step
    of an episode, `previous` is the info of its reset; at the last one, `info` is the info of the
    episode's end. No difference ever spans two episodes.

    Example:
        >>> @warpzone.register_reward("coins")
        ... def coins(info, previous):
        ...     return info["coins"] - previous["coins"]
        >>> warpzone.train(level="1-1", obs="tiles", reward="coins", steps=300_000)
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


def register_wrapper(name: str) -> Callable[[Wrapper], Wrapper]:
    """Registers vector wrappers for training, evaluation and videos.

    The decorated function takes a `gymnasium.vector.VectorEnv` and returns it inside one or more
    `gymnasium.vector.VectorWrapper`s; a class of such a wrapper can be decorated as well. The
    environments inside have autoreset disabled: `step` shows the end of each episode, and ended
    environments are reset through the wrapper with `options={"reset_mask": ...}`.

    Example:
        >>> @warpzone.register_wrapper("half")
        ... def halve(env):
        ...     return TransformReward(env, lambda reward: reward / 2)
        >>> warpzone.train(level="1-1", obs="tiles", wrap="half", steps=300_000)
    """

    def register(wrap: Wrapper) -> Wrapper:
        wrappers.add(name, wrap)
        return wrap

    return register


def name_of_wrapper(wrap: Wrap) -> str:
    """The name of a wrapper, which is registered if it was not."""
    for name in wrappers.names():
        if wrappers.is_own(name) and wrappers.get(name) is wrap:
            return name
    name = f"{_provider(wrap)}:{_qualname(wrap) or type(wrap).__qualname__}"
    wrappers.add(name, wrap)
    return name


def load_plugins(plugins: Sequence[str]) -> None:
    """Imports modules that register names.

    Args:
        plugins: Names of modules, such as 'my_module', or paths of Python files.

    Raises:
        PluginError: A module is not found, or fails while it is imported.
    """
    for plugin in plugins:
        _importing.append(plugin)
        try:
            _import_file(Path(plugin)) if plugin.endswith(".py") else _import_module(plugin)
        except (PluginError, ConfigError):
            raise
        except (Exception, SystemExit) as error:  # A script may leave when it finds no arguments.
            raise PluginError(
                f"--plugin {plugin} failed while it was imported: {type(error).__name__}: {error}"
            ) from error
        finally:
            _importing.pop()
        _imported.add(plugin)


def _import_module(name: str) -> ModuleType:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)  # `python -m` searches it, an installed command does not.
    parts = name.split(".")
    if not all(map(str.isidentifier, parts)) or importlib.util.find_spec(parts[0]) is None:
        raise PluginError(
            f"--plugin {_short(name)!r} is not a module that Python finds; give the path of a .py "
            "file, or add its folder to PYTHONPATH"
        )
    return importlib.import_module(name)


def _import_file(path: Path) -> None:
    if not path.is_file():
        raise PluginError(f"--plugin {_short(str(path))} is not a file")
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


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_NAME else f"{text[:_LONGEST_NAME]}..."


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
