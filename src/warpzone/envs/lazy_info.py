"""Info dicts whose values are built when first read: an unread info costs almost nothing."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

# Held while a dict is filled, so that two threads that read the same info see all of it.
_FILLING = threading.RLock()


class Info(dict[str, Any]):
    """A dict in every respect; its copies and pickles are plain dicts."""

    __slots__ = ("_read",)

    def __reduce__(self) -> tuple[type[dict[str, Any]], tuple[dict[str, Any]]]:
        """Pickles, copies and deep copies as a plain dict."""
        return dict, (dict(self),)


class LazyInfo(Info):
    """An info whose values are not built yet; the first access turns it into an `Info`.

    Its keys are there from the beginning. Every method of `dict` that could show or change a value
    builds all of them first. What needs only the keys does not: `in`, `len`, and `get` of an absent
    name, since libraries ask every info of every step for names such as "episode". C code that
    bypasses the methods of a dict subclass sees None as values; give it `dict(info)`.
    """

    __slots__ = ()

    def __init__(self, names: dict[str, None], read: Callable[[], dict[str, Any]]) -> None:
        """Creates an unread info.

        Args:
            names: The keys, each with None; copied.
            read: Returns the values, for the same keys in the same order. It is called at most
                once, and what it returns must not depend on when.
        """
        super().__init__(names)
        self._read = read

    def get(self, name: Any, default: Any = None) -> Any:
        """Returns a field, or `default` if there is none."""
        if name not in self:
            return default
        _fill(self)
        return dict.get(self, name, default)


def _fill(info: Info) -> None:
    with _FILLING:
        # Otherwise it is filled: by another thread, or while the arguments of a call were evaluated.
        if type(info) is LazyInfo:
            dict.update(info, info._read())
            info.__class__ = Info  # type: ignore[assignment]
            del info._read


def _filling(name: str) -> Callable[..., Any]:
    method: Callable[..., Any] = getattr(dict, name)

    @functools.wraps(method)
    def fill_first(self: Info, *args: Any, **keywords: Any) -> Any:
        _fill(self)
        return method(self, *args, **keywords)

    return fill_first


_NEED_ONLY_KEYS = {"__contains__", "__len__", "__sizeof__"}
_CONSTRUCTION = {"__new__", "__init__", "__getattribute__", "__class_getitem__", "fromkeys"}
# Taken from `dict` itself, so that no method is forgotten, whatever the Python version.
for _name, _method in vars(dict).items():
    if callable(_method) and _name not in {*vars(LazyInfo), *_NEED_ONLY_KEYS, *_CONSTRUCTION}:
        setattr(LazyInfo, _name, _filling(_name))
