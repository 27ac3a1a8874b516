"""Running the dashboard: socket, address, browser, a clean end."""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import sys
import threading
import webbrowser
from collections.abc import Iterator
from dataclasses import replace

from warpzone.dashboard.settings import Settings
from warpzone.errors import ServerError
from warpzone.system.extras import require_extra
from warpzone.system.os_errors import describe_os_error
from warpzone.system.output import say

_MOST_CONNECTIONS = 200
_LARGEST_MESSAGE = 64 * 1024  # Of a WebSocket; what browsers send is small.
_QUEUED_BYTES = 1
_CLOSE_SECONDS = 2


def listen(settings: Settings) -> tuple[socket.socket, Settings]:
    """Opens the socket; port 0 becomes a free one.

    Raises:
        ServerError: The address is not available.
    """
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((settings.host, settings.port))
        listener.listen(128)
    except (OSError, TypeError, ValueError) as error:  # Of names that cannot be looked up.
        listener.close()
        if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
            reason = "the port is in use; give another one with --port, or --port 0 for a free one"
        else:
            reason = describe_os_error(error) if isinstance(error, OSError) else str(error)
        raise ServerError(
            f"cannot listen on {settings.host} port {settings.port}: {reason}"
        ) from error
    return listener, replace(settings, port=listener.getsockname()[1])


def serve(settings: Settings, *, browser: bool, page: str = "") -> None:
    """Serves until Ctrl-C.

    Args:
        settings: What is served, and to whom.
        browser: Whether to open a browser.
        page: The page to begin with, such as '#/watch'.

    Raises:
        MissingExtraError: The server's packages are not installed.
        ServerError: The address is not available.
    """
    with running(settings) as (server, address):
        say(f"dashboard: {address}{page}")
        if not settings.is_loopback:
            say(
                f"warning: everyone who can reach {settings.host} and knows the token can see the "
                "runs" + (" and steer them" if not settings.read_only else "")
            )
        if browser and _has_desktop():
            webbrowser.open(address + page)
        try:
            while server.is_alive():
                server.join(0.5)
        except KeyboardInterrupt:
            say("the dashboard was stopped; runs continue")


def _has_desktop() -> bool:
    """Whether a browser would open in a window; elsewhere it would take over the terminal."""
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


@contextlib.contextmanager
def running(settings: Settings) -> Iterator[tuple[threading.Thread, str]]:
    """Serves in a thread inside the block.

    Yields:
        The thread, and the address with its token.
    """
    require_extra("dashboard")
    import uvicorn

    from warpzone.dashboard.app import make_app
    from warpzone.dashboard.state import ServerState

    listener, settings = listen(settings)
    state = ServerState.of(settings)
    state.catalog.warm_up()
    config = uvicorn.Config(
        make_app(state),
        log_level="error",
        access_log=False,
        server_header=False,
        limit_concurrency=_MOST_CONNECTIONS,
        ws="websockets-sansio",
        ws_max_size=_LARGEST_MESSAGE,
        ws_max_queue=_QUEUED_BYTES,
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=_CLOSE_SECONDS,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(
        target=server.run, kwargs={"sockets": [listener]}, name="dashboard", daemon=True
    )
    thread.start()
    try:
        yield thread, f"{settings.address}?token={settings.token}"
    finally:
        server.should_exit = True
        thread.join(_CLOSE_SECONDS + 3)
        listener.close()
