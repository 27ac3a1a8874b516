"""How a local Ray is started; Ray itself starts nothing here."""

from __future__ import annotations

import os
from typing import Any

import pytest

from warpzone.cluster.ray_session import connected_ray, set_local_variables
from warpzone.errors import ClusterError

set_local_variables()
ray = pytest.importorskip("ray", reason="Ray is not installed; `make cluster-test` installs it")


class Starts:
    """Counts starts of Ray, of which the first ones fail."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, failures: int) -> None:
        self.options: list[dict[str, Any]] = []
        self.shutdowns = 0
        self._failures = failures
        monkeypatch.setattr(ray, "init", self._init)
        monkeypatch.setattr(ray, "shutdown", self._shutdown)

    def _init(self, **options: Any) -> None:
        self.options.append(options)
        if len(self.options) <= self._failures:
            raise RuntimeError("The current node timed out during startup.\nAnd more.")

    def _shutdown(self) -> None:
        self.shutdowns += 1


def test_a_local_ray_has_no_dashboard_and_uses_the_loopback_interface(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    starts = Starts(monkeypatch, failures=0)
    with connected_ray(None):
        [options] = starts.options
        assert options["_node_ip_address"] == "127.0.0.1"
        assert not options["include_dashboard"]
        assert starts.shutdowns == 0
    assert starts.shutdowns == 1


def test_a_local_ray_does_not_record_tasks_which_would_fill_its_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name = "RAY_task_events_report_interval_ms"
    monkeypatch.delenv(name, raising=False)
    Starts(monkeypatch, failures=0)
    with connected_ray(None):
        assert os.environ[name] == "0"


def test_the_object_store_grows_with_the_number_of_actors(monkeypatch: pytest.MonkeyPatch) -> None:
    starts = Starts(monkeypatch, failures=0)
    for actors in (1, 16):
        with connected_ray(None, actors):
            pass
    few, many = (options["object_store_memory"] for options in starts.options)
    assert many - few == 15 * 128 * 2**20


def test_a_local_ray_that_does_not_start_in_time_is_started_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    starts = Starts(monkeypatch, failures=2)
    with connected_ray(None):
        assert len(starts.options) == 3
        assert starts.shutdowns == 2


def test_a_ray_that_cannot_be_used_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    Starts(monkeypatch, failures=10)
    with (
        pytest.raises(ClusterError, match=r"on this machine \(The current node timed out") as here,
        connected_ray(None),
    ):
        pass
    assert "\n" not in str(here.value)
    with pytest.raises(ClusterError, match=r"at 10\.0\.0\.1:6379"), connected_ray("10.0.0.1:6379"):
        pass


@pytest.mark.parametrize(("mode", "named"), [(None, True), ("token", False), ("disabled", False)])
def test_a_cluster_that_cannot_be_reached_may_require_a_token(
    monkeypatch: pytest.MonkeyPatch, mode: str | None, named: bool
) -> None:
    monkeypatch.delenv("RAY_AUTH_MODE", raising=False)
    if mode is not None:
        monkeypatch.setenv("RAY_AUTH_MODE", mode)
    Starts(monkeypatch, failures=1)
    with pytest.raises(ClusterError) as failure, connected_ray("10.0.0.1:6379"):
        pass
    assert ("set RAY_AUTH_MODE=token" in str(failure.value)) == named
