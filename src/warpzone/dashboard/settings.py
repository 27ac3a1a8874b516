"""What a dashboard serves, and to whom."""

from __future__ import annotations

import ipaddress
import secrets
import socket
from dataclasses import dataclass, field
from pathlib import Path

LOOPBACK = "127.0.0.1"


def new_token() -> str:
    """A random token that nobody can guess."""
    return secrets.token_urlsafe(24)


@dataclass(frozen=True)
class Settings:
    """The settings of one server.

    Attributes:
        folder: Runs are looked for below it.
        host: Address to listen on.
        port: Port to listen on.
        token: What every visitor must present.
        read_only: Whether steering is switched off.
        policies: Folder of policies that the watch page offers.
    """

    folder: Path
    host: str = LOOPBACK
    port: int = 8420
    token: str = field(default_factory=new_token, repr=False)
    read_only: bool = False
    policies: Path = Path("policies")

    @property
    def cookie(self) -> str:
        """Name of the cookie; browsers share cookies among all ports of a host."""
        return f"warpzone_{self.port}"

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can connect."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def address(self) -> str:
        """Address of the page, without the token."""
        name = LOOPBACK if self.host == "0.0.0.0" else self.host
        return f"http://{f'[{name}]' if ':' in name else name}:{self.port}/"

    def allows_host(self, header: str) -> bool:
        """Whether the Host header of a request names this server.

        A page of another site can make its own name resolve to this address (DNS rebinding), but it
        cannot send another Host header than its name. Addresses in digits are safe: no name is
        involved.
        """
        name, port = split_host(header)
        if port not in (None, self.port):
            return False
        if name in ("localhost", self.host):
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return not self.is_loopback and name == socket.gethostname().lower()
        return address.is_loopback or not self.is_loopback


def split_host(header: str) -> tuple[str, int | None]:
    """Name and port of a Host header; the name is empty for a malformed one."""
    text = header.strip().lower()
    if text.startswith("["):
        name, bracket, rest = text[1:].partition("]")
        if not bracket or (rest and not rest.startswith(":")):
            return "", None
        port = rest[1:]
    else:
        name, _, port = text.partition(":")
    if not port:
        return name, None
    return (name, int(port)) if port.isascii() and port.isdigit() else ("", None)
