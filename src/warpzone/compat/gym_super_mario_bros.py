"""`gym_super_mario_bros.make`, with the ids of the package.

An environment returns what the package's would: the color screen, one frame per step, the reward of
version 7.4, and controller bytes as actions.
"""

from __future__ import annotations

import re
from typing import Any, Literal

import gymnasium as gym

from warpzone.compat import actions
from warpzone.compat.four_tuple_env import FourTupleEnv
from warpzone.envs.single import MarioEnv
from warpzone.errors import ConfigError

__all__ = ["actions", "make"]

_ID = re.compile(
    r"SuperMarioBros(?P<two>2)?(?P<random>RandomStages)?(?:-(?P<level>\d-\d))?-v(?P<version>\d)"
)
_MODIFIED = {"1": "downsample", "2": "pixel", "3": "rectangle"}


def make(
    id: str,
    *,
    stages: list[str] | None = None,
    render_mode: Literal["rgb_array"] | None = None,
    four_tuple: bool = False,
    **options: Any,
) -> gym.Env[Any, Any]:
    """Makes an environment by an id of gym-super-mario-bros.

    Args:
        id: 'SuperMarioBros-v0', 'SuperMarioBros-1-1-v0', 'SuperMarioBrosRandomStages-v0' or
            'SuperMarioBros2-v0'. Versions 1 to 3 play modified ROMs that Warpzone does not have.
        stages: The levels of 'SuperMarioBrosRandomStages-v0', such as ['1-1', '1-2'].
        render_mode: None or 'rgb_array'.
        four_tuple: Follow Gym 0.21: `step` returns (obs, reward, done, info), `reset` only obs.
        options: Parameters of `warpzone.MarioEnv` that differ from those of the package, such as
            `frame_skip=4`.

    Raises:
        ConfigError: The id does not exist, or its ROM is not available.
    """
    found = _ID.fullmatch(id)
    if found is None or (found["level"] and (found["two"] or found["random"])):
        raise ConfigError(f"{id!r} is not an id of gym-super-mario-bros, such as {_EXAMPLE!r}")
    if found["version"] in _MODIFIED:
        raise ConfigError(
            f"{id} plays the ROM of gym-super-mario-bros that is modified for the mode "
            f"{_MODIFIED[found['version']]!r}, which Warpzone does not have; use -v0"
        )
    if stages is not None and not found["random"]:
        raise ConfigError(f"{id} takes no stages; use 'SuperMarioBrosRandomStages-v0'")
    keywords = _CLASSIC | options
    if found["random"]:
        keywords |= {"level": stages or "all", "level_order": "random"}
    else:
        keywords |= {"level": found["level"] or "game"}
    if found["two"]:
        keywords |= {"game": "lost-levels"}
    env = MarioEnv(render_mode=render_mode, **keywords)
    return FourTupleEnv(env) if four_tuple else env


_EXAMPLE = "SuperMarioBros-1-1-v0"
_CLASSIC: dict[str, Any] = {
    "obs": "rgb",
    "frame_skip": 1,
    "reward": "classic",
    "actions": list(range(256)),
}
