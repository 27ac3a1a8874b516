"""From threads to browsers: slow readers miss items, and leaving is not an error."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from starlette.websockets import WebSocketDisconnect

from warpzone.dashboard.streaming import LatestOnly, is_confirmation, send, until_one_ends


async def _taken(latest: LatestOnly) -> Any:
    return await asyncio.wait_for(latest.take(), 10)


def test_a_reader_gets_the_newest_item() -> None:
    async def check() -> None:
        latest = LatestOnly()
        for number in range(5):
            latest.put(number)
        assert await _taken(latest) == 4

    asyncio.run(check())


def test_a_reader_that_does_not_confirm_has_two_items_in_flight() -> None:
    async def check() -> None:
        latest = LatestOnly()
        for number in (1, 2):
            latest.put(number)
            assert await _taken(latest) == number
        latest.put(3)
        waiting = asyncio.ensure_future(latest.take())
        await asyncio.sleep(0)
        assert not waiting.done()
        latest.put(4)
        latest.confirm()
        assert await asyncio.wait_for(waiting, 10) == 4, "the third was never sent"

    asyncio.run(check())


def test_what_was_never_sent_cannot_be_confirmed() -> None:
    async def check() -> None:
        latest = LatestOnly()
        for _ in range(100):
            latest.confirm()
        for number in (1, 2):
            latest.put(number)
            assert await _taken(latest) == number
        latest.put(3)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(latest.take(), 0.05)

    asyncio.run(check())


@pytest.mark.parametrize(
    ("message", "expected"),
    [({"shown": True}, True), ({"shown": 1}, False), ({"detail": 3}, False), ({}, False)],
)
def test_only_a_plain_confirmation_counts(message: dict[str, Any], expected: bool) -> None:
    assert is_confirmation(message) is expected


class _ClosedSocket:
    """A connection that the server has closed since the browser did not answer pings."""

    async def send_bytes(self, data: bytes) -> None:
        raise RuntimeError("Unexpected ASGI message 'websocket.send'")

    send_json = send_bytes


@pytest.mark.parametrize("message", [b"frame", {"status": "waiting"}])
def test_sending_to_a_closed_connection_ends_the_work_quietly(message: Any) -> None:
    socket: Any = _ClosedSocket()

    async def check() -> None:
        with pytest.raises(WebSocketDisconnect):
            await send(socket, message)
        await until_one_ends(send(socket, message), asyncio.sleep(60))

    asyncio.run(check())
