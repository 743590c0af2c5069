"""What a server says of an error: its words, its codes, and when to try again, in a body of any shape.

read_error(b'[{"error": {"code": 429, "message": "Quota exceeded. Please retry in 1.2s."}}]')
ServerError(words='Quota exceeded. Please retry in 1.2s.', codes=(), wait=1.2)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from polyculture.cache.network.http_answers import TIME, retry_after, seconds_in, wait_of
from polyculture.cache.text.sanitize import parse

WEB_PAGE = "a web page (HTML)"
ANOTHER_API = "lines of JSON, as Ollama's own API streams them"
NO_REASON = "no reason given"  # in the table of faults
_DEEPEST = 8  # tables within tables
_CODES = ("code", "type", "status", "reason")
# Where the message stands, the likeliest first; the names are compared without case, `_` and `-`.
_MESSAGES = (
    "message", "msg", "errormessage", "errormsg", "statusmsg", "errordescription", "detail", "description",
    "faultstring", "title", "error", "errors", "fault", "details", "reason", "baseresp",
)  # fmt: skip
_WAIT_NAME = re.compile(
    r"(?:(?:retry|reset|available)s?(?:after|delay|in|at)|wait(?:time|for)?|backoff|estimatedtime|cooldown)"
    r"(?:in)?(?P<unit>seconds|secs?|s|milliseconds|millis|ms)?"
)
# "retry in 1m30s", "in 30 seconds please try again", "请在10秒后重试"
_NAMED = re.compile(
    r"(?i:\b(?:retry\w*|try again|wait|come back|available|resets?)\b(?:\W+[a-z]+){0,3}?\W+"
    rf"|\b(?P<before>in|after)\s+|[在请])\s*(?P<times>(?:{TIME}\W*(?:and\s+)?)+)"
    r"(?(before)(?:[a-z]+\W+){0,3}?(?:retry|try))"
)


@dataclass(frozen=True, slots=True)
class ServerError:
    """An error as the server tells it."""

    words: str
    codes: tuple[str, ...] = ()
    wait: float | None = None  # seconds until the next try, where it names them


def read_error(content: bytes | object, headers: Mapping[str, str] | None = None) -> ServerError:
    """The error in a body, as bytes or parsed, and in its headers."""
    headers = headers or {}
    if "location" in headers:
        return ServerError(f"it points to {headers['location']}", wait=retry_after(headers))
    body: object = content
    if isinstance(content, bytes):
        try:
            body = parse(content)
        except ValueError:
            body = content.decode("utf-8", "replace").strip()
            if "html" in headers.get("content-type", "") or looks_like_html(content):
                return ServerError(WEB_PAGE, wait=retry_after(headers))
    fields = list(_fields(body))
    codes = [value.lower() for name, value in fields if name in _CODES and isinstance(value, str)]
    words = message_of(body) or (_shown(body) if body else NO_REASON)
    said = (named_wait(value) for _, value in fields if isinstance(value, str))  # a gateway quotes what it was told
    waits = (retry_after(headers), *(_wait_of(name, value) for name, value in fields), named_wait(words), *said)
    return ServerError(words, tuple(codes), next((wait for wait in waits if wait is not None), None))


def _shown(body: object) -> str:
    """A body without a message, as it is."""
    try:
        return str(body)
    except RecursionError:
        return "an error that is nested too deeply"


def named_wait(words: str) -> float | None:
    """The seconds until the next try that a message names: "Please try again in 7m12s"."""
    found = _NAMED.search(words)
    return None if found is None else seconds_in(found["times"])


def looks_like_html(body: str | bytes) -> bool:
    """Is this the beginning of a web page?"""
    return body.lstrip()[:1] in ("<", b"<")


def _fields(value: object, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Names and values of all tables, outer ones first."""
    if depth > _DEEPEST:
        return
    if isinstance(value, Mapping):
        yield from ((_plain(name), inner) for name, inner in value.items())
    for inner in value.values() if isinstance(value, Mapping) else value if isinstance(value, Sequence) else ():
        if not isinstance(inner, str):
            yield from _fields(inner, depth + 1)


def message_of(value: object, depth: int = 0) -> str:
    """The message in a body; empty where there is none."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, Mapping) and depth <= _DEEPEST:
        named = {_plain(name): inner for name, inner in value.items()}
        return next((words for name in _MESSAGES if (words := message_of(named.get(name), depth + 1))), "")
    if isinstance(value, Sequence) and depth <= _DEEPEST:
        return "; ".join(filter(None, (message_of(one, depth + 1) for one in value[:3])))
    return ""


def _wait_of(name: str, value: object) -> float | None:
    """The seconds of a field that names a wait: `retryDelay: "1.2s"`, `retry_after_ms: 850`, `{"seconds": 1}`."""
    match = _WAIT_NAME.fullmatch(name)
    if match is None or isinstance(value, bool):
        return None
    fine = (match["unit"] or "").startswith("m")
    return wait_of(value.get("seconds") if isinstance(value, Mapping) else value, "ms" if fine else "s")


def _plain(name: object) -> str:
    return str(name).lower().replace("_", "").replace("-", "")
