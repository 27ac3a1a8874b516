"""Save states within levels, from a small search or from the committed solutions."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import warpzone
from warpzone.errors import WarpzoneError
from warpzone.search.solution import read_solution

NUM_ENVS, STEPS = 48, 14
SOLUTIONS = Path(__file__).parents[2] / "solutions"


def replay_until(level: str, *, steps_left: int) -> tuple[bytes, list[int]]:
    """Returns a save state on the committed solution, and the buttons of its remaining steps."""
    solution = read_solution(SOLUTIONS / f"{level}.solution")
    env = warpzone.MarioEnv(level, obs="tiles")
    env.reset(seed=0)
    for buttons in solution.inputs[:-steps_left]:
        env.console.run_frames(solution.frame_skip, buttons)
    return env.console.save(), list(solution.inputs[-steps_left:])


def play_until(level: str, x: int, *, halfway: bool = True, rounds: int = 200) -> bytes:
    """Returns a save state with Mario alive, on the ground and in control at or beyond `x`.

    In each round, all environments continue from one state; the furthest safe state becomes the
    next one. If no environment gets further, the search returns to the previous state.
    """
    env = warpzone.make_vec(
        level, num_envs=NUM_ENVS, obs="tiles", autoreset="disabled", halfway=halfway
    )
    env.reset(seed=0)
    rng = np.random.default_rng(0)
    trail = [(0, env.save_state(0))]
    for _ in range(rounds):
        env.load_state(trail[-1][1])
        alive = np.ones(NUM_ENVS, np.bool_)
        actions = rng.integers(1, 5, NUM_ENVS)
        for _ in range(STEPS):
            actions = np.where(rng.random(NUM_ENVS) < 0.25, rng.integers(1, 5, NUM_ENVS), actions)
            _, _, terminated, _, info = env.step(actions)
            if terminated.any():
                alive &= ~terminated
                env.load_state(trail[-1][1], env_ids=np.flatnonzero(terminated).tolist())
        safe = alive & info["on_ground"] & info["in_control"]
        reach = np.where(safe, info["x_pos"], -1)
        best = int(reach.argmax())
        if reach[best] > trail[-1][0]:
            trail.append((int(reach[best]), env.save_state(best)))
        elif len(trail) > 1:
            trail.pop()
        if trail[-1][0] >= x:
            return trail[-1][1]
    raise WarpzoneError(f"{level} was not played to {x} in {rounds} rounds")
