"""`warpzone dashboard`: a web page about all runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from warpzone.config.option import option, positional
from warpzone.errors import ConfigError
from warpzone.system.extras import require_extra

DEFAULT_PORT = 8420
_SHORTEST_TOKEN = 16


@dataclass(frozen=True)
class Dashboard:
    """Show all runs below a folder in the browser, live; steer those that are training.

    The printed address contains a token, which the browser keeps in a cookie after the first visit.
    The dashboard is a process of its own: runs continue when it ends. Needs
    `pip install "warpzone[dashboard]"`.

    Examples:
      warpzone dashboard
      warpzone dashboard elsewhere/ --port 0 --no-browser
      warpzone dashboard --host 0.0.0.0 --read-only
    """

    folder: Path = positional(Path("runs"), "Folder of runs.", metavar="FOLDER")
    host: str = option(
        "127.0.0.1",
        "Address to listen on. The default accepts connections from this machine only; 0.0.0.0 "
        "accepts them from the network, without encryption.",
        metavar="ADDRESS",
    )
    port: int = option(
        DEFAULT_PORT,
        "Port to listen on; 0 takes a free one.",
        at_least=0,
        at_most=65_535,
        metavar="PORT",
    )
    token: str | None = option(
        None,
        f"Token that visitors must present, at least {_SHORTEST_TOKEN} letters, digits, - or _ "
        "(default: a new random one).",
        metavar="TOKEN",
    )
    read_only: bool = option(False, "Switch steering off: the page only shows runs.")
    browser: bool = option(
        True,
        "Open the page in the browser.",
        off="Do not open the page in a browser.",
    )
    policies: Path | None = option(
        None,
        "Folder of policy files that the watch page offers (default: policies, or else those that "
        "come with Warpzone).",
        metavar="FOLDER",
    )

    def run(self) -> int:
        """Serves until Ctrl-C."""
        require_extra("dashboard")
        from warpzone.dashboard.server import serve
        from warpzone.dashboard.settings import Settings, new_token
        from warpzone.evaluation.targets import default_policies

        if not self.folder.is_dir() and self.folder != Path("runs"):
            raise ConfigError(f"{self.folder} is not a folder of runs")
        settings = Settings(
            folder=self.folder,
            host=self.host,
            port=self.port,
            token=new_token() if self.token is None else checked_token(self.token),
            read_only=self.read_only,
            policies=self.policies or default_policies(),
        )
        serve(settings, browser=self.browser)
        return 0


def checked_token(token: str) -> str:
    """A token that fits into an address and is hard to guess.

    Raises:
        ConfigError: It is too short, or has other characters.
    """
    plain = token.isascii() and token.replace("-", "").replace("_", "").isalnum()
    if len(token) < _SHORTEST_TOKEN or not plain:
        raise ConfigError(
            f"--token needs at least {_SHORTEST_TOKEN} letters, digits, - or _; leave it out for a "
            "random one"
        )
    return token
