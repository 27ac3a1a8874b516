"""From threads that make frames to browsers that read them, and back."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

_IN_FLIGHT = 2  # One that is shown, and one on its way.


class LatestOnly:
    """Hands the newest item from a thread to a coroutine; a slow reader misses what is older.

    The browser confirms what it has received. Without that, seconds of frames would wait in the
    buffers of a slow connection, and its answers to pings behind them.
    """

    def __init__(self) -> None:
        """Belongs to the running event loop."""
        self._loop = asyncio.get_running_loop()
        self._event = asyncio.Event()
        self._free = asyncio.Semaphore(_IN_FLIGHT)
        self._in_flight = 0
        self._item: Any = None

    def put(self, item: Any) -> None:
        """Replaces what was not taken yet; called from any thread."""
        self._item = item
        # A loop that is closed has no reader any more.
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._event.set)

    async def take(self) -> Any:
        """Waits until few enough items are in flight, and for the next one."""
        await self._free.acquire()
        self._in_flight += 1
        await self._event.wait()
        self._event.clear()
        return self._item

    def confirm(self) -> None:
        """An item has arrived; what was never sent cannot be confirmed."""
        if self._in_flight:
            self._in_flight -= 1
            self._free.release()


def parse_message(text: str) -> dict[str, Any]:
    """A message of the browser; an empty one for anything that is not a JSON object."""
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}


def is_confirmation(message: dict[str, Any]) -> bool:
    """Whether the browser says that frames have arrived."""
    return message.get("shown") is True


async def send(socket: WebSocket, message: bytes | dict[str, Any]) -> None:
    """Sends bytes, or a dict as JSON.

    Raises:
        WebSocketDisconnect: The browser has left.
    """
    try:
        if isinstance(message, bytes):
            await socket.send_bytes(message)
        else:
            await socket.send_json(message)
    except RuntimeError as error:  # The server has closed a connection that did not answer.
        raise WebSocketDisconnect(reason=str(error)) from error


async def until_one_ends(*works: Awaitable[None]) -> None:
    """Runs coroutines until one ends, which a browser that leaves makes them do."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            error = task.exception()
            if error is not None and not isinstance(error, WebSocketDisconnect):
                raise error
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
