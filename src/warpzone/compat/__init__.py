"""A familiar face: gym-super-mario-bros and nes-py, by the names that scripts already use.

Change the import lines of a script, and nothing else:

    from warpzone.compat import JoypadSpace, SIMPLE_MOVEMENT, gym_super_mario_bros

`warpzone.compat.four_tuple` exports the same names for scripts of Gym 0.21 and earlier, in which
`step` returns four values and `reset` only the observation.
"""

from warpzone.compat import gym_super_mario_bros
from warpzone.compat.actions import COMPLEX_MOVEMENT, RIGHT_ONLY, SIMPLE_MOVEMENT
from warpzone.compat.gym_super_mario_bros import make
from warpzone.compat.joypad_space import JoypadSpace

__all__ = [
    "COMPLEX_MOVEMENT",
    "RIGHT_ONLY",
    "SIMPLE_MOVEMENT",
    "JoypadSpace",
    "gym_super_mario_bros",
    "make",
]
