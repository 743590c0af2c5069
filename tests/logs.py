"""What modules log while a test does something."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from polyculture.cache.log import handled_by


class _Kept(logging.Handler):
    def __init__(self, then: Callable[[], object]) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._then = then

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())
        self._then()


@contextmanager
def logged(then: Callable[[], object] = lambda: None) -> Iterator[list[str]]:
    """The lines of the block, from INFO on; `then` is called after each."""
    kept = _Kept(then)
    with handled_by(kept):
        yield kept.lines
