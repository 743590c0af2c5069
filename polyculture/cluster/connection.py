"""The way to a Ray cluster: one that is there, with its token, or a new one on this machine.

`ray start --head` asks for tokens where one lies in `~/.ray/auth_token`; Ray itself then says of a process without a
token only that it cannot connect, and of a process with one at a cluster without tokens nothing at all. Source:
https://docs.ray.io/en/latest/ray-security/token-auth.html
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any, Literal

from polyculture.cache.errors import MissingDependencyError, UserError
from polyculture.cli.options import NEW_CLUSTER

MODE = "RAY_AUTH_MODE"  # 'token' | 'disabled'; Ray reads it once, when it is imported
ANSWERS_WITHIN = 60.0  # seconds; Ray takes one to import itself, and up to twenty to give up

REMEDY = (
    "Give this machine and every node the head's token (`ray get-auth-token` there prints it; it belongs into "
    "~/.ray/auth_token) and RAY_AUTH_MODE=token; see docs/clusters.md."
)

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
        choose_authentication(address)
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
    remedy = "Start one with `ray start --head`, name its address, or leave it out to start one on this machine."
    return UserError(f"no Ray cluster can be joined: {reason}", where=f"--ray {address}", remedy=remedy)


def _knock(address: str) -> None:
    """Raises `UserError` where nobody listens at HOST:PORT: Ray itself would try for minutes."""
    host, _, port = address.rpartition(":")
    if host and "/" not in host and port.isdecimal():
        try:
            socket.create_connection((host, int(port)), timeout=KNOCK).close()
        except (OSError, OverflowError) as fault:
            raise _nobody(address, fault) from fault


def choose_authentication(address: str) -> None:
    """Sets `RAY_AUTH_MODE` as the cluster at `address` ('HOST:PORT' or 'auto') needs it; before Ray is imported.

    Raises `UserError` where the cluster asks for a token that is not here, or takes none and `RAY_AUTH_MODE` says so.
    A cluster that does not answer is left to whoever connects.
    """
    asked = os.environ.get(MODE, "").lower()
    if asked not in ("", "token", "disabled"):  # somebody else's tokens, such as those of Kubernetes
        return
    without = _answer(address, "disabled")
    if without == "taken" and asked == "token":
        what = "the cluster takes no tokens, and RAY_AUTH_MODE=token is set here"
        remedy = "Unset it, or start the head and every node with RAY_AUTH_MODE=token."
        raise UserError(what, where=f"--ray {address}", remedy=remedy)
    if without == "refused":
        if asked == "disabled":
            what = "the cluster asks for a token, and RAY_AUTH_MODE=disabled is set here"
            raise UserError(what, where=f"--ray {address}", remedy=REMEDY)
        if _answer(address, "token") != "taken":
            what = "the cluster asks for a token, and this machine has none or another one"
            raise UserError(what, where=f"--ray {address}", remedy=REMEDY)
        os.environ[MODE] = "token"


def _answer(address: str, mode: str) -> Literal["taken", "refused", "none"]:
    """What a cluster says to a process in this mode; asked in another process, since Ray keeps its first mode."""
    command = [sys.executable, "-m", "ray.scripts.scripts", "health-check"]
    command += [] if address == "auto" else ["--address", address]
    try:
        done = subprocess.run(  # noqa: S603  Ray's own command; the address is one word of it
            command,
            env={**os.environ, MODE: mode},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=ANSWERS_WITHIN,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "none"
    if done.returncode == 0:
        return "taken"
    return "refused" if "AuthenticationError" in done.stderr + done.stdout else "none"
