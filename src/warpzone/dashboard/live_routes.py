"""The WebSocket of the live wall: frames to the browser, the enlarged environment from it."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from fastapi import APIRouter, WebSocket, WebSocketDisconnect

from warpzone.dashboard.live_player import LiveMoment
from warpzone.dashboard.live_wall import Viewer
from warpzone.dashboard.state import state_of_request
from warpzone.dashboard.streaming import (
    LatestOnly,
    is_confirmation,
    parse_message,
    send,
    until_one_ends,
)
from warpzone.errors import RunError

router = APIRouter()

_MOST_ENV = 1 << 16


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
        with suppress(WebSocketDisconnect):  # The browser may have left in the meantime.
            await socket.send_json({"status": str(error)})
            await socket.close()
        return
    try:
        await until_one_ends(_send(socket, latest, viewer), _receive(socket, latest, viewer))
    finally:
        shown.remove(viewer)


async def _send(socket: WebSocket, latest: LatestOnly, viewer: Viewer) -> None:
    while True:
        item: LiveMoment | str = await latest.take()
        if isinstance(item, str):
            await send(socket, {"status": item})
            latest.confirm()
            continue
        await send(socket, item.wall)
        detail = item.details.get(-1 if viewer.detail is None else viewer.detail)
        if detail is not None:
            await send(socket, {"detail": detail[0]})
            for message in detail[1]:
                await send(socket, message)


async def _receive(socket: WebSocket, latest: LatestOnly, viewer: Viewer) -> None:
    while True:
        message = parse_message(await socket.receive_text())
        if is_confirmation(message):
            latest.confirm()
            continue
        detail = message.get("detail")
        valid = type(detail) is int and 0 <= detail < _MOST_ENV
        viewer.detail = detail if valid else None
