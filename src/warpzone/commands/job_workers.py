"""Where the jobs of a campaign or sweep run: on this machine, or on a Ray cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from warpzone.config.option import option

if TYPE_CHECKING:
    from warpzone.system.workers import Workers


def address_option() -> str | None:
    """Returns the field of a command that can run its jobs on a cluster."""
    address: str | None = option(
        None,
        "Address of a running Ray cluster, such as 'auto' or '10.0.0.1:6379', on whose machines "
        "--jobs run; all of them must share the working directory. By default, jobs run on this "
        "machine.",
        metavar="ADDRESS",
    )
    return address


@contextmanager
def job_workers(address: str | None, jobs: int) -> Iterator[Workers]:
    """Connects to a cluster if there is an address, and disconnects at the end.

    Args:
        address: Address of a running Ray cluster; None means this machine.
        jobs: Number of jobs that may run at the same time.

    Raises:
        MissingExtraError: There is an address, but Ray is not installed.
        ClusterError: Ray cannot be reached.
    """
    if address is None:
        from warpzone.system.workers import LocalWorkers

        yield LocalWorkers(jobs)
        return
    from warpzone.cluster.ray_session import connected_ray

    with connected_ray(address):
        from warpzone.cluster.ray_workers import RayWorkers

        yield RayWorkers(jobs)
