"""A game at its own pace, in a thread: what the browser asks for is done between two steps."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from warpzone.dashboard.watch_game import WatchGame
from warpzone.errors import WarpzoneError
from warpzone.evaluation.trained import TrainedPolicy

_REWIND_STEPS = 15
_IDLE_SECONDS = 0.05
_END_SECONDS = 1.5
_SLOWEST, _FASTEST = 0.1, 8.0
_MOST_WAITING = 100

Publish = Callable[[tuple[dict[str, Any], bytes] | str], None]
"""Takes facts and a frame, or a sentence about why there is no game."""


@dataclass
class Controls:
    """What the person at the browser has chosen."""

    speed: float = 1.0
    paused: bool = False
    taken_over: bool = False
    buttons: int = 0


class WatchSession:
    """Plays until it is closed."""

    def __init__(
        self, load: Callable[[], TrainedPolicy], level: str | None, publish: Publish
    ) -> None:
        """Starts the thread.

        Args:
            load: Loads the policy.
            level: Level to play; by default the first one that the policy was trained on.
            publish: Called from the thread.
        """
        self._load, self._level, self._publish = load, level, publish
        self._messages: queue.Queue[dict[str, Any] | None] = queue.Queue(_MOST_WAITING)
        self._controls = Controls()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._work, name="watch", daemon=True)
        self._thread.start()

    def tell(self, message: dict[str, Any]) -> None:
        """Passes a message of the browser on; a flood of them is dropped."""
        try:
            self._messages.put_nowait(message)
        except queue.Full:
            return

    def close(self) -> None:
        """Ends the game."""
        self._closed.set()

    def _work(self) -> None:
        torch.set_num_threads(1)  # Cores belong to training.
        try:
            game = WatchGame(self._load(), self._level)
        except WarpzoneError as error:
            self._publish(str(error))
            return
        try:
            self._play(game)
        finally:
            game.close()

    def _play(self, game: WatchGame) -> None:
        self._show(game)
        due = time.monotonic()
        while not self._closed.is_set():
            if self._obey(game):
                self._show(game)
            controls = self._controls
            if controls.paused:
                self._closed.wait(_IDLE_SECONDS)
                due = time.monotonic()
                continue
            game.step(controls.buttons if controls.taken_over else None)
            self._show(game)
            pause = _END_SECONDS if game.has_ended else game.seconds_per_step / controls.speed
            due = max(due + pause, time.monotonic() - pause)
            self._closed.wait(max(0.0, due - time.monotonic()))

    def _show(self, game: WatchGame) -> None:
        controls = self._controls
        state = {"paused": controls.paused, "taken_over": controls.taken_over}
        self._publish((game.facts | state, game.frame))

    def _obey(self, game: WatchGame) -> bool:
        """Does what the browser asked for; True if there was anything."""
        obeyed = False
        while True:
            try:
                message = self._messages.get_nowait()
            except queue.Empty:
                return obeyed
            if message is not None:
                self._carry_out(game, message)
                obeyed = True

    def _carry_out(self, game: WatchGame, message: dict[str, Any]) -> None:
        controls = self._controls
        speed, buttons = message.get("speed"), message.get("buttons")
        if isinstance(speed, int | float) and not isinstance(speed, bool):
            controls.speed = min(_FASTEST, max(_SLOWEST, float(speed)))
        if type(buttons) is int:
            controls.buttons = buttons & 0xFF
        if isinstance(message.get("paused"), bool):
            controls.paused = message["paused"]
        if isinstance(message.get("taken_over"), bool):
            controls.taken_over = message["taken_over"]
        if isinstance(message.get("sticky"), bool):
            game.set_sticky(message["sticky"])
        if message.get("rewind") is True:
            game.rewind(_REWIND_STEPS)
        if message.get("restart") is True:
            game.restart()
        if message.get("step") is True and controls.paused:
            game.step(controls.buttons if controls.taken_over else None)
