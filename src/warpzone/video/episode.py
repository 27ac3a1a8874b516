"""One filmed episode of a policy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from warpzone.evaluate.policies import Policy
from warpzone.video.overlay import beside, draw_overlay, show_observation
from warpzone.video.recorded_env import FRAMES_PER_SECOND, RecordedEnv
from warpzone.video.writer import Frame

_DEATH_CAUSES = ("", "killed by an enemy", "fallen into a pit", "out of time")
_FRAMES_AFTER_CLEAR = 4 * FRAMES_PER_SECOND
_FRAMES_AFTER_DEATH = 2 * FRAMES_PER_SECOND


@dataclass(frozen=True)
class Look:
    """What a film shows.

    Attributes:
        fps: Pictures for each second of the game's time, 60 at most.
        overlay: Draw the controller and some numbers below the screen.
        show_obs: Draw what the agent sees beside the screen.
    """

    fps: float = FRAMES_PER_SECOND
    overlay: bool = True
    show_obs: bool = False


@dataclass(frozen=True)
class Outcome:
    """How an episode went."""

    info: dict[str, Any]
    total_reward: float
    ended: bool

    def __str__(self) -> str:
        """One line for a person."""
        info = self.info
        if info["flag_get"]:
            end = "cleared"
        elif info["death"]:
            end = _DEATH_CAUSES[info["death_cause"]] or "died"
        else:
            end = "ended" if self.ended else "still running"
        seconds = info["frames"] / FRAMES_PER_SECOND
        return (
            f"{end} after {info['steps']} steps ({seconds:.1f} s), "
            f"progress {info['progress']} pixels, return {self.total_reward:.2f}"
        )


class Camera:
    """Turns the frames of a step into pictures, as many a second as asked for."""

    def __init__(self, look: Look, write: Callable[[Frame], None]) -> None:
        """Sends each picture to `write`."""
        self._look = look
        self._write = write
        self._frames = 0

    def shoot(self, env: RecordedEnv, obs: Any, text: dict[str, Any]) -> None:
        """Takes the pictures of the last step."""
        view = show_observation(obs) if self._look.show_obs else None
        for screen, buttons in env.frames:
            due = int(self._frames * self._look.fps / FRAMES_PER_SECOND)
            before = int((self._frames - 1) * self._look.fps / FRAMES_PER_SECOND)
            self._frames += 1
            if due == before and self._frames > 1:
                continue
            picture = beside(screen, view) if view is not None else screen
            self._write(draw_overlay(picture, buttons, text) if self._look.overlay else picture)


def record_episode(
    env: RecordedEnv,
    policy: Policy,
    write: Callable[[Frame], None],
    *,
    seed: int = 0,
    steps: int = 1500,
    look: Look | None = None,
    after_clear: int = _FRAMES_AFTER_CLEAR,
    on_step: Callable[[int], None] | None = None,
    notes: Callable[[], dict[str, Any]] | None = None,
) -> Outcome:
    """Plays an episode and hands every picture to `write`.

    Args:
        env: Made with the actions of the policy.
        policy: Chooses the actions.
        write: Takes a picture, such as `VideoWriter.write`.
        seed: Of the environment.
        steps: Most steps.
        look: What the pictures show.
        after_clear: Frames to film after a clear.
        on_step: Called with the number of steps done.
        notes: Gives more numbers to show below the screen, after each action.
    """

    def text() -> dict[str, Any]:
        return _text(info) | (notes() if notes is not None else {})

    camera = Camera(look or Look(), write)
    policy.reset()
    obs, info = env.reset(seed=seed)
    camera.shoot(env, obs, text())
    total, ended, step = 0.0, False, 0
    while step < steps and not ended:
        obs, reward, terminated, truncated, info = env.step(policy.act(obs, info, env.console))
        total += reward
        ended = terminated or truncated
        step += 1
        camera.shoot(env, obs, text())
        if on_step is not None:
            on_step(step)
    if info["flag_get"] or info["death"]:
        env.run_on(after_clear if info["flag_get"] else _FRAMES_AFTER_DEATH)
        camera.shoot(env, obs, text())
    return Outcome(info, total, ended)


def _text(info: dict[str, Any]) -> dict[str, Any]:
    return {"": f"{info['world']}-{info['stage']}", "x": info["x_pos"], "step": info["steps"]}
