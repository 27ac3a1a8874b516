"""The games of a run, live: one thread per watched run, any number of viewers.

The thread asks the run for a rollout, plays it again in real time and hands each moment to the
viewers. It asks for the next one while it plays. When the last viewer leaves, it ends, and with it
everything that watching costs the run.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from warpzone.dashboard.live_player import LiveMoment, LivePlayer
from warpzone.errors import RunError, WarpzoneError
from warpzone.runs.directory import RunDirectory
from warpzone.runs.listing import summarize_run
from warpzone.runs.live_rollout import (
    FRESH_SECONDS,
    MOST_ENVS,
    LiveRequest,
    LiveRollout,
    read_rollout,
    write_request,
)
from warpzone.runs.saved_config import saved_config
from warpzone.system.background_process import lower_thread_priority

_CONSOLE_FRAMES = 60  # Per second.
_LOOK_SECONDS = 0.05
_ASK_AGAIN_SECONDS = FRESH_SECONDS / 4

Publish = Callable[["LiveMoment | str"], None]
"""Takes a moment, or a sentence about why there is none; called from the wall's thread."""


@dataclass(eq=False)
class Viewer:
    """Somebody who watches.

    Attributes:
        publish: Takes moments and sentences.
        detail: The environment that is enlarged.
    """

    publish: Publish
    detail: int | None = None


class LiveWall:
    """The games of one run, for all of its viewers."""

    def __init__(self, run: RunDirectory, retire: Callable[[LiveWall, bool], bool]) -> None:
        """Begins when the first viewer comes.

        Args:
            run: The run.
            retire: Forgets the wall if nobody watches, or in any case; returns whether it did.
        """
        self._run, self._retire = run, retire
        self._viewers: list[Viewer] = []
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._asked: LiveRequest | None = None
        self._asked_at = 0.0

    def add(self, viewer: Viewer) -> None:
        """A viewer comes."""
        with self._lock:
            self._viewers.append(viewer)
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="wall", daemon=True)
            self._thread.start()

    def remove(self, viewer: Viewer) -> None:
        """A viewer leaves."""
        with self._lock:
            self._viewers.remove(viewer)

    def is_watched(self) -> bool:
        """Whether anybody watches."""
        return bool(self._viewers)

    def _details(self) -> tuple[int, ...]:
        with self._lock:
            wanted = [viewer.detail for viewer in self._viewers if viewer.detail is not None]
        return tuple(dict.fromkeys(wanted))

    def _publish(self, moment: LiveMoment | str) -> None:
        with self._lock:
            viewers = list(self._viewers)
        for viewer in viewers:
            viewer.publish(moment)

    def _work(self) -> None:
        lower_thread_priority()  # Where all cores are busy, training comes first.
        try:
            while not self._retire(self, False):
                self._show_games()
        except WarpzoneError as error:
            self._retire(self, True)
            self._publish(str(error))

    def _show_games(self) -> None:
        """Shows games until nobody watches."""
        config = saved_config(self._run.path)
        if config.env.vector != "native":
            raise RunError(f"games of --vector {config.env.vector} cannot be shown")
        count = min(MOST_ENVS, config.env.num_envs)
        player = LivePlayer(config, count)
        try:
            self._show(player, tuple(range(count)), config.env.frame_skip / _CONSOLE_FRAMES)
        finally:
            player.close()

    def _show(self, player: LivePlayer, envs: tuple[int, ...], pace: float) -> None:
        self._ask(envs)
        while self.is_watched():
            rollout = self._wait_for_rollout()
            if rollout is None:
                return
            self._ask(envs)
            player.set_reward(saved_config(self._run.path).reward)
            due = time.monotonic()
            for moment in player.play(rollout, _LiveDetails(self._details)):
                self._publish(moment)
                if not self.is_watched():
                    return
                self._keep_asking()
                due = max(due + pace, time.monotonic() - pace)
                time.sleep(max(0.0, due - time.monotonic()))

    def _ask(self, envs: tuple[int, ...]) -> None:
        self._asked = LiveRequest(secrets.token_hex(8), envs, self._details())
        self._asked_at = time.monotonic()
        write_request(self._run, self._asked)

    def _keep_asking(self) -> None:
        """A request counts only for a while, so that a killed dashboard costs nothing."""
        assert self._asked is not None
        if time.monotonic() - self._asked_at > _ASK_AGAIN_SECONDS:
            self._asked_at = time.monotonic()
            write_request(self._run, self._asked)

    def _wait_for_rollout(self) -> LiveRollout | None:
        assert self._asked is not None
        announced = ""
        looked = time.monotonic()
        while self.is_watched():
            rollout = read_rollout(self._run, self._asked.sequence)
            if rollout is not None:
                return rollout
            self._keep_asking()
            if time.monotonic() - looked > 1.0:
                looked = time.monotonic()
                state = summarize_run(self._run.path).state
                if state != announced:
                    self._publish(f"waiting for the next rollout; the run is {state}")
                    announced = state
            time.sleep(_LOOK_SECONDS)
        return None


class _LiveDetails:
    """The enlarged environments at the moment of asking."""

    def __init__(self, read: Callable[[], tuple[int, ...]]) -> None:
        self._read = read

    def __contains__(self, env: object) -> bool:
        return env in self._read()

    def __iter__(self) -> Any:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())


class LiveWalls:
    """The walls of all watched runs."""

    def __init__(self) -> None:
        """Begins without any."""
        self._walls: dict[str, LiveWall] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        """Number of runs that are watched."""
        return len(self._walls)

    def watch(self, run: RunDirectory, viewer: Viewer) -> LiveWall:
        """Adds a viewer to the wall of a run, which begins if there is none."""
        with self._lock:
            name = str(run.path)
            if name not in self._walls:
                self._walls[name] = LiveWall(run, partial(self._retire, name))
            self._walls[name].add(viewer)
            return self._walls[name]

    def _retire(self, name: str, wall: LiveWall, anyway: bool) -> bool:
        # Under the lock of `watch`: nobody can come between the question and the answer.
        with self._lock:
            if not anyway and wall.is_watched():
                return False
            if self._walls.get(name) is wall:
                del self._walls[name]
            return True
