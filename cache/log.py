"""What modules say while they work goes to loggers of the standard library, below `polyculture`, by the module's name.

INFO is a remark on progress. WARNING says what makes numbers doubtful, or what is skipped. Without a handler of its
user's, the library is silent; the command line adds one that prints.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from polyculture.cache.text.sanitize import conceal, escape_control_chars

Tell = Callable[[str], None]  # takes a remark, on what is left out for example
POLYCULTURE = logging.getLogger("polyculture")
POLYCULTURE.addHandler(logging.NullHandler())  # else Python prints warnings for which nobody has a handler
_last = [0.0]  # when a record was made in this process, by the monotonic clock


class _RedactingFilter(logging.Filter):
    """Takes keys and passwords out of a record, and whatever would steer a terminal: servers and files put it there.

    A filter of each module's logger, and not of a handler, so that no handler of anybody gets a key.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        _last[0] = time.monotonic()
        record.msg, record.args = _safe(record.getMessage()), ()
        if record.exc_info:  # what formatters print of the exception, if it is there
            record.exc_text = _safe(logging.Formatter().formatException(record.exc_info))
        return True


_SAFE = _RedactingFilter()


def _safe(text: str) -> str:
    return escape_control_chars(conceal(text))


def get_logger(name: str) -> logging.Logger:
    """The logger of a module, `get_logger(__name__)`. No record of it holds a known key, whoever handles it."""
    logger = logging.getLogger(name)
    logger.addFilter(_SAFE)
    return logger


def silent_since() -> float:
    """When this process last made a record, by the monotonic clock; 0.0 where it made none."""
    return _last[0]


class _RootHandlers(logging.Handler):
    """Hands records on to the handlers of the root logger."""

    def emit(self, record: logging.LogRecord) -> None:
        if logging.root.handlers:  # without any, Python would print it once more
            logging.root.handle(record)


@contextmanager
def handled_by(handler: logging.Handler) -> Iterator[None]:
    """A block in which `handler` gets the records of all modules from INFO on.

    Other handlers get what they got before: those of the root logger no INFO, unless somebody asked for it.
    """
    level, propagate, effective = POLYCULTURE.level, POLYCULTURE.propagate, POLYCULTURE.getEffectiveLevel()
    before = _RootHandlers(effective)
    POLYCULTURE.setLevel(min(effective, logging.INFO))
    POLYCULTURE.propagate = False
    POLYCULTURE.addHandler(handler)
    if propagate:
        POLYCULTURE.addHandler(before)
    try:
        yield
    finally:
        POLYCULTURE.removeHandler(before)
        POLYCULTURE.removeHandler(handler)
        POLYCULTURE.propagate = propagate
        POLYCULTURE.setLevel(level)
