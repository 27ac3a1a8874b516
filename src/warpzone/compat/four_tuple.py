"""gym-super-mario-bros for scripts of Gym 0.21 and earlier: four values per step.

from warpzone.compat.four_tuple import JoypadSpace, SIMPLE_MOVEMENT, gym_super_mario_bros
"""

from functools import partial
from types import SimpleNamespace

from warpzone.compat import actions
from warpzone.compat.actions import COMPLEX_MOVEMENT, RIGHT_ONLY, SIMPLE_MOVEMENT
from warpzone.compat.gym_super_mario_bros import make as _make
from warpzone.compat.joypad_space import JoypadSpace

__all__ = [
    "COMPLEX_MOVEMENT",
    "RIGHT_ONLY",
    "SIMPLE_MOVEMENT",
    "JoypadSpace",
    "gym_super_mario_bros",
    "make",
]

make = partial(_make, four_tuple=True)
gym_super_mario_bros = SimpleNamespace(make=make, actions=actions)
