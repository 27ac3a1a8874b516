"""Info dicts whose values are built when first read: an unread info costs almost nothing."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from typing import Any, Protocol

# Held while values are built, so that two threads that read the same info see the same arrays.
_BUILDING = threading.RLock()


class InfoSource(Protocol):
    """Where the values of an info come from; what it returns must not change with time."""

    def one(self, name: str) -> Any:
        """Returns the value of one field."""

    def all(self) -> dict[str, Any]:
        """Returns every field, in the order of the keys."""


class Info(dict[str, Any]):
    """A dict in every respect; its copies and pickles are plain dicts."""

    __slots__ = ("_source",)

    def __reduce__(self) -> tuple[type[dict[str, Any]], tuple[dict[str, Any]]]:
        """Pickles, copies and deep copies as a plain dict."""
        return dict, (dict(self),)


class LazyInfo(Info):
    """An info some of whose values are not built yet.

    Its keys are there from the beginning. `info[name]` and `get` build one value, `in`, `len` and
    iteration need none, and every other method of `dict` first builds all values, which turns the
    object into an `Info`. C code that bypasses the methods of a dict subclass sees None for a value
    that is not built; give it `dict(info)`.
    """

    __slots__ = ()

    def __init__(self, names: dict[str, Any], source: InfoSource) -> None:
        """Creates an unread info.

        Args:
            names: The keys, each with None or with a value that needs no building; copied.
            source: Builds the values of the others, none of which is None.
        """
        super().__init__(names)
        self._source = source

    def __getitem__(self, name: str) -> Any:
        """Returns a field."""
        value = dict.__getitem__(self, name)
        if value is None:
            with _BUILDING:
                value = dict.__getitem__(self, name)
                if value is None and type(self) is LazyInfo:
                    value = self._source.one(name)
                    dict.__setitem__(self, name, value)
        return value

    def __iter__(self) -> Iterator[str]:
        """Iterates over the names of the fields.

        Being overridden, it also makes `dict(info)` and `{**info}` call our methods: for a subclass
        that inherits `__iter__`, Python copies the values as they are.
        """
        return dict.__iter__(self)

    def get(self, name: Any, default: Any = None) -> Any:
        """Returns a field, or `default` if there is none."""
        if name not in self:
            return default
        return self[name]


def _build_all(info: Info) -> None:
    with _BUILDING:
        # Otherwise they are: by another thread, or while the arguments of a call were evaluated.
        if type(info) is LazyInfo:
            for name, value in info._source.all().items():
                if dict.__getitem__(info, name) is None:
                    dict.__setitem__(info, name, value)
            info.__class__ = Info  # type: ignore[assignment]
            del info._source


def _building(name: str) -> Callable[..., Any]:
    method: Callable[..., Any] = getattr(dict, name)

    @functools.wraps(method)
    def build_first(self: Info, *args: Any, **keywords: Any) -> Any:
        _build_all(self)
        return method(self, *args, **keywords)

    return build_first


_NEED_NO_VALUE = {"__contains__", "__len__", "__sizeof__"}
_CONSTRUCTION = {"__new__", "__init__", "__getattribute__", "__class_getitem__", "fromkeys"}
# Taken from `dict` itself, so that no method is forgotten, whatever the Python version.
for _name, _method in vars(dict).items():
    if callable(_method) and _name not in {*vars(LazyInfo), *_NEED_NO_VALUE, *_CONSTRUCTION}:
        setattr(LazyInfo, _name, _building(_name))
