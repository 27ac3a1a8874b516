"""Compares `warpzone.compat` with gym-super-mario-bros 9 and nes-py 9, frame by frame.

The package needs Python 3.13 or later and an environment of its own:

    python3.13 -m venv mario9
    mario9/bin/pip install gym-super-mario-bros==9.1.0 nes-py==9.0.1
    python tests/reference/compare_gym_super_mario_bros.py mario9/bin/python

Both sides get the same buttons. Ends and the fields of the info that version 7.4 has as well are
compared until they differ, which they do when the clock ticks: the package starts a level by a
procedure of its own, which probably ends at another phase of the game's timers. Version 9 has
another reward, and palettes differ, so rewards and screens are not compared.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from pathlib import Path
from typing import Any

from gym_mario_plan import JUMP_RIGHT, RIGHT, plan

from warpzone.compat import JoypadSpace, gym_super_mario_bros

WORKER = Path(__file__).with_name("gym_mario_worker.py")
IDS = ("SuperMarioBros-1-1-v0", "SuperMarioBros-4-1-v0", "SuperMarioBros-8-1-v0")

FIELDS = (
    *("coins", "flag_get", "life", "score", "stage", "status", "time", "world", "x_pos", "y_pos"),
)


def theirs(python: Path, env_id: str, frames: int, seed: int) -> list[dict[str, Any]]:
    command = [str(python), str(WORKER), env_id, str(frames), str(seed)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{env_id}: {done.stderr.strip().splitlines()[-1]}")
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def compare(env_id: str, rows: list[dict[str, Any]], frames: int, seed: int) -> str:
    """Says for how long both are the same, at the best of a few shifts of the start.

    The package starts a level by its own procedure, so its first frame may be an earlier one.
    """
    lag, same, difference = max(
        ((lag, *same_frames(env_id, rows, plan(frames, seed), lag)) for lag in range(4)),
        key=lambda result: result[1],
    )
    return f"start shifted by {lag} frames; the same for {same} frames; then {difference or 'ends'}"


def same_frames(
    env_id: str, rows: list[dict[str, Any]], actions: list[int], lag: int
) -> tuple[int, str]:
    """Plays our environment with the same buttons from frame `lag` on.

    Returns:
        The number of frames for which it is the same, and what differs then.
    """
    env = JoypadSpace(gym_super_mario_bros.make(env_id), [RIGHT, JUMP_RIGHT])
    obs, _ = env.reset(seed=0)
    assert list(obs.shape) == rows[0]["shape"]
    same = 0
    for action, row in zip(actions[lag:], rows[1 + lag :], strict=False):
        _, _, terminated, truncated, info = env.step(action)
        ours = {name: _plain(info[name]) for name in FIELDS} | {"end": [terminated, truncated]}
        other = {name: row["info"][name] for name in FIELDS} | {"end": row["end"]}
        differing = [name for name in other if ours[name] != other[name]]
        if differing:
            return same, ", ".join(f"{name} {ours[name]} / {other[name]}" for name in differing)
        same += 1
    return same, ""


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("python", type=Path, help="Interpreter that has the package.")
    parser.add_argument("--ids", nargs="+", default=IDS)
    parser.add_argument("--frames", type=int, default=3000)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
    options = parser.parse_args()
    for env_id in options.ids:
        for seed in options.seeds:
            rows = theirs(options.python, env_id, options.frames, seed)
            print(f"{env_id}, seed {seed}: {compare(env_id, rows, options.frames, seed)}")


if __name__ == "__main__":
    main()
