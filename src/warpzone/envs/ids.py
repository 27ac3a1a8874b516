"""Gymnasium ids: every level of both games, the whole games, and random levels."""

from __future__ import annotations

from gymnasium.envs.registration import register

from warpzone import _native

_ENTRY_POINT = "warpzone.envs.single:MarioEnv"
_VECTOR_ENTRY_POINT = "warpzone.envs.vector:MarioVectorEnv"


def register_all() -> None:
    """Registers ids such as `warpzone/SuperMarioBros-1-1-v0` and `warpzone/LostLevels-v0`."""
    for name, game in (("SuperMarioBros", "smb"), ("LostLevels", "lost-levels")):
        for level in _native.level_names(game):
            _register(f"{name}-{level}-v0", level=level, game=game)
        _register(f"{name}-v0", level="game", game=game)
        _register(f"{name}RandomLevels-v0", level="all", level_order="random", game=game)


def _register(name: str, **keywords: str) -> None:
    register(
        id=f"warpzone/{name}",
        entry_point=_ENTRY_POINT,
        vector_entry_point=_VECTOR_ENTRY_POINT,
        kwargs=keywords,
    )
