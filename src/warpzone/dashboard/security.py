"""Who may talk to the dashboard: token, Host, Origin, CSRF, sizes, and what a page may load."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from warpzone.dashboard.settings import Settings

CSRF_HEADER = "x-warpzone-csrf"
LARGEST_BODY = 64 * 1024
_LARGEST_QUERY = 8 * 1024
_SAFE_METHODS = ("GET", "HEAD")
_POLICY_VIOLATION = 1008  # Close code of WebSockets.

_PAGE_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
        "media-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


def csrf_token(token: str) -> str:
    """What changes must carry in a header; a page of another site cannot read it."""
    return hmac.new(token.encode(), b"csrf", hashlib.sha256).hexdigest()


class Gatekeeper:
    """ASGI middleware in front of everything, static files included."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        """Wraps an application."""
        self._app, self._settings = app, settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on, or refuses it with a sentence."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refusal = self._refusal(scope, headers)
        if scope["type"] == "websocket":
            if refusal is not None:
                await _close(receive, send)
                return
            await self._app(scope, receive, send)
            return
        protected = _with_headers(send)
        if refusal is None and _query(scope).get("token") is not None:
            refusal = self._welcome(scope)
        if refusal is not None:
            await refusal(scope, receive, protected)
            return
        await self._app(scope, _limited(receive), protected)

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        settings = self._settings
        if len(scope.get("query_string", b"")) > _LARGEST_QUERY:
            return PlainTextResponse("The address is too long.", 414)
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not settings.allows_host(hosts[0]):
            return PlainTextResponse("This server does not answer to that name.", 421)
        # A WebSocket is not bound by the same-origin policy, so it must say where it comes from.
        origin = headers.get("origin")
        needs_origin = scope["type"] == "websocket"
        if (origin is None and needs_origin) or (
            origin is not None and not _same_origin(origin, hosts[0])
        ):
            return PlainTextResponse("Requests from other sites are refused.", 403)
        if not self._knows_token(scope, headers):
            return PlainTextResponse(
                "This dashboard needs its token: open the address that `warpzone dashboard` "
                "printed.",
                401,
            )
        if scope["type"] == "http" and scope["method"] not in _SAFE_METHODS:
            return self._refused_change(headers)
        return None

    def _refused_change(self, headers: Headers) -> Response | None:
        if self._settings.read_only:
            return PlainTextResponse("This dashboard is read-only.", 403)
        given = headers.get(CSRF_HEADER, "")
        if not hmac.compare_digest(given.encode(), csrf_token(self._settings.token).encode()):
            return PlainTextResponse("The page is out of date: reload it.", 403)
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > LARGEST_BODY:
            return PlainTextResponse("The request is too large.", 413)
        return None

    def _knows_token(self, scope: Scope, headers: Headers) -> bool:
        scheme, _, bearer = headers.get("authorization", "").partition(" ")
        given = [
            _query(scope).get("token", ""),
            _cookie(headers, self._settings.cookie),
            bearer if scheme.lower() == "bearer" else "",
        ]
        right = self._settings.token.encode()
        return any(hmac.compare_digest(text.encode(), right) for text in given)

    def _welcome(self, scope: Scope) -> Response:
        """Moves the token from the address to a cookie, so that it is not in the history."""
        rest = {name: value for name, value in _query(scope).items() if name != "token"}
        target = scope["path"] + (f"?{urlencode(rest)}" if rest else "")
        # One slash: '//host/' would lead to another server.
        response = RedirectResponse("/" + target.lstrip("/"), 303)
        response.set_cookie(
            self._settings.cookie, self._settings.token, httponly=True, samesite="strict"
        )
        return response


def _query(scope: Scope) -> Mapping[str, str]:
    text = scope.get("query_string", b"").decode("latin-1")
    return dict(parse_qsl(text, keep_blank_values=True))


def _cookie(headers: Headers, name: str) -> str:
    try:
        morsel = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return ""
    return "" if morsel is None else morsel.value


def _same_origin(origin: str, host: str) -> bool:
    name = host.strip().lower()
    return origin.lower() in (f"http://{name}", f"https://{name}")


async def _close(receive: Receive, send: Send) -> None:
    await receive()  # The connection request.
    await send({"type": "websocket.close", "code": _POLICY_VIOLATION})


def _with_headers(send: Send) -> Send:
    async def protected(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _PAGE_HEADERS.items():
                headers[name] = value
            headers.setdefault("cache-control", "no-cache")
        await send(message)

    return protected


def _limited(receive: Receive) -> Receive:
    """Ends a body without a length that grows too large."""
    received = 0

    async def limited() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > LARGEST_BODY:
            return {"type": "http.disconnect"}
        return message

    return limited
