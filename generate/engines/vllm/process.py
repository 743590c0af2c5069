"""The child process that runs vLLM: start it, exchange messages, and end it with all its own children."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, cast

import orjson

from polyculture.generate.engines.vllm.worker import GRACE, shared_memory, unlink

_WORKER = Path(__file__).with_name("worker.py")
_GRACE = GRACE + 5.0  # seconds in which it stops in order, or else kills itself, before it is killed

Line = dict[str, Any]


class WorkerDiedError(Exception):
    """The process ended by itself. Its log has the last message."""


class Process:
    """`worker.py` in the interpreter `python`. Its log is an unnamed file, which needs no removal.

    The process leads its own session: a Ctrl-C at the terminal does not reach it. One signal reaches it and all
    processes that vLLM starts. It detects the end of this process by itself, whatever the cause.
    """

    def __init__(self, python: str) -> None:
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the process
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the interpreter that the experiment file names, or this one
                [python, "-P", str(_WORKER)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                start_new_session=True,
            )
        except OSError:
            self._log.close()
            raise
        self._to = cast("IO[bytes]", self._process.stdin)
        self._from = cast("IO[bytes]", self._process.stdout)

    def send(self, line: Line) -> None:
        """Send one message. Raises `WorkerDiedError` where the process has ended."""
        try:
            self._to.write(orjson.dumps(line) + b"\n")
            self._to.flush()
        except OSError as fault:
            raise WorkerDiedError from fault

    def read(self) -> Line:
        """The next message from the process. Raises `WorkerDiedError` where it ended instead."""
        said = self._from.readline()
        if not said.endswith(b"\n"):
            raise WorkerDiedError
        try:
            line: Line = orjson.loads(said)
        except orjson.JSONDecodeError as fault:  # another program than our worker speaks
            raise WorkerDiedError from fault
        return line

    def read_log(self) -> str:
        """The complete log of vLLM."""
        return os.pread(self._log.fileno(), os.fstat(self._log.fileno()).st_size, 0).decode("utf-8", "replace")

    def keep_log(self) -> Path:
        """Keep the log under a file name for later reading."""
        handle, name = tempfile.mkstemp(prefix="polyculture-vllm-", suffix=".log")
        with os.fdopen(handle, "w", encoding="utf-8") as kept:
            kept.write(self.read_log())
        return Path(name)

    def close(self) -> None:
        """End the process and all its children: ask first, and kill those left after a minute."""
        held = shared_memory(self._process.pid)
        for pipe in (self._to, self._from):
            with suppress(OSError):  # what was still to be said has no hearer
                pipe.close()
        try:
            self._process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            pass  # it is killed
        finally:
            self._kill()
            unlink(held)
            self._log.close()

    def _kill(self) -> None:
        with suppress(ProcessLookupError):  # nothing of it is left
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
