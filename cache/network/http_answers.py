"""HTTP: the environment that clients read, bodies that are read to a bound, compressed or not, and how long to wait."""

from __future__ import annotations

import os
import re
import ssl
import zlib
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from urllib.parse import urlsplit
from urllib.request import proxy_bypass

from polyculture.cache.errors import EngineError

_CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR")
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
MEBIBYTE = 1 << 20
_PIECE = 1 << 16  # bytes that are decompressed at once
_ENCODINGS = {"gzip": 16 + zlib.MAX_WBITS, "x-gzip": 16 + zlib.MAX_WBITS, "deflate": 32 + zlib.MAX_WBITS}
ACCEPTED = "gzip, deflate"  # what a client that reads by `bounded` may accept
_LONGEST = 366 * 24 * 3600.0  # seconds; a server may ask for more than clocks and floats hold
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")  # the RFC has whole seconds; some servers send fractions
_AN_EPOCH = 1e9  # a number of seconds that is no wait, but a time since 1970
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
# A time with its unit: the groups are the number and the unit.
TIME = (
    r"(\d+(?:\.\d+)?)\s*(?:more )?((?i:ms|milli\w*|s|secs?|seconds?|sekunden?|segundos?|secondes?|m|mins?|minutes?|"
    r"h|hrs?|hours?|d|days?)(?![^\W\d_])|毫秒|秒|分钟?|小时)"
)


class TooLargeError(Exception):
    """A body has more bytes than its reader allows."""

    def __init__(self, most: int) -> None:
        super().__init__(f"the answer is larger than {most / MEBIBYTE:g} MiB")


class EncodingError(Exception):
    """A body is compressed in a way that was not asked for, or is no such thing."""


@contextmanager
def environment_faults() -> Iterator[None]:
    """Opens a client that reads proxies and certificates from the environment.

    Raises `EngineError` where a variable says what no client can use: no such file, an address that is none.
    """
    try:
        yield
    except Exception as fault:  # each library has its own for these, down to FileNotFoundError and ImportError
        variables = _CERTIFICATES if isinstance(fault, OSError) else _PROXIES
        named = [name for variable in variables for name in (variable, variable.lower()) if os.environ.get(name)]
        if not named:
            raise
        if variables is _CERTIFICATES:  # where they lie is no secret, as the address of a proxy may be
            named = [f"{name}={os.environ[name]}" for name in named]
        what = f"the environment's {', '.join(named)}: {' '.join(str(fault).split()) or type(fault).__name__}"
        raise EngineError(what, remedy="Correct the variable, or unset it.") from fault


def certificates(create: Callable[..., ssl.SSLContext], *, trust_env: bool = True) -> ssl.SSLContext:
    """What a client checks servers by; `create` is its library's own function for it.

    Once for all clients of a process: to load a machine's certificates takes as long as twenty requests, and each model
    has a client of its own, also one that is asked without TLS. Raises `OSError` for a file of the environment's that
    holds none.
    """
    return _certificates(create, trust_env, *map(os.environ.get, _CERTIFICATES))


@cache
def _certificates(create: Callable[..., ssl.SSLContext], trust_env: bool, *_environment: str | None) -> ssl.SSLContext:
    return create(trust_env=trust_env)


def proxy_variable(url: str) -> str | None:
    """The environment's variable by which calls to an address go through a proxy; None where they do not."""
    parts = urlsplit(url)
    if proxy_bypass(parts.hostname or ""):
        return None
    names = (name for plain in (f"{parts.scheme}_proxy", "all_proxy") for name in (plain, plain.upper()))
    return next((name for name in names if os.environ.get(name)), None)


async def bounded(chunks: AsyncIterable[bytes], encoding: str, most: int) -> AsyncIterator[bytes]:
    """The pieces of a body, decompressed by the header `Content-Encoding`.

    Raises `TooLargeError` where it has more than `most` bytes, before or after, and `EncodingError` where it cannot be
    decompressed. Memory: a piece of it.
    """
    kind = encoding.strip().lower()
    inflater = None if kind in ("", "identity") else _Inflater(kind)
    received = given = 0
    async for chunk in chunks:
        received += len(chunk)
        if received > most:
            raise TooLargeError(most)
        for piece in (chunk,) if inflater is None else inflater.pieces(chunk):
            given += len(piece)
            if given > most:
                raise TooLargeError(most)
            yield piece
    if inflater is not None:
        inflater.close()


class _Inflater:
    def __init__(self, encoding: str) -> None:
        if encoding not in _ENCODINGS:
            raise EncodingError(f"the answer is compressed as {encoding[:40]!r}")
        self._inflate = zlib.decompressobj(_ENCODINGS[encoding])

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """A little in may be a thousand times as much out: in bounded pieces."""
        try:
            while data and not self._inflate.eof:
                if piece := self._inflate.decompress(data, _PIECE):
                    yield piece
                data = self._inflate.unconsumed_tail
        except zlib.error as fault:
            raise EncodingError("the answer cannot be decompressed") from fault

    def close(self) -> None:
        if not self._inflate.eof:
            raise EncodingError("the compressed answer breaks off")


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds that `Retry-After` asks for; None where the header is missing, or names no time.

    At most a year. `Retry-After-Ms`, which some servers add, is finer; others write a name of their own before it.
    A date is compared with the server's own `Date`, whose clock may differ from ours. A date in the past is 0.
    """
    by_name = {str(name).lower(): value for name, value in headers.items()}
    now = _date(by_name.get("date", ""))
    for name, unit in (("retry-after-ms", "ms"), ("retry-after", "s")):
        values = (wait_of(value, unit, now) for key, value in by_name.items() if key.endswith(name))
        if (found := next((value for value in values if value is not None), None)) is not None:
            return found
    return None


def wait_of(value: object, unit: str = "s", now: datetime | None = None) -> float | None:
    """The seconds that a value asks to wait: a number of `unit`, `1m30s`, `PT30S`, a date, or a time since 1970."""
    now, text = now or datetime.now(UTC), str(value).strip()
    if _NUMBER.fullmatch(text):
        number = float(text)
        if number >= _AN_EPOCH:
            seconds = number / (1000 if number >= 1000 * _AN_EPOCH else 1) - now.timestamp()
        else:
            seconds = number * _UNITS[unit]
    elif (until := _date(text)) is not None:
        seconds = (until - now).total_seconds()
    elif not text.startswith("-") and (named := seconds_in(text)) is not None:
        seconds = named
    else:
        return None
    return min(max(0.0, seconds), _LONGEST)


def seconds_in(text: str) -> float | None:
    """The sum of the times in a text, as `1m30s` has them; None where there is none."""
    found = [float(number) * _UNITS[_unit(unit)] for number, unit in re.findall(TIME, text)]
    return sum(found) if found else None


def _unit(word: str) -> str:
    word = word.lower()
    return "ms" if word.startswith(("ms", "milli", "毫")) else {"秒": "s", "分": "m", "小": "h"}.get(word[0], word[0])


def _date(text: str) -> datetime | None:
    """A date as HTTP or ISO 8601 writes it, in UTC: a comparison must not leave the calendar, either."""
    for read in (parsedate_to_datetime, datetime.fromisoformat):
        with suppress(TypeError, ValueError, OverflowError):
            date = read(text)
            return date.astimezone(UTC) if date.tzinfo else date.replace(tzinfo=UTC)
    return None
