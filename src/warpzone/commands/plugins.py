"""Option for plug-ins, shared by commands that load policies."""

from __future__ import annotations

from dataclasses import dataclass

from warpzone.config.option import option
from warpzone.config.run import PLUGIN_HELP


@dataclass(frozen=True, kw_only=True)
class PluginOptions:
    """Modules to import before a command runs."""

    plugin: tuple[str, ...] = option((), PLUGIN_HELP, metavar="MODULE", repeated=True)
