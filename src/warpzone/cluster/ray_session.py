"""Connection to Ray: a local one that only this machine can reach, or a running cluster."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from warpzone.errors import ClusterError
from warpzone.system.cpu import processor_cores
from warpzone.system.extras import require_extra

_log = logging.getLogger(__name__)

# Variables that Ray reads when it is imported, or when it starts its processes.
_USAGE_STATISTICS = "RAY_USAGE_STATS_ENABLED"
# With an explicit address, Ray does not send its token unless this is set to "token".
_AUTHENTICATION = "RAY_AUTH_MODE"
_LOCAL = {
    _USAGE_STATISTICS: "0",
    # Otherwise, a local Ray uses the address of the network interface even if it is asked for the
    # loopback interface.
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    # Ray gives its workers a low priority by default, but actors are the main load of a run.
    "RAY_worker_niceness": "0",
    # Ray would record the last 100,000 tasks for its dashboard, so its memory would grow for hours:
    # every rollout is a task.
    "RAY_task_events_report_interval_ms": "0",
    # A busy machine starts processes slowly.
    "RAY_agent_register_timeout_ms": "120000",
    "RAY_worker_register_timeout_seconds": "300",
}
_LOOPBACK = "127.0.0.1"
_STARTS = 3  # Ray waits for half a minute, which may not suffice on a busy machine.
_OPTIONS: dict[str, Any] = {
    "log_to_driver": False,
    "configure_logging": False,
    "namespace": "warpzone",
}
# Of the object store, for two rollouts of each actor and one that is learned from: 90 MB with
# images. Nothing else but the weights is stored.
_STORE_BYTES, _STORE_BYTES_PER_ACTOR = 256 << 20, 128 << 20


def set_local_variables() -> None:
    """Sets environment variables for a Ray on this machine; call it before Ray is imported."""
    for name, value in _LOCAL.items():
        os.environ.setdefault(name, value)


@contextmanager
def connected_ray(address: str | None, actors: int = 0) -> Iterator[None]:
    """Connects to Ray, and disconnects at the end; a local Ray is stopped.

    Args:
        address: Address of a running cluster; None starts Ray on this machine, with its ports
            bound to the loopback interface and without its dashboard.
        actors: Number of actors that a local Ray has room for; 0 means one per core.

    Raises:
        MissingExtraError: Ray is not installed.
        ClusterError: Ray cannot be started or reached.
    """
    os.environ.setdefault(_USAGE_STATISTICS, "0")
    if address is None:
        set_local_variables()
    require_extra("cluster")
    import ray

    try:
        if address is None:
            _start_local(actors)
        else:
            ray.init(address=address, **_OPTIONS)
    except Exception as error:  # Ray raises plain exceptions, such as for slow starts.
        reason = str(error).strip().partition("\n")[0]
        where = "on this machine" if address is None else f"at {address}"
        raise ClusterError(f"Ray cannot be used {where} ({reason}){_remedy(address)}") from error
    try:
        yield
    finally:
        ray.shutdown()


def _remedy(address: str | None) -> str:
    """What to try when a cluster refuses connections: Ray never says that a token is missing."""
    if address in (None, "auto") or _AUTHENTICATION in os.environ:
        return ""
    return f"; if the cluster requires a token, set {_AUTHENTICATION}=token"


def _start_local(actors: int) -> None:
    import ray

    store = _STORE_BYTES + _STORE_BYTES_PER_ACTOR * (actors or processor_cores())
    for attempt in range(1, _STARTS + 1):
        try:
            ray.init(
                address="local",
                num_cpus=processor_cores(),
                object_store_memory=store,
                include_dashboard=False,
                _node_ip_address=_LOOPBACK,
                **_OPTIONS,
            )
        except Exception:
            ray.shutdown()
            if attempt == _STARTS:
                raise
            _log.warning("Ray did not start in time and is started again")
        else:
            return
