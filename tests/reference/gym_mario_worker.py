"""Plays an environment of gym-super-mario-bros 9 and writes down what it returns, as JSON lines.

Runs in an environment that has the package; see `compare_gym_super_mario_bros.py`.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import gym_super_mario_bros
from gym_mario_plan import JUMP_RIGHT, RIGHT, plan
from nes_py.wrappers import JoypadSpace


def main() -> None:
    env_id, frames, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    env = JoypadSpace(gym_super_mario_bros.make(env_id), [RIGHT, JUMP_RIGHT])
    obs, info = env.reset()
    print(json.dumps({"shape": list(obs.shape), "info": sorted(info)}))
    for action in plan(frames, seed):
        _, _, terminated, truncated, info = env.step(action)
        facts = {name: _plain(value) for name, value in info.items()}
        print(json.dumps({"end": [bool(terminated), bool(truncated)], "info": facts}, default=str))
        if terminated or truncated:
            break
    env.close()


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


if __name__ == "__main__":
    main()
