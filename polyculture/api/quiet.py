"""Lines of work that Python started: to the logger `polyculture`, or to standard error as the command line's."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from polyculture.console import sending

_LOGGER = logging.getLogger("polyculture")


@contextmanager
def quietly(progress: bool = False) -> Iterator[None]:
    """A block whose lines are logged at the level INFO; with `progress` they are printed."""
    if progress:
        yield
        return
    with sending(_log):
        yield


def _log(line: str) -> bool:
    _LOGGER.info("%s", line)
    return True
