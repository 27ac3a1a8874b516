"""From threads that make frames to browsers that read them, and back."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable
from typing import Any

from starlette.websockets import WebSocketDisconnect


class LatestOnly:
    """Hands the newest item from a thread to a coroutine; a slow reader misses what is older."""

    def __init__(self) -> None:
        """Belongs to the running event loop."""
        self._loop = asyncio.get_running_loop()
        self._event = asyncio.Event()
        self._item: Any = None

    def put(self, item: Any) -> None:
        """Replaces what was not taken yet; called from any thread."""
        self._item = item
        # A loop that is closed has no reader any more.
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._event.set)

    async def take(self) -> Any:
        """Waits for the next item."""
        await self._event.wait()
        self._event.clear()
        return self._item


def parse_message(text: str) -> dict[str, Any]:
    """A message of the browser; an empty one for anything that is not a JSON object."""
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}


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
