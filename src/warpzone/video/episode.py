"""Recording one episode of a policy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpzone.envs.endings import CLEAR, end_name, is_death
from warpzone.evaluation.policies import Policy
from warpzone.video.overlay import draw_overlay, observation_image, side_by_side
from warpzone.video.recorded_env import FRAMES_PER_SECOND, RecordedEnv
from warpzone.video.resampling import Resampler
from warpzone.video.wrapped_recording import WrappedRecording
from warpzone.video.writer import Frame

WriteSound = Callable[[NDArray[np.float32]], None]

_FRAMES_AFTER_CLEAR = 4 * FRAMES_PER_SECOND
_FRAMES_AFTER_DEATH = 2 * FRAMES_PER_SECOND
_FRAMES_KEPT = FRAMES_PER_SECOND  # At a time, of what follows the episode.


@dataclass(frozen=True)
class VideoOptions:
    """What the recorded frames show.

    Attributes:
        fps: Frames per second of video.
        speed: Speed of the game in the video; 1 is the game's own.
        overlay: Draw the controller and some values below the screen.
        show_obs: Draw the observation next to the screen.
    """

    fps: float = FRAMES_PER_SECOND
    speed: float = 1.0
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
    """Writes the emulated frames of each step, resampled to the requested rate and speed."""

    def __init__(
        self,
        options: VideoOptions,
        write: Callable[[Frame], None],
        write_sound: WriteSound | None = None,
    ) -> None:
        """Creates a recorder that passes each frame to `write` and its sound to `write_sound`."""
        self._options = options
        self._write = write
        self._write_sound = write_sound
        self.set_speed(options.speed)

    def set_speed(self, speed: float) -> None:
        """Sets the speed of the game in the frames that follow."""
        self._resampler = Resampler(self._options.fps / speed / FRAMES_PER_SECOND)

    def record_step(
        self, env: RecordedEnv | WrappedRecording, obs: Any, caption: Sequence[str]
    ) -> None:
        """Writes the frames of the last step."""
        if self._write_sound is not None:
            for samples in env.sounds:
                self._write_sound(samples)
        view = observation_image(obs) if self._options.show_obs else None
        for screen, buttons in env.frames:
            copies = self._resampler.copies()
            if copies == 0:
                continue
            frame = side_by_side(screen, view) if view is not None else screen
            if self._options.overlay:
                frame = draw_overlay(frame, buttons, caption)
            for _ in range(copies):
                self._write(frame)


def record_episode(
    env: RecordedEnv | WrappedRecording,
    policy: Policy,
    write: Callable[[Frame], None],
    *,
    seed: int = 0,
    steps: int = 1500,
    options: VideoOptions | None = None,
    after_clear: int = _FRAMES_AFTER_CLEAR,
    speed_after_clear: float | None = None,
    on_step: Callable[[int], None] | None = None,
    extra_text: Callable[[], dict[str, Any]] | None = None,
    write_sound: WriteSound | None = None,
) -> Outcome:
    """Plays an episode and passes every recorded frame to `write`.

    Args:
        env: Environment created with the policy's actions.
        policy: Policy that selects the actions.
        write: Called with each frame, for example `VideoWriter.write`.
        seed: Seed of the environment.
        steps: Maximum number of steps.
        options: What the frames show.
        after_clear: Frames of the game to record after a clear.
        speed_after_clear: Speed of the game in these frames; by default as before.
        on_step: Called with the number of completed steps.
        extra_text: Returns more values to show below the screen, by name.
        write_sound: Called with the sound of each emulated frame, for example
            `VideoWriter.write_sound`; `env.console.set_sound` must have been called.

    Returns:
        How the episode ended.
    """
    options = options or VideoOptions()
    speed = options.speed

    def caption(end: str = "") -> list[str]:
        extra = extra_text() if extra_text is not None and not end else {}
        return _caption(info, speed, end, extra)

    recorder = FrameRecorder(options, write, write_sound)
    policy.reset()
    obs, info = env.reset(seed=seed)
    recorder.record_step(env, obs, caption())
    total, ended, step = 0.0, False, 0
    while step < steps and not ended:
        obs, reward, terminated, truncated, info = env.step(policy.act(obs, info, env.console))
        total += reward
        ended = terminated or truncated
        step += 1
        recorder.record_step(env, obs, caption())
        if on_step is not None:
            on_step(step)
    outcome = Outcome(info, total)
    if outcome.cleared or is_death(outcome.end):
        remaining = after_clear if outcome.cleared else _FRAMES_AFTER_DEATH
        if outcome.cleared and speed_after_clear is not None:
            speed = speed_after_clear
            recorder.set_speed(speed)
        while remaining > 0:
            env.run_idle(min(remaining, _FRAMES_KEPT))
            recorder.record_step(env, obs, caption(outcome.end))
            remaining -= _FRAMES_KEPT
    return outcome


def _caption(info: dict[str, Any], speed: float, end: str, extra: dict[str, Any]) -> list[str]:
    """Two short lines: where the agent is, and what it expects or how the episode ended."""
    first = f"level {info['world']}-{info['stage']}  step {info['steps']}"
    if speed != 1:
        first += f"  {speed:g}x speed"
    second = f"position {info['x_pos']}"
    if end:
        second += "  cleared" if end == CLEAR else f"  ended by: {end}"
    return [first, "  ".join([second, *(f"{name} {value}" for name, value in extra.items())])]
