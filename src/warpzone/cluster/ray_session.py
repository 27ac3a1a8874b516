"""Connection to Ray: a local one that only this machine can reach, or a running cluster."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from warpzone.errors import ClusterError
from warpzone.system.cpu import processor_cores
from warpzone.system.extras import require_extra

# Variables that Ray reads when it is imported. Without the last one, a local Ray uses the address
# of the network interface even if it is asked for the loopback interface.
_EVERYWHERE = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_agent_register_timeout_ms": "120000"}
_LOCAL = {**_EVERYWHERE, "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
_LOOPBACK = "127.0.0.1"
_STORE_BYTES = 512 << 20  # Two rollouts per actor and the weights; nothing else is stored.


@contextmanager
def connected_ray(address: str | None) -> Iterator[None]:
    """Connects to Ray, and disconnects at the end; a local Ray is stopped.

    Args:
        address: Address of a running cluster; None starts Ray on this machine, with its ports
            bound to the loopback interface and without its dashboard.

    Raises:
        MissingExtraError: Ray is not installed.
        ClusterError: Ray cannot be started or reached.
    """
    for name, value in (_LOCAL if address is None else _EVERYWHERE).items():
        os.environ.setdefault(name, value)
    require_extra("cluster")
    import ray

    options = {"log_to_driver": False, "configure_logging": False, "namespace": "warpzone"}
    try:
        if address is None:
            ray.init(
                address="local",
                num_cpus=processor_cores(),
                object_store_memory=_STORE_BYTES,
                include_dashboard=False,
                _node_ip_address=_LOOPBACK,
                **options,
            )
        else:
            ray.init(address=address, **options)
    except Exception as error:  # Ray raises plain exceptions, such as for slow starts.
        reason = str(error).strip().partition("\n")[0]
        where = "on this machine" if address is None else f"at {address}"
        raise ClusterError(f"Ray cannot be used {where} ({reason})") from error
    try:
        yield
    finally:
        ray.shutdown()
