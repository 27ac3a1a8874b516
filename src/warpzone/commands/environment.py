"""Parsing of environment parameters given on the command line."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from warpzone.errors import ConfigError


def parse_settings(settings: Sequence[str]) -> dict[str, Any]:
    """Turns ``["sticky_prob=0.25", "hud=crop"]`` into keywords for an environment.

    Values that are Python literals are evaluated; all others are taken as text.

    Raises:
        ConfigError: An entry has no '='.
    """
    keywords: dict[str, Any] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name:
            raise ConfigError(f"--set {setting!r} must be NAME=VALUE, such as sticky_prob=0.25")
        try:
            keywords[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            keywords[name] = value
    return keywords
