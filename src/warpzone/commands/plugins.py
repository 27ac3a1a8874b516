"""The option of commands that load policies, which may need plug-ins."""

from __future__ import annotations

from dataclasses import dataclass

from warpzone.config.option import option
from warpzone.config.run import PLUGIN_HELP


@dataclass(frozen=True, kw_only=True)
class PluginOptions:
    """Modules that are imported before a command runs."""

    plugin: tuple[str, ...] = option((), PLUGIN_HELP, metavar="MODULE", repeated=True)
