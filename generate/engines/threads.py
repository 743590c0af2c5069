"""How the threads of a model in this process wait for one another."""

from __future__ import annotations

import os


def let_waiting_threads_sleep() -> None:
    """Call before torch or llama.cpp is imported, which read it then. What the user's environment says stays.

    OpenMP's threads wait by spinning. On cores that others use, too, they keep those they wait for from running: two
    threads on two busy cores wrote 20 texts in more than four minutes, and in one when they slept instead.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
