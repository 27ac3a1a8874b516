"""Registries of the encoders, rewards, algorithms and wrappers that users plug in by name.

To use a name, import the module that registers it:

    import warpzone

    @warpzone.register_encoder("tiny")
    def make_encoder(space, size):
        return MyNetwork(space, size)

    warpzone.train(level="1-1", encoder="tiny")

From the command line, `--plugin my_module` imports the module first. Runs and policy files record
names and modules, never code. Loading one never imports a module: import it first.
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
"""Mapping from field names to arrays with one value per environment."""
EncoderFactory = Callable[[Any, int], Any]
"""Takes the observation space and the width (`--hidden`); returns a `torch.nn.Module`."""
RewardFunction = Callable[[Info, Info], NDArray[Any]]
"""Takes the info of a step and of the previous step; returns one reward per environment."""

AlgorithmClass = type[Any]
"""A subclass of `warpzone.Algorithm`."""
Wrap = Callable[[Any], Any]
"""Wraps a vector environment in Gymnasium vector wrappers."""

Item = TypeVar("Item")
Factory = TypeVar("Factory", bound=EncoderFactory)
Function = TypeVar("Function", bound=RewardFunction)
Class = TypeVar("Class", bound=AlgorithmClass)
Wrapper = TypeVar("Wrapper", bound=Wrap)

NO_WRAPPER = "none"
# Limits of error messages: an untrusted file may name many modules with long names.
_MAX_NAMED, _MAX_NAME_LENGTH = 5, 100


class Registry(Generic[Item]):
    """Maps names of one kind (such as encoders) to functions or classes."""

    def __init__(self, kind: str, option: str, builtin: Sequence[str] = ()):
        """Creates an empty registry.

        Args:
            kind: Kind of item, such as 'encoder'; used in messages.
            option: Option that selects an item, such as 'model.encoder'.
            builtin: Names that belong to this package.
        """
        self.kind, self.option, self.builtin = kind, option, tuple(builtin)
        self._items: dict[str, Item] = {}
        self._plugins: dict[str, str] = {}

    def add(self, name: str, item: Item) -> None:
        """Registers a function or class under a name.

        Raises:
            PluginError: The name is already taken.
        """
        provider = _provider(item)
        reserved = name in self.builtin and not provider.startswith("warpzone.")
        taken = name in self._items and not _redefines(self._items[name], item)
        if taken or reserved:
            owner = "warpzone" if reserved else _provider(self._items[name])
            raise PluginError(
                f"{provider} registers the {self.kind} {name!r}, but {owner} has already "
                "registered that name; choose another"
            )
        self._items[name] = item
        self._plugins[name] = _importing[-1] if _importing else provider

    def names(self) -> list[str]:
        """Returns all available names, built-in names first."""
        return [*self.builtin, *(name for name in self._items if name not in self.builtin)]

    def get(self, name: str, plugins: Sequence[str] = ()) -> Item:
        """Returns the item registered under a name.

        Args:
            name: Registered name.
            plugins: Modules that a run recorded; the error names them if the name is missing.

        Raises:
            PluginError: The name is not registered.
        """
        if name not in self._items:
            raise PluginError(self._missing(name, plugins))
        return self._items[name]

    def check(self, name: str, plugins: Sequence[str] = ()) -> None:
        """Checks that a name can be used.

        Args:
            name: Name to check.
            plugins: Modules that a run recorded; the error names them if the name is missing.

        Raises:
            PluginError: The name is not registered.
        """
        if name not in self.names():
            raise PluginError(self._missing(name, plugins))

    def is_own(self, name: str) -> bool:
        """Whether a name was registered by a user."""
        return name in self._items and name not in self.builtin

    def plugin(self, name: str) -> str:
        """Returns the module to import, or to pass as `--plugin`, for a user's name."""
        return self._plugins[name]

    def _missing(self, name: str, plugins: Sequence[str]) -> str:
        message = f"{self.option} is {_short(name)!r}, but no such {self.kind} is registered"
        absent = [_short(plugin) for plugin in plugins if plugin not in _imported][:_MAX_NAMED]
        if absent:
            options = " ".join(f"--plugin {plugin}" for plugin in absent)
            return f"{message}; it comes from {' and '.join(absent)}: import it, or give {options}"
        close = difflib.get_close_matches(name, self.names(), 1)
        if close:
            return f"{message}; did you mean {close[0]}?"
        if plugins:
            modules = " and ".join(plugins[:_MAX_NAMED])
            return f"{message} by {modules}; available: {', '.join(self.names())}"
        return (
            f"{message}; available: {', '.join(self.names())}; use --plugin MODULE to register "
            "your own"
        )


_importing: list[str] = []
"""Plug-ins that are being imported; the innermost is last."""
_imported: set[str] = set()
"""Plug-ins that `load_plugins` has imported."""

encoders: Registry[EncoderFactory] = Registry(
    "encoder", "model.encoder", ("auto", "space-to-depth", "nature", "impala", "tiles", "tiles-v2")
)
algorithms: Registry[AlgorithmClass] = Registry(
    "algorithm", "learn.algo", ("ppo", "appo", "vtrace")
)
rewards: Registry[RewardFunction] = Registry("reward", "reward.kind", ("shaped", "classic"))
wrappers: Registry[Wrap] = Registry("wrapper", "env.wrap", (NO_WRAPPER,))


def register_encoder(name: str) -> Callable[[Factory], Factory]:
    """Registers an encoder: a network that maps observations to feature vectors.

    The decorated function takes the observation space of one environment and the width given by
    `--hidden`, and returns a `torch.nn.Module`. The module's `forward` takes a batch of uint8
    observations (a tensor for a `Box` space, a dict of tensors for a `Dict` space) and returns
    [B, any width]. The trainer adds the recurrent layer and the policy and value heads.

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
    """Registers a reward function for training that replaces the environment's reward.

    The decorated function takes the info of a step and the previous info, both dicts of arrays with
    one value per environment, and returns one finite number per environment. At the first step of
    an episode, `previous` is the info of its reset; at the last step, `info` describes the end of
    the episode. The two infos never belong to different episodes.

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
    """Registers a subclass of `warpzone.Algorithm`; its docstring has an example."""

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
    """Returns the name of a wrapper; registers the wrapper if necessary."""
    for name in wrappers.names():
        if wrappers.is_own(name) and wrappers.get(name) is wrap:
            return name
    name = f"{_provider(wrap)}:{_qualname(wrap) or type(wrap).__qualname__}"
    wrappers.add(name, wrap)
    return name


def load_plugins(plugins: Sequence[str]) -> None:
    """Imports modules that register names.

    Args:
        plugins: Module names, such as 'my_module', or paths of Python files.

    Raises:
        PluginError: A module is not found or fails during import.
    """
    for plugin in plugins:
        _importing.append(plugin)
        try:
            _import_file(Path(plugin)) if plugin.endswith(".py") else _import_module(plugin)
        except (PluginError, ConfigError):
            raise
        except (Exception, SystemExit) as error:  # A script may exit if it gets no arguments.
            raise PluginError(
                f"--plugin {plugin} failed during import: {type(error).__name__}: {error}"
            ) from error
        finally:
            _importing.pop()
        _imported.add(plugin)


def _import_module(name: str) -> ModuleType:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)  # `python -m` searches it; an installed command does not.
    parts = name.split(".")
    if not all(map(str.isidentifier, parts)) or importlib.util.find_spec(parts[0]) is None:
        raise PluginError(
            f"--plugin {_short(name)!r} was not found; give the path of a .py file, or add the "
            "module's folder to PYTHONPATH"
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
            f"--plugin {path} has the same name as the module {path.stem!r}, which is already "
            "loaded; rename the file"
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
    return text if len(text) <= _MAX_NAME_LENGTH else f"{text[:_MAX_NAME_LENGTH]}..."


def _redefines(old: object, new: object) -> bool:
    """Whether the same definition was executed again, as when a notebook cell is rerun."""
    return _provider(old) == _provider(new) and _qualname(old) == _qualname(new)


def _qualname(item: object) -> str:
    return str(getattr(item, "__qualname__", ""))


def _provider(item: object) -> str:
    """Returns the module of a function or class; for a script, its file name."""
    module = str(getattr(item, "__module__", ""))
    if module != "__main__":
        return module
    file = getattr(sys.modules["__main__"], "__file__", None)
    return "__main__" if file is None else Path(file).name
