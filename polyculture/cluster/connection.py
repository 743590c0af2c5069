"""The way to a Ray cluster: one that is there, or a new one on this machine.

A cluster may ask for a token: Ray reads `RAY_AUTH_MODE` and `~/.ray/auth_token` itself. To a process without the right
one it says only that it cannot connect.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from polyculture.cache.errors import MissingDependencyError, UserError

NEW_CLUSTER = "local"  # instead of the address of a Ray cluster: start one on this machine
# Of Ray's object store where we start it: results go to the shared files, hardly any through it.
STORE_BYTES = 100 * 2**20

KNOCK = 10.0  # seconds to wait for an answer at an address


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """The module `ray`, connected to the cluster at `address`; left, and ended if it was started here, with the block.

    Raises `MissingDependencyError` without the package, `UserError` where nobody answers at the address.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # send no usage data to Ray's makers
    if find_spec("ray") is not None and address != NEW_CLUSTER:
        _knock(address)
    try:
        import ray
    except ImportError as fault:
        raise MissingDependencyError("ray", "ray", "--ray") from fault
    _connect(ray, address)
    try:
        yield ray
    finally:
        ray.shutdown()


def _connect(ray: Any, address: str) -> None:
    # The lines of replicas come by another way (`replica.Lines`).
    if address == NEW_CLUSTER:
        own = {"include_dashboard": False, "object_store_memory": STORE_BYTES}
        ray.init("local", logging_level="ERROR", log_to_driver=False, **own)
        return
    try:
        ray.init(address, logging_level="ERROR", log_to_driver=False)
    except (OSError, ValueError, RuntimeError, ray.exceptions.RayError) as fault:
        raise _nobody(address, fault) from fault


def _nobody(address: str, fault: Exception) -> UserError:
    reason = str(fault).partition("\n")[0]
    remedy = (
        "Start one with `ray start --head`, name its address, or leave it out to start one on this machine. If it asks "
        "for a token, set RAY_AUTH_MODE=token here, with the head's token in ~/.ray/auth_token; see docs/clusters.md."
    )
    return UserError(f"no Ray cluster can be joined: {reason}", where=f"--ray {address}", remedy=remedy)


def _knock(address: str) -> None:
    """Raises `UserError` where nobody listens at HOST:PORT: Ray itself would try for minutes."""
    host, _, port = address.rpartition(":")
    if host and "/" not in host and port.isdecimal():
        try:
            socket.create_connection((host, int(port)), timeout=KNOCK).close()
        except (OSError, OverflowError) as fault:
            raise _nobody(address, fault) from fault
