"""Agent steps of stable-retro with the matching workload; runs inside the peer's environment.

Frame skip 4, no max-pooling, greyscale, area resize to 84x84, frame stack of 4, CHW uint8. Reward,
episode ends and infos come from the integration, as stable-retro users write it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import cv2
import numpy as np

from .level_start import Level, start_level
from .play import SIMPLE_ACTIONS, held_actions
from .retro_machine import RetroMachine, button_array
from .serve import serve

SKIP, SIZE, STACK = 4, 84, 4

# Score and time are stored as one decimal digit per byte ("n").
_INFO = {
    "x_page": (0x6D, "|u1"),
    "x": (0x86, "|u1"),
    "y": (0x3B8, "|u1"),
    "lives": (0x75A, "|i1"),
    "coins": (0x75E, "|u1"),
    "world": (0x75F, "|u1"),
    "level": (0x75C, "|u1"),
    "score": (0x7DD, ">n6"),
    "time": (0x7F8, ">n3"),
    "player_state": (0x0E, "|u1"),
    "power": (0x756, "|u1"),
}
_SCENARIO = {
    "reward": {"variables": {"x": {"reward": 1.0}}},
    "done": {"variables": {"player_state": {"op": "equal", "reference": 11}}},
}


class RetroAgent:
    """stable-retro with frame skip, greyscale resizing and frame stack."""

    def __init__(self, integrations: Path, game: str) -> None:
        """Loads the game and uses the first frame of 1-1 as its reset state."""
        info = {name: {"address": address, "type": kind} for name, (address, kind) in _INFO.items()}
        folder = integrations / game
        (folder / "steps.json").write_text(json.dumps({"info": info}))
        (folder / "steps_scenario.json").write_text(json.dumps(_SCENARIO))
        machine = RetroMachine(integrations, game, info="steps", scenario="steps_scenario")
        machine.power_on()
        start_level(machine, Level(1, 1))
        self._env = machine.env
        self._env.initial_state = self._env.em.get_state()
        self._stack = np.zeros((STACK, SIZE, SIZE), np.uint8)
        self._buttons = [button_array(buttons) for buttons in SIMPLE_ACTIONS]
        self._actions = held_actions(seed=0)
        self.episodes = 0
        self.reset()

    def reset(self) -> None:
        """Starts an episode."""
        screen, _ = self._env.reset()
        self._stack[:] = self._resize(screen)
        self.episodes += 1

    def step(self, action: int) -> tuple[np.ndarray, float, bool, dict[str, int]]:
        """Takes one agent step."""
        total = 0.0
        buttons = self._buttons[action]
        for _ in range(SKIP):
            screen, reward, done, _, info = self._env.step(buttons)
            total += reward
            if done:
                break
        self._stack[:-1] = self._stack[1:]
        self._stack[-1] = self._resize(screen)
        return self._stack.copy(), total, done, info

    def run(self, steps: int) -> None:
        """Runs `steps` agent steps."""
        for _ in range(steps):
            if self.step(next(self._actions))[2]:
                self.reset()

    @staticmethod
    def _resize(screen: np.ndarray) -> np.ndarray:
        grey = cv2.cvtColor(screen, cv2.COLOR_RGB2GRAY)
        return cv2.resize(grey, (SIZE, SIZE), interpolation=cv2.INTER_AREA)


if __name__ == "__main__":
    cv2.setNumThreads(1)
    serve(RetroAgent(Path(sys.argv[1]), sys.argv[2]).run, batch=100)
