"""`warpzone watch`: a trained policy, live in the browser."""

from __future__ import annotations

from dataclasses import MISSING, dataclass
from pathlib import Path
from urllib.parse import urlencode

from warpzone.config.option import option, positional
from warpzone.errors import ConfigError


@dataclass(frozen=True)
class Watch:
    """Watch a trained policy play in the browser; pause, rewind, or take over.

    Takes a level, for which a policy is looked up in the folder of policies, or a policy file, a
    run, or a checkpoint's run. Needs `pip install 'warpzone[dashboard]'`.

    Examples:
      warpzone watch 8-1
      warpzone watch runs/mario-1-1
      warpzone watch policies/2-1.policy --level 2-2
    """

    target: str = positional(MISSING, "Level, policy file or run.", metavar="LEVEL|FILE")
    level: str | None = option(
        None, "Level to play instead of the one that the policy was trained on.", metavar="LEVEL"
    )
    policies: Path = option(
        Path("policies"), "Folder in which a policy for a level is looked up.", metavar="FOLDER"
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
        from warpzone.dashboard.server import serve
        from warpzone.dashboard.settings import Settings

        path, level = self._find()
        is_run = path.is_dir()
        settings = Settings(
            folder=path.parent if is_run else Path("runs"),
            port=self.port,
            read_only=True,
            policies=self.policies if is_run else path.parent,
        )
        identifier = f"run:{path.name}" if is_run else f"file:{path.name}"
        query = {"policy": identifier} | ({"level": level} if level else {})
        serve(settings, browser=self.browser, page=f"#/watch?{urlencode(query)}")
        return 0

    def _find(self) -> tuple[Path, str | None]:
        """The policy file or run, and the level to play."""
        from warpzone.evaluation.policy_folder import choose_policy, is_policy_folder
        from warpzone.evaluation.trained import load_policy
        from warpzone.runs.directory import run_of

        if self.level is not None:
            _check_level(self.level, "is not a level; levels are written like 8-1")
        path = Path(self.target)
        if path.is_dir() or path.is_file():
            load_policy(path)  # Says at once what is wrong with it.
            is_policy = path.is_file() and path.suffix == ".policy"
            return (path if is_policy else run_of(path).path).resolve(), self.level
        _check_level(self.target, "is neither a level such as 8-1 nor a policy file or a run")
        if not is_policy_folder(self.policies):
            raise ConfigError(f"{self.policies} has no policies; give --policies, a file or a run")
        return choose_policy(self.policies, self.target).resolve(), self.level or self.target


def _check_level(level: str, sentence: str) -> None:
    from warpzone.campaign.scoreboard import all_levels

    if level not in all_levels():
        raise ConfigError(f"{level!r} {sentence}")
