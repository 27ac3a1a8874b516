"""`warpzone watch`: a trained policy, live in the browser."""

from __future__ import annotations

from dataclasses import MISSING, dataclass
from pathlib import Path
from urllib.parse import urlencode

from warpzone.config.option import option, positional
from warpzone.errors import ConfigError
from warpzone.system.extras import require_extra


@dataclass(frozen=True)
class Watch:
    """Watch a trained policy play in the browser; pause, rewind, or take over.

    Takes a level, for which Warpzone comes with a policy, or a policy file, a run, or a run's name
    below runs/. Needs `pip install "warpzone[dashboard]"`.

    Examples:
      warpzone watch 8-1
      warpzone watch runs/mario-1-1
      warpzone watch policies/8-3.policy --level 8-2
    """

    target: str = positional(MISSING, "Level, policy file or run.", metavar="LEVEL|FILE")
    level: str | None = option(
        None, "Level to play instead of the one that the policy was trained on.", metavar="LEVEL"
    )
    policies: Path | None = option(
        None,
        "Folder in which a policy for a level is looked up (default: policies, or else those that "
        "come with Warpzone).",
        metavar="FOLDER",
    )
    port: int = option(
        0,
        "Port to listen on; 0 takes a free one.",
        at_least=0,
        at_most=65_535,
        metavar="PORT",
    )
    browser: bool = option(
        True,
        "Open the page in the browser.",
        off="Do not open the page in a browser.",
    )

    def run(self) -> int:
        """Serves until Ctrl-C."""
        require_extra("dashboard")
        from warpzone.dashboard.server import serve
        from warpzone.dashboard.settings import Settings
        from warpzone.evaluation.targets import default_policies

        path, level = self._find()
        is_run = path.is_dir()
        settings = Settings(
            folder=path.parent if is_run else Path("runs"),
            port=self.port,
            read_only=True,
            policies=(self.policies or default_policies()) if is_run else path.parent,
        )
        identifier = f"run:{path.name}" if is_run else f"file:{path.name}"
        query = {"policy": identifier} | ({"level": level} if level else {})
        serve(settings, browser=self.browser, page=f"#/watch?{urlencode(query)}")
        return 0

    def _find(self) -> tuple[Path, str | None]:
        """The policy file or run, and the level to play."""
        from warpzone.evaluation.policy_folder import is_policy_folder
        from warpzone.evaluation.targets import find_target
        from warpzone.evaluation.trained import load_policy
        from warpzone.runs.directory import run_of

        if self.level is not None:
            _check_level(self.level)
        if self.policies is not None and not is_policy_folder(self.policies):
            raise ConfigError(f"{self.policies} has no policies; give --policies another folder")
        target = find_target(Path(self.target), self.policies)
        if target.level is not None:
            return target.path, self.level or target.level
        path = target.path
        load_policy(path)  # Says at once what is wrong with it.
        is_policy = path.is_file() and path.suffix == ".policy"
        return (path if is_policy else run_of(path).path).resolve(), self.level


def _check_level(level: str) -> None:
    from warpzone.campaign.scoreboard import all_levels

    if level not in all_levels():
        raise ConfigError(f"{level!r} is not a level; levels are written like 8-1")
