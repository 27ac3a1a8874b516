"""Watching policies: which there are, and a WebSocket per game."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query, WebSocket

from warpzone import _native
from warpzone.dashboard.run_routes import State
from warpzone.dashboard.state import state_of_request
from warpzone.dashboard.streaming import (
    LatestOnly,
    is_confirmation,
    parse_message,
    send,
    until_one_ends,
)
from warpzone.dashboard.watch_session import WatchSession
from warpzone.rom.image import SMB

router = APIRouter()

_MOST_GAMES = 16


@router.get("/api/policies")
def policies(state: State) -> dict[str, Any]:
    """Policies and levels to choose from."""
    return {"policies": state.policies.rows(), "levels": _native.level_names(SMB)}


@router.websocket("/ws/watch")
async def watch(
    socket: WebSocket,
    policy: Annotated[str, Query(max_length=1000)],
    level: Annotated[str | None, Query(max_length=20)] = None,
) -> None:
    """Shows a policy that plays, until the browser leaves."""
    await socket.accept()
    state = state_of_request(socket)
    if len(state.games) >= _MOST_GAMES:
        await socket.send_json({"status": f"{_MOST_GAMES} games are being watched already"})
        await socket.close()
        return
    latest = LatestOnly()
    session = WatchSession(partial(state.policies.load, policy), level or None, latest.put)
    state.games.add(session)
    try:
        await until_one_ends(_send(socket, latest), _receive(socket, latest, session))
    finally:
        session.close()
        state.games.discard(session)


async def _send(socket: WebSocket, latest: LatestOnly) -> None:
    while True:
        item = await latest.take()
        if isinstance(item, str):
            await send(socket, {"status": item})
            latest.confirm()
            continue
        facts, frame = item
        await send(socket, {"facts": facts})
        await send(socket, frame)


async def _receive(socket: WebSocket, latest: LatestOnly, session: WatchSession) -> None:
    while True:
        message = parse_message(await socket.receive_text())
        if is_confirmation(message):
            latest.confirm()
        else:
            session.tell(message)
