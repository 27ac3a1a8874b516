"""Everything that the routes of one server share."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import HTTPConnection

from warpzone.dashboard.level_maps import LevelMaps
from warpzone.dashboard.live_wall import LiveWalls
from warpzone.dashboard.metric_file import MetricFiles
from warpzone.dashboard.policy_catalog import PolicyCatalog
from warpzone.dashboard.run_catalog import RunCatalog
from warpzone.dashboard.settings import Settings
from warpzone.dashboard.watch_session import WatchSession


@dataclass(frozen=True)
class ServerState:
    """The shared parts.

    Attributes:
        settings: What is served, and to whom.
        catalog: The runs.
        metrics: The tables of metrics that were looked at last.
        walls: The runs whose games somebody watches.
        policies: What the watch page offers.
        games: Policies that play for somebody.
        maps: Maps of levels.
    """

    settings: Settings
    catalog: RunCatalog
    metrics: MetricFiles
    walls: LiveWalls
    policies: PolicyCatalog
    games: set[WatchSession]
    maps: LevelMaps

    @classmethod
    def of(cls, settings: Settings) -> ServerState:
        """The parts of a new server."""
        catalog = RunCatalog(settings.folder)
        policies = PolicyCatalog(settings.policies, catalog)
        return cls(settings, catalog, MetricFiles(), LiveWalls(), policies, set(), LevelMaps())


def state_of_request(connection: HTTPConnection) -> ServerState:
    """The shared parts, for a route."""
    state: ServerState = connection.app.state.warpzone
    return state
