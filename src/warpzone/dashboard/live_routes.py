"""The WebSocket of the live wall: frames to the browser, the enlarged environment from it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable
from typing import Any

from fastapi import APIRouter, WebSocket, WebSocketDisconnect

from warpzone.dashboard.live_player import LiveMoment
from warpzone.dashboard.live_wall import Viewer
from warpzone.dashboard.state import state_of_request
from warpzone.errors import RunError

router = APIRouter()

_MOST_ENV = 1 << 16


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


@router.websocket("/ws/wall")
async def wall(socket: WebSocket, run: str) -> None:
    """Sends the games of a run until the browser leaves."""
    await socket.accept()
    state = state_of_request(socket)
    latest = LatestOnly()
    viewer = Viewer(latest.put)
    try:
        found = await asyncio.to_thread(state.catalog.find, run)
        shown = state.walls.watch(found, viewer)
    except RunError as error:
        await socket.send_json({"status": str(error)})
        await socket.close()
        return
    try:
        await _until_one_ends(_send(socket, latest, viewer), _receive(socket, viewer))
    finally:
        shown.remove(viewer)


async def _send(socket: WebSocket, latest: LatestOnly, viewer: Viewer) -> None:
    while True:
        item: LiveMoment | str = await latest.take()
        if isinstance(item, str):
            await socket.send_json({"status": item})
            continue
        await socket.send_bytes(item.wall)
        detail = item.details.get(-1 if viewer.detail is None else viewer.detail)
        if detail is not None:
            await socket.send_json({"detail": detail[0]})
            await socket.send_bytes(detail[1])


async def _receive(socket: WebSocket, viewer: Viewer) -> None:
    while True:
        message = parse_message(await socket.receive_text())
        detail = message.get("detail")
        valid = type(detail) is int and 0 <= detail < _MOST_ENV
        viewer.detail = detail if valid else None


def parse_message(text: str) -> dict[str, Any]:
    """A message of the browser; an empty one for anything that is not a JSON object."""
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}


async def _until_one_ends(*works: Awaitable[None]) -> None:
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
