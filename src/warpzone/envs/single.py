"""The single environment: short and readable, the reference for the vector environment.

It is built from a machine and from single pieces of game knowledge; frame skipping, sticky actions,
stacking and ends are spelled out here. Tests compare the native vector environment with it, step by
step and bit by bit. With `backend="nes-py"` the machine is another one, and nothing else.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Unpack

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from warpzone import _native
from warpzone.envs.actions import parse_buttons
from warpzone.envs.backends.machine import Backend, Machine, make_machine
from warpzone.envs.backends.start import Start
from warpzone.envs.checks import check_render_mode, checked_option, checked_state
from warpzone.envs.console import Console
from warpzone.envs.endings import RUNNING, STAGNATION, STEP_LIMIT, end_number, is_truncation
from warpzone.envs.options import EnvOptions, RenderMode, Weight, check_keywords
from warpzone.envs.random_stream import RandomStream
from warpzone.envs.rules import make_rules
from warpzone.envs.setup import WHOLE_GAME, observation_space, prepare, reward_weights
from warpzone.errors import ClosedError, ConfigError

_FRAMES_PER_SECOND = 60
_RANDOM_REGISTER = 0x7A7  # Address of the game's random number generator.
_BLOCKS_ACROSS = 21  # Blocks of one button that fit side by side.

Obs = Any  # Stacked images, or a dict of tiles and features.


class MarioEnv(gym.Env[Obs, np.int64]):
    """Super Mario Bros. as a Gymnasium environment."""

    # As in Gymnasium: the class has one, and an instance may have its own.
    metadata: dict[str, Any] = {  # noqa: RUF012
        "render_modes": ["rgb_array"],
        "render_fps": _FRAMES_PER_SECOND,
    }

    def __init__(
        self,
        level: str | Sequence[str] = "1-1",
        *,
        render_mode: RenderMode | None = None,
        backend: Backend = "native",
        strict_stage: bool = False,
        **options: Unpack[EnvOptions],
    ) -> None:
        """Makes an environment.

        Args:
            level: Levels to play: '1-1', '1-1,1-2', '1-1..1-4', a list, 'all', or 'game'.
            render_mode: None or 'rgb_array'.
            backend: The machine: our own console, or 'nes-py'.
            strict_stage: Fail when the machine begins another level than the one asked for.
            options: As for `warpzone.make_vec`; `autoreset` has no meaning here.
        """
        check_render_mode(render_mode)
        check_keywords(options, "render_mode", "backend", "strict_stage")
        self._setup = prepare(level, **options)
        self._config = config = self._setup.config
        self._weights = self._setup.weights
        self.render_mode = render_mode
        self.metadata = {**self.metadata, "render_fps": _FRAMES_PER_SECOND // config.frame_skip}
        self._image = _native.ImageWriter(config, self._setup.game)
        self._machine = self._make_machine(backend, strict_stage)
        stack = _native.stack_of(config, self._setup.game)
        self._frames: deque[NDArray[np.uint8]] = deque(maxlen=stack)
        self._rules = make_rules(self._setup, self._machine)
        self._random: RandomStream | None = None
        self._level: str = config.level[0]
        self._buttons = 0
        self._second_buttons = 0
        self._run_steps = 0
        self._ended = True
        self._closed = False
        self.observation_space = observation_space(
            config, self._image.height, self._image.width, stack
        )
        self.action_space = self._setup.action_space

    def _make_machine(self, backend: Backend, strict_stage: bool) -> Machine:
        """Makes the machine; subclasses may choose another one."""
        return make_machine(backend, self._setup, self._image, strict_stage=strict_stage)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Obs, dict[str, Any]]:
        """Begins an episode; `options={"state": blob}` begins it at a save state."""
        self._check_open()
        super().reset(seed=seed)
        if seed is not None:
            self._random = RandomStream(seed)
        elif self._random is None:
            self._random = RandomStream(int(self.np_random.integers(2**63)))
        config = self._config
        if config.level_order == "random" and len(config.level) > 1:
            self._level = config.level[self._random.below(len(config.level))]
        announced = self._begin(options)
        if config.reseed_game:
            self._reseed_game()
        self._buttons = 0
        if announced:
            self._arrive()
        else:
            if config.noop_max > 0:
                self._run_frames(self._random.below(config.noop_max + 1))
            self._show_first_frame()
        self._ended = False
        self._rules.begin(self._level)
        return self._observation(), self._rules.info()

    def step(self, action: Any) -> tuple[Obs, float, bool, bool, dict[str, Any]]:
        """Holds the action's buttons for `frame_skip` frames."""
        self._check_open()
        actions = self._config.actions
        if not _is_whole(action) or not 0 <= int(action) < len(actions):
            raise ConfigError(
                f"action {action!r} does not exist; actions are 0 to {len(actions) - 1}"
            )
        if self._ended:
            raise gym.error.ResetNeeded("the episode has ended: call reset() first")
        self._frames.append(self._play(actions[int(action)]))
        reward = self._rules.finish_step(self._weights, self._run_steps)
        self._run_steps += 1
        info = self._rules.info()
        end = self._end_of_step(info)
        info["end_reason"] = end_number(end)
        truncated = is_truncation(end)
        terminated = end != RUNNING and not truncated
        self._ended = terminated or truncated
        return self._observation(), reward, terminated, truncated, info

    def render(self) -> NDArray[np.uint8] | None:
        """Returns the frame on the screen, 240 x 256 x 3."""
        self._check_open()
        return self._machine.screen if self.render_mode == "rgb_array" else None

    def close(self) -> None:
        """Frees the machine; closing again does nothing."""
        self._closed = True
        self._machine.close()

    def _check_open(self) -> None:
        if self._closed:
            raise ClosedError("this environment is closed; create a new one")

    @property
    def machine(self) -> Machine:
        """The machine the game runs on."""
        return self._machine

    @property
    def console(self) -> Console:
        """The machine, where it is our own console."""
        if not isinstance(self._machine, Console):
            raise ConfigError("this game runs on another machine than our console; see `machine`")
        return self._machine

    @property
    def level(self) -> str:
        """The level of this episode, or of the last one."""
        return self._level

    def set_second_controller(self, buttons: str | Sequence[str] | int) -> None:
        """Holds buttons on the second controller, from the next step until they are changed.

        The game reads it in two-player games only.

        Args:
            buttons: A combination such as 'RIGHT+A' or ['RIGHT', 'A'], or a controller byte.

        Raises:
            ConfigError: A button does not exist.
        """
        self._second_buttons = parse_buttons(buttons)

    def set_reward_weights(self, **weights: Weight) -> None:
        """Changes some reward weights, from the next step on."""
        self._weights = reward_weights({**self._weights.as_dict(), **weights})

    def ram(self) -> NDArray[np.uint8]:
        """Returns a copy of the machine's RAM."""
        self._check_open()
        return self._machine.ram.copy()

    def _play(self, buttons: int) -> NDArray[np.uint8]:
        """Runs the frames of a step and returns the newest images or grid."""
        config, skip = self._config, self._config.frame_skip
        draws = config.obs != "tiles" or self.render_mode is not None
        pools = config.max_pool and skip > 1
        before = None
        self._rules.begin_step()
        for frame in range(skip):
            if frame == 0 or config.sticky == "frame":
                self._press(buttons)
            observed = frame == skip - 1 or (pools and frame == skip - 2)
            self._machine.run_frame(
                self._buttons, render=draws and observed, buttons2=self._second_buttons
            )
            moved = self._rules.follow_frame()
            if moved and draws and frame == skip - 1:
                self._machine.draw_ahead()
            if pools and frame == skip - 2:
                before = self._screen()
        return self._frame(before)

    def _press(self, buttons: int) -> None:
        """Presses the buttons, unless those before them stick."""
        assert self._random is not None
        sticky_prob = self._config.sticky_prob
        if not (sticky_prob > 0 and self._random.uniform() < sticky_prob):
            self._buttons = buttons

    def _screen(self) -> NDArray[np.uint8]:
        """Planes of the whole screen: brightness, or red, green and blue."""
        return self._machine.rgb() if self._config.obs == "rgb" else self._machine.grey()[None]

    def _frame(self, before: NDArray[np.uint8] | None = None) -> NDArray[np.uint8]:
        """The images or the grid of this moment; images may be pooled with a screen before."""
        if self._config.obs == "tiles":
            return _native.tiles(self._machine.ram)
        screen = self._screen() if before is None else np.maximum(before, self._screen())
        images = np.stack([self._image.resize(plane) for plane in screen])
        if self._config.show_buttons:
            self._draw_buttons(images[0])
        return images

    def _draw_buttons(self, image: NDArray[np.uint8]) -> None:
        """Draws the buttons of the last frame into the corner of an image."""
        side = max(1, min(image.shape) // _BLOCKS_ACROSS)
        for button in range(8):
            shown = 255 if self._buttons >> button & 1 else 0
            image[:side, button * side : (button + 1) * side] = shown

    def _begin(self, options: dict[str, Any] | None) -> bool:
        """Goes to a save state where there is one, and else to the start of the level.

        Returns:
            Whether the level starts as within a whole game.
        """
        state = checked_option(options, "state")
        if state is not None:
            self._machine.resume(checked_state(state))
        elif self._config.start_state:
            self._machine.resume(bytes(self._config.start_state))
        else:
            start = self._draw_start()
            self._machine.begin(self._level, start)
            return start.announced
        return False

    def _arrive(self) -> None:
        """Enters a level as within a game.

        That is in the middle of a step, with the buttons of that step already held. The older
        frames of the observation still show the announcement.
        """
        assert self._random is not None
        config = self._config
        self._buttons = config.actions[self._random.below(len(config.actions))]
        frames = _native.LEAD_FRAMES + self._random.below(config.frame_skip)
        before = max(0, frames - config.frame_skip)
        self._run_frames(before)
        self._show_first_frame()
        self._run_frames(frames - before)
        self._machine.draw_ahead()
        self._frames.append(self._frame())

    def _run_frames(self, count: int) -> None:
        for _ in range(count):
            self._machine.run_frame(self._buttons, render=False)

    def _show_first_frame(self) -> None:
        self._machine.draw_ahead()  # A restored machine has drawn nothing yet.
        self._frames.extend([self._frame()] * (self._frames.maxlen or 1))

    def _draw_power(self) -> int:
        config = self._config
        assert self._random is not None
        if config.random_power > 0.0 and self._random.uniform() < config.random_power:
            return 1 + self._random.below(2)
        return int(config.power)

    def _draw_start(self) -> Start:
        """How the level starts: possibly as within a whole game."""
        assert self._random is not None
        config = self._config
        start = Start(self._draw_power(), config.halfway)
        probability = config.game_start_prob
        if self._level == WHOLE_GAME or probability == 0.0 or self._random.uniform() >= probability:
            return start
        halfway = self._random.below(2) == 1 or config.halfway
        return replace(start, announced=True, halfway=halfway)

    def _reseed_game(self) -> None:
        assert self._random is not None
        number = self._random.below(_native.RANDOM_REGISTERS)
        for index, value in enumerate(_native.random_register(number)):
            self._machine.poke(_RANDOM_REGISTER + index, value)

    def _observation(self) -> Obs:
        if self._config.obs == "tiles":
            features = _native.features(self._machine.ram, self._buttons)
            return {"tiles": np.concatenate(self._frames), "features": features}
        images = np.concatenate(self._frames)
        if self._config.obs == "rgb" and self._config.channels == "last":
            return np.ascontiguousarray(np.moveaxis(images, 0, 2))
        return images

    def _end_of_step(self, info: dict[str, Any]) -> str:
        """Why the step just taken ends the episode."""
        end, config = self._rules.judge(), self._config
        if end != RUNNING:
            return end
        if config.max_steps > 0 and info["steps"] >= config.max_steps:
            return STEP_LIMIT
        limit = config.stagnation_limit * config.frame_skip
        return STAGNATION if limit > 0 and info["stagnation"] >= limit else RUNNING


def _is_whole(action: Any) -> bool:
    """Whether `action` is one whole number; a NumPy array without axes counts."""
    if isinstance(action, np.ndarray):
        return action.ndim == 0 and action.dtype.kind in "iu"
    return isinstance(action, int | np.integer)
