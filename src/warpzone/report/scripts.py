"""The script of a page: the dashboard's charts and the page's own code, in one piece.

Browsers load no modules from files next to a page that was opened from disk, so the modules are
joined: each becomes a function whose result holds what the module exports.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable

_DASHBOARD = "warpzone.dashboard"
# In the order of their imports.
_MODULES = (
    (_DASHBOARD, "static/vendor/uplot/uPlot.esm.js"),
    (_DASHBOARD, "static/js/dom.js"),
    (_DASHBOARD, "static/js/format.js"),
    (_DASHBOARD, "static/js/strings_en.js"),
    ("warpzone.report", "i18n.js"),
    (_DASHBOARD, "static/js/theme.js"),
    (_DASHBOARD, "static/js/chart.js"),
    (_DASHBOARD, "static/js/chart_settings.js"),
    ("warpzone.report", "page.js"),
)
_STYLE = "static/vendor/uplot/uPlot.min.css"
_IMPORT = re.compile(r'^import (\w+|\{[^}]*\}) from "[^"]*?([\w.]+\.js)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:function|class|const) (\w+))", re.MULTILINE)
_DEFAULT = re.compile(r"^export \{ (\w+) as default \};$", re.MULTILINE)


@cache
def page_script() -> str:
    """Returns the script of all pages."""
    return "const modules = {};\n" + "".join(
        join_module(path.rpartition("/")[2], _file(package, path).read_text(encoding="utf-8"))
        for package, path in _MODULES
    )


@cache
def chart_style() -> str:
    """Returns the style sheet of the charts."""
    return _file(_DASHBOARD, _STYLE).read_text(encoding="utf-8")


def join_module(name: str, source: str) -> str:
    """Returns a module as a function that is called once, and whose result is what it exports."""
    exported = ", ".join(_EXPORT.findall(source))
    default = _DEFAULT.search(source)
    if default is not None:
        exported = f"default: {default[1]}"
        source = _DEFAULT.sub("", source)
    else:
        source = _EXPORT.sub("", source)
    body = _IMPORT.sub(_constant, source)
    return f'modules["{name}"] = (() => {{\n{body}\nreturn {{ {exported} }};\n}})();\n'


def _constant(found: re.Match[str]) -> str:
    names, module = found.groups()
    what = names if names.startswith("{") else f"{{ default: {names} }}"
    return f'const {what} = modules["{module}"];'


def _file(package: str, path: str) -> Traversable:
    return resources.files(package).joinpath(path)
