"""The command line in processes that begin at once: for tests that kill dozens of them.

A server (`multiprocessing`'s forkserver) loads what the commands load, which takes a second or more, and forks a
process for each. What a kill while a command loads does is asked by tests that start it as a user does.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from multiprocessing.context import ForkServerProcess
from pathlib import Path

# What the commands import when they run.
from polyculture.__main__ import main

_SERVER = multiprocessing.get_context("forkserver")
_SERVER.set_forkserver_preload(["pytest", __name__])


def begin_polyculture(*words: str | Path, cwd: Path) -> ForkServerProcess:
    """The command line, left running, its words unheard."""
    process = _SERVER.Process(target=_command, args=([str(word) for word in words], str(cwd)))
    process.start()
    return process


def _command(words: list[str], folder: str) -> None:
    os.chdir(folder)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    sys.argv = ["polyculture", *words]
    main()
