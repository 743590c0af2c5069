"""Faults of OpenAI-compatible servers, by the table of faults: send again, record, or stop."""

from __future__ import annotations

from collections.abc import Mapping

import aiohttp
import openai

from polyculture.cache.errors import SystematicFaultError
from polyculture.cache.text.sanitize import conceal, mended, without_password
from polyculture.cache.work.faults import CONTENT_POLICY, FaultKind, kind_of, kind_of_error
from polyculture.generate.engines.base import Ending
from polyculture.generate.engines.error_body import WEB_PAGE, ServerError, named_wait, read_error
from polyculture.generate.engines.metering import Usage

_MAX_REASON = 300  # characters of a server's message that are kept
_TOO_MANY = 429
_BROKE = "the connection broke"


class RequestError(Exception):
    """Why one request has no answer, in one line. Its kind says what becomes of it."""

    def __init__(
        self,
        reason: str,
        *,
        kind: FaultKind | None = None,
        retryable: bool | None = None,
        status: int | None = None,
        retry_after: float | None = None,
        unreachable: bool = False,
        later: bool = False,
        bill: Usage | None = None,
        body: str | None = None,
    ) -> None:
        super().__init__(reason)
        self.kind = kind or kind_of_error(reason)
        self.retryable = not self.kind.final if retryable is None else retryable  # a later run asks again
        self.status = status  # of HTTP, where there was an answer
        self.retry_after = retry_after  # seconds that the server asks to wait
        self.unreachable = unreachable  # there is no server
        self.later = later  # each attempt may be billed: at least a later run asks again
        self.bill = bill  # of an answer that came and is of no use: what it cost all the same
        self.body = body  # of an answer in an unknown form: as it came, without keys

    @property
    def ending(self) -> Ending | None:
        """How the answer ended: withheld, where a content policy refused the request."""
        return "withheld" if self.kind.name == CONTENT_POLICY else None


def useless(reason: str, bill: Usage, body: str | None = None) -> RequestError:
    """The fault of an answer that came and has no completion in it; where it cost something, it is not bought again at
    once."""
    return RequestError(
        reason, retryable=not bill.completion, retry_after=named_wait(reason), later=True, bill=bill, body=body
    )


class WebPageError(RequestError):
    """A page with a status of success, which nobody bills. A page with another status is a fault of that status."""


class Server:
    """A server for error messages: address, model, and the key's environment variable, never the key."""

    def __init__(self, url: str, model: str, key_remedy: str, key: str, proxy: str | None = None) -> None:
        """`proxy` is the environment's variable by which calls go through one."""
        self.url, self.model, self.key_remedy = without_password(url), model, key_remedy
        self._key, self._proxy = key, proxy

    def explain(self, error: openai.APIError) -> RequestError:
        """The fault of one request. Whether every request meets it, its other requests show."""
        if isinstance(error, openai.APIConnectionError):
            return self._connection(error)
        if isinstance(error, openai.APIStatusError):
            return self.fault(error.status_code, read_error(error.response.content, error.response.headers))
        return RequestError(self.in_short(f"{type(error).__name__}: {error}"), kind=kind_of(message=_BROKE))

    def unreachable(self, reason: str) -> SystematicFaultError:
        """No server listens at the address, or no proxy before it: who would answer for a closed port behind it."""
        if self._proxy is not None:
            remedy = f"Is the proxy running? Correct {self._proxy}, or unset it, then run the same command again."
            return SystematicFaultError(f"the proxy of {self._proxy} cannot be reached: {reason}", remedy=remedy)
        remedy = "Is the server running there? Start it, or correct base_url, then run the same command again."
        return SystematicFaultError(f"cannot be reached: {reason}", where=self.url, remedy=remedy)

    def not_an_api(self) -> RequestError:
        """A web server, or a proxy, answers with a page instead of an API response."""
        return WebPageError(WEB_PAGE)

    def ended(self, fault: RequestError) -> SystematicFaultError:
        """The end of the work because of a fault that every request meets."""
        remedy = fault.kind.remedy.format(**self.places)
        return SystematicFaultError(f"{fault.kind.says} ({fault})", where=self.url, remedy=remedy)

    @property
    def places(self) -> Mapping[str, str]:
        """What the remedies in the table of faults leave open."""
        return {"url": self.url.rstrip("/"), "key": self.key_remedy}

    def in_short(self, words: str) -> str:
        """A server's message on one line, truncated, and without the key."""
        line = " ".join(words.split())
        if self._key:
            line = line.replace(self._key, "***")
        line = conceal(mended(line))
        return line if len(line) <= _MAX_REASON else line[: _MAX_REASON - 1] + "…"

    def _connection(self, error: openai.APIConnectionError) -> RequestError:
        causes = _causes(error)
        kinds = {type(cause).__name__ for cause in causes}
        if "ConnectionRefusedError" in kinds:
            return RequestError("the port is closed", unreachable=True)
        reason = self.in_short(str(causes[-1])) or type(causes[-1]).__name__
        # Use aiohttp's own error: the client around it reports every lost connection as a timeout.
        if any(isinstance(cause, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError) for cause in causes):
            return RequestError(reason, kind=kind_of(message=_BROKE), unreachable=True)
        if any(isinstance(cause, TimeoutError) for cause in causes):
            return RequestError("no answer in time")
        return RequestError(f"{_BROKE}: {reason}")

    def fault(self, status: int, error: ServerError) -> RequestError:
        """The fault of an answer with this status. A time that the server names for the next try outranks its words."""
        kind = kind_of(status, error.codes, f"HTTP {status}: {error.words}")
        if error.wait is not None and not kind.waits:
            kind = kind_of(_TOO_MANY)
        code = next((code for code in error.codes if code in kind.codes and code not in error.words), None)
        words = error.words if code is None else f"{code}: {error.words}"
        return RequestError(self.in_short(f"HTTP {status}: {words}"), kind=kind, status=status, retry_after=error.wait)


def _causes(error: BaseException) -> list[BaseException]:
    chain: list[BaseException] = []
    step: BaseException | None = error
    while step is not None and step not in chain:
        chain.append(step)
        step = step.__cause__ or step.__context__
    return chain
