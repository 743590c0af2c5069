"""Classifies faults of OpenAI-compatible servers: retry, record, or stop."""

from __future__ import annotations

from collections.abc import Mapping

import aiohttp
import openai

from polyculture.cache.credentials import conceal, without_password
from polyculture.cache.errors import EngineError
from polyculture.cache.retry_after import retry_after
from polyculture.generate.engines.base import CONTENT_FILTER

_MAX_REASON = 300  # characters of a server's message that are kept
# Status codes after which the same request may succeed. 409 and 425: a lock, a replay.
_TRANSIENT = frozenset({408, 409, 425, 429})


class RequestError(Exception):
    """Why one request has no answer, in one line."""

    def __init__(
        self,
        reason: str,
        *,
        retryable: bool,
        status: int | None = None,
        retry_after: float | None = None,
        unreachable: bool = False,
        finish_reason: str | None = None,
    ) -> None:
        super().__init__(reason)
        self.retryable = retryable  # asking again may help
        self.status = status  # of HTTP, where there was an answer
        self.retry_after = retry_after  # seconds that the server asks to wait
        self.unreachable = unreachable  # there is no server
        self.finish_reason = finish_reason  # the finish reason of a withheld answer


class Server:
    """A server for error messages: address, model, and the key's environment variable, never the key."""

    def __init__(self, url: str, model: str, key_remedy: str, key: str) -> None:
        self.url, self.model, self.key_remedy = without_password(url), model, key_remedy
        self._key = key

    def explain(self, error: openai.APIError) -> RequestError | EngineError:
        """A fault of one request, or the error that ends the work because every request would fail alike."""
        if isinstance(error, openai.APIConnectionError):
            return self._connection(error)
        if isinstance(error, openai.APIStatusError):
            return self._status(error)
        return RequestError(self.in_short(f"{type(error).__name__}: {error}"), retryable=True)

    def unreachable(self, reason: str) -> EngineError:
        """No server listens at the address."""
        remedy = "Is the server running there? Start it, or correct base_url, then run the same command again."
        return EngineError(f"cannot be reached: {reason}", where=self.url, remedy=remedy)

    def not_an_api(self) -> EngineError:
        """A web server answers with a page instead of an API response."""
        remedy = "Correct base_url; that of an OpenAI-compatible server mostly ends in /v1."
        return EngineError(
            "answers with a web page (HTML), not as an OpenAI-compatible API", where=self.url, remedy=remedy
        )

    def unknown_model(self, reason: str) -> EngineError:
        """The server has no such model, or no such path."""
        remedy = f"Correct the model's name, or base_url; the server lists its models at {self.url.rstrip('/')}/models."
        return EngineError(f"has no model {self.model!r} ({reason})", where=self.url, remedy=remedy)

    def in_short(self, words: str) -> str:
        """A server's message on one line, truncated, and without the key."""
        line = " ".join(words.split())
        if self._key:
            line = line.replace(self._key, "***")
        line = conceal(line)
        return line if len(line) <= _MAX_REASON else line[: _MAX_REASON - 1] + "…"

    def _connection(self, error: openai.APIConnectionError) -> RequestError:
        causes = _causes(error)
        kinds = {type(cause).__name__ for cause in causes}
        if "ConnectionRefusedError" in kinds:
            return RequestError("the port is closed", retryable=True, unreachable=True)
        reason = self.in_short(str(causes[-1])) or type(causes[-1]).__name__
        # Use aiohttp's own error: the client around it reports every lost connection as a timeout.
        if any(isinstance(cause, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError) for cause in causes):
            return RequestError(reason, retryable=True, unreachable=True)
        if any(isinstance(cause, TimeoutError) for cause in causes):
            return RequestError("no answer in time", retryable=True)
        return RequestError(f"the connection broke: {reason}", retryable=True)

    def _status(self, error: openai.APIStatusError) -> RequestError | EngineError:
        status = error.status_code
        if status in (401, 403):
            return EngineError(f"refuses the API key (HTTP {status})", where=self.url, remedy=self.key_remedy)
        reason = self.in_short(f"HTTP {status}: {_words(error)}")
        if error.code == "insufficient_quota":
            remedy = "Add credit, then run the same command again: it resumes."
            return EngineError(f"the account's quota is used up ({reason})", where=self.url, remedy=remedy)
        if is_transient(status):
            return RequestError(reason, retryable=True, status=status, retry_after=retry_after(error.response.headers))
        if _is_html(error.response.headers, error.body):
            return self.not_an_api()
        filtered = CONTENT_FILTER if error.code == CONTENT_FILTER else None
        return RequestError(reason, retryable=False, status=status, finish_reason=filtered)


def is_transient(status: int) -> bool:
    """May the same request succeed later?"""
    return status >= 500 or status in _TRANSIENT


def looks_like_html(body: str | bytes) -> bool:
    """Is this the beginning of a web page?"""
    return body.lstrip()[:1] in ("<", b"<")


def _is_html(headers: Mapping[str, str], body: object) -> bool:
    return "html" in headers.get("content-type", "") or (isinstance(body, str) and looks_like_html(body))


def _words(error: openai.APIStatusError) -> str:
    """The server's own message, in any of the usual fields."""
    if isinstance(error.body, Mapping):
        return str(error.body.get("message") or error.body.get("detail") or error.body)
    return "a web page" if _is_html(error.response.headers, error.body) else str(error.body or error.message)


def _causes(error: BaseException) -> list[BaseException]:
    chain: list[BaseException] = []
    step: BaseException | None = error
    while step is not None and step not in chain:
        chain.append(step)
        step = step.__cause__ or step.__context__
    return chain
