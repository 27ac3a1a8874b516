"""Recording one episode of a policy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from warpzone.envs.endings import CLEAR, end_name, is_death
from warpzone.evaluation.policies import Policy
from warpzone.video.overlay import draw_overlay, observation_image, side_by_side
from warpzone.video.recorded_env import FRAMES_PER_SECOND, RecordedEnv
from warpzone.video.wrapped_recording import WrappedRecording
from warpzone.video.writer import Frame

_FRAMES_AFTER_CLEAR = 4 * FRAMES_PER_SECOND
_FRAMES_AFTER_DEATH = 2 * FRAMES_PER_SECOND


@dataclass(frozen=True)
class VideoOptions:
    """What the recorded frames show.

    Attributes:
        fps: Recorded frames per second of game time, at most 60.
        overlay: Draw the controller and some values below the screen.
        show_obs: Draw the observation next to the screen.
    """

    fps: float = FRAMES_PER_SECOND
    overlay: bool = True
    show_obs: bool = False


@dataclass(frozen=True)
class Outcome:
    """How an episode ended."""

    info: dict[str, Any]
    total_reward: float

    @property
    def end(self) -> str:
        """Why it ended: a name of `warpzone.envs.endings.END_REASONS`."""
        return end_name(int(self.info["end_reason"]))

    @property
    def cleared(self) -> bool:
        """Whether the level, or the whole game, was cleared."""
        return self.end == CLEAR

    def __str__(self) -> str:
        """Returns a one-line summary."""
        info = self.info
        seconds = info["frames"] / FRAMES_PER_SECOND
        return (
            f"{self.end} after {info['steps']} steps ({seconds:.1f} s), "
            f"progress {info['progress']} pixels, return {self.total_reward:.2f}"
        )


class FrameRecorder:
    """Writes the emulated frames of each step, resampled to the requested frame rate."""

    def __init__(self, options: VideoOptions, write: Callable[[Frame], None]) -> None:
        """Creates a recorder that passes each frame to `write`."""
        self._options = options
        self._write = write
        self._frames = 0

    def record_step(
        self, env: RecordedEnv | WrappedRecording, obs: Any, text: dict[str, Any]
    ) -> None:
        """Writes the frames of the last step."""
        view = observation_image(obs) if self._options.show_obs else None
        for screen, buttons in env.frames:
            due = int(self._frames * self._options.fps / FRAMES_PER_SECOND)
            before = int((self._frames - 1) * self._options.fps / FRAMES_PER_SECOND)
            self._frames += 1
            if due == before and self._frames > 1:
                continue
            frame = side_by_side(screen, view) if view is not None else screen
            self._write(draw_overlay(frame, buttons, text) if self._options.overlay else frame)


def record_episode(
    env: RecordedEnv | WrappedRecording,
    policy: Policy,
    write: Callable[[Frame], None],
    *,
    seed: int = 0,
    steps: int = 1500,
    options: VideoOptions | None = None,
    after_clear: int = _FRAMES_AFTER_CLEAR,
    on_step: Callable[[int], None] | None = None,
    extra_text: Callable[[], dict[str, Any]] | None = None,
) -> Outcome:
    """Plays an episode and passes every recorded frame to `write`.

    Args:
        env: Environment created with the policy's actions.
        policy: Policy that selects the actions.
        write: Called with each frame, for example `VideoWriter.write`.
        seed: Seed of the environment.
        steps: Maximum number of steps.
        options: What the frames show.
        after_clear: Frames to record after a clear.
        on_step: Called with the number of completed steps.
        extra_text: Called after each action; returns more values to show below the screen.

    Returns:
        How the episode ended.
    """

    def text() -> dict[str, Any]:
        return _text(info) | (extra_text() if extra_text is not None else {})

    recorder = FrameRecorder(options or VideoOptions(), write)
    policy.reset()
    obs, info = env.reset(seed=seed)
    recorder.record_step(env, obs, text())
    total, ended, step = 0.0, False, 0
    while step < steps and not ended:
        obs, reward, terminated, truncated, info = env.step(policy.act(obs, info, env.console))
        total += reward
        ended = terminated or truncated
        step += 1
        recorder.record_step(env, obs, text())
        if on_step is not None:
            on_step(step)
    outcome = Outcome(info, total)
    if outcome.cleared or is_death(outcome.end):
        env.run_idle(after_clear if outcome.cleared else _FRAMES_AFTER_DEATH)
        recorder.record_step(env, obs, text())
    return outcome


def _text(info: dict[str, Any]) -> dict[str, Any]:
    return {"": f"{info['world']}-{info['stage']}", "x": info["x_pos"], "step": info["steps"]}
