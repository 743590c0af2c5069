"""The way to a Ray cluster: one that is there, or a new one on this machine."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from polyculture.cache.errors import MissingDependencyError, UserError
from polyculture.cli.options import NEW_CLUSTER

STORE_BYTES = (
    100 * 2**20
)  # of Ray's object store where we start it: results go to the shared files, hardly any through it

KNOCK = 10.0  # seconds to wait for an answer at an address


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """The module `ray`, connected to the cluster at `address`; left, and ended if it was started here, with the block.

    Raises `MissingDependencyError` without the package, `UserError` where nobody answers at the address.
    """
    # Show every line of every replica, and send no usage data to Ray's makers.
    os.environ.setdefault("RAY_DEDUP_LOGS", "0")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
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
    if address == NEW_CLUSTER:
        ray.init("local", include_dashboard=False, object_store_memory=STORE_BYTES, logging_level="ERROR")
        return
    try:
        _knock(address)
        ray.init(address, logging_level="ERROR")
    except (OSError, ValueError, RuntimeError) as fault:
        reason = str(fault).partition("\n")[0]
        remedy = "Start one with `ray start --head`, name its address, or leave it out to start one on this machine."
        raise UserError(f"no Ray cluster can be joined: {reason}", where=f"--ray {address}", remedy=remedy) from fault


def _knock(address: str) -> None:
    """Raises `OSError` where nobody listens at HOST:PORT: Ray itself would try for minutes."""
    host, _, port = address.rpartition(":")
    if host and "/" not in host and port.isdecimal():
        socket.create_connection((host, int(port)), timeout=KNOCK).close()
