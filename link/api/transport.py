"""Sends requests to the Action API under Wikimedia's rules, and retries them until a permanent error.

The rules: a User-Agent with a contact, a rate limit, few connections, `maxlag`, and `Retry-After` honoured by all
connections together. See https://www.mediawiki.org/wiki/API:Etiquette,
https://www.mediawiki.org/wiki/Wikimedia_APIs/Rate_limits, https://www.mediawiki.org/wiki/Manual:Maxlag_parameter and
https://foundation.wikimedia.org/wiki/Policy:Wikimedia_Foundation_User-Agent_Policy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import httpx
import orjson
from tenacity import RetryCallState, Retrying, retry_if_exception_type

from polyculture.cache.errors import WikidataError
from polyculture.cache.http_answers import retry_after
from polyculture.link.api.answers import ApiAnswer
from polyculture.link.api.settings import ApiSettings
from polyculture.link.etiquette import (
    LONGEST_PAUSE,
    TRIES_UNREACHED,
    RateLimiter,
    TryAgainError,
    fault_of,
    reportable_pause,
    user_agent,
    wait,
)
from polyculture.link.http import BoundedHttp, TooLargeError

LAG_PAUSES = (5.0, 60.0)  # seconds, least and most, for a lagging service that sends no Retry-After
_LONGEST_REASON = 300  # characters of the service's message
_BUSY_CODES = ("maxlag", "ratelimited", "readonly", "concurrency-limit")
_SIGN_IN_CODES = ("mwoauth-", "assert")

T = TypeVar("T")


class ApiTransport:
    """Sends requests. Thread-safe. Raises `WikidataError` where the settings are invalid."""

    def __init__(self, settings: ApiSettings) -> None:
        settings.check()
        self.settings = settings
        self._reported: set[str] = set()
        self._rate_limiter = RateLimiter(settings.rate, sleep=settings.sleep, clock=settings.clock)
        self._http = BoundedHttp(
            {"User-Agent": user_agent(settings.contact)},
            connections=settings.concurrency,
            timeout=settings.timeout,
            deadline=settings.deadline,
            megabytes=settings.megabytes,
        )
        self._retrying = Retrying(
            retry=retry_if_exception_type(TryAgainError),
            wait=wait,
            sleep=self._rate_limiter.pause,  # a pause holds for all connections
            before_sleep=self._report_pause,
            reraise=True,
        )

    @property
    def requests(self) -> int:
        """The number of requests sent."""
        return self._rate_limiter.requests

    def close(self) -> None:
        self._http.close()

    def stop(self) -> None:
        """Ends the waits of all requests: they raise `StoppedError`."""
        self._rate_limiter.stop()

    def request(self, params: Mapping[str, str], read: Callable[[ApiAnswer], T], allowed: Sequence[str] = ()) -> T:
        """The answer as parsed by `read`, which raises for a malformed one. Error codes in `allowed` are answers too.

        Raises `WikidataError` where the service refuses, or does not answer after all retries.
        """
        everywhere = {"format": "json", "maxlag": str(self.settings.maxlag)}
        signed_in = {"assert": "user"} if self.settings.token_env else {}
        try:
            answer: T = self._retrying.copy(stop=_Patience())(
                self._request_once, {**params, **everywhere, **signed_in}, read, tuple(allowed)
            )
        except TryAgainError as fault:
            if fault.after > LONGEST_PAUSE:
                what = f"the Wikidata service asks to wait {fault.after:.0f} seconds: {fault}"
            else:
                what = f"the Wikidata service does not answer: {fault}"
            remedy = "All answers so far are kept: run the same command again later to resume."
            raise self._error(what, remedy) from fault
        return answer

    def _request_once(self, params: Mapping[str, str], read: Callable[[ApiAnswer], T], allowed: Sequence[str]) -> T:
        response = self._send(params)
        after = retry_after(response.headers) or 0.0
        if response.status_code == httpx.codes.TOO_MANY_REQUESTS or response.status_code >= 500:
            raise TryAgainError(self._status(response), after)
        answer = _json_object(response)
        if answer is not None and "error" in answer:
            self._check_error(answer["error"], after, allowed)
        elif response.is_error:
            raise self._refusal(self._status(response))
        if answer is None:
            raise TryAgainError("it does not send JSON", after, TRIES_UNREACHED)
        self._report_warnings(answer)
        try:
            return read(answer)
        except (KeyError, TypeError, ValueError, AttributeError) as fault:
            raise TryAgainError("its answer does not fit the request", after, TRIES_UNREACHED) from fault

    def _send(self, params: Mapping[str, str]) -> httpx.Response:
        token = self.settings.token()  # read for each request, never stored
        secret = {"Authorization": f"Bearer {token}"} if token else {}
        self._rate_limiter.take_turn()
        try:
            return self._http.request("GET", self.settings.endpoint, params=params, headers=secret)
        except httpx.ConnectError as fault:
            raise TryAgainError(str(fault) or "no connection", tries=TRIES_UNREACHED) from fault
        except TooLargeError as fault:
            raise TryAgainError(str(fault), tries=TRIES_UNREACHED) from fault
        except httpx.InvalidURL as fault:
            raise self._refusal(str(fault)) from fault
        except httpx.RequestError as fault:
            raise TryAgainError(str(fault) or type(fault).__name__) from fault

    def _check_error(self, error: Any, after: float, allowed: Sequence[str]) -> None:
        code, info = (str(error.get(key)) for key in ("code", "info")) if isinstance(error, dict) else ("", str(error))
        if code in allowed:
            return
        reason = self._one_line(f"{code}: {info}".rstrip(". "))
        # A lagging service may answer with HTTP 200.
        if code == "maxlag":
            raise TryAgainError(reason, max(after, _lag(error)))
        if code in _BUSY_CODES or code.startswith("internal_api_error"):
            raise TryAgainError(reason, after)
        raise self._refusal(reason, signing_in=code.startswith(_SIGN_IN_CODES))

    def _refusal(self, reason: str, signing_in: bool = False) -> WikidataError:
        remedy = "Check the address of the service, the contact, and the languages of the catalogue."
        if signing_in and self.settings.token_env:
            remedy = f"Check the token in the environment variable {self.settings.token_env}."
        return self._error(f"the Wikidata service refuses: {reason}", remedy)

    def _error(self, what: str, remedy: str) -> WikidataError:
        return WikidataError(what, where=self.settings.endpoint, remedy=remedy)

    def _status(self, response: httpx.Response) -> str:
        return self._one_line(f"HTTP {response.status_code} {response.reason_phrase}")

    def _one_line(self, text: str) -> str:
        """A service's message for a terminal: without control characters, truncated, without our token."""
        if token := self.settings.token():
            text = text.replace(token, "...")
        plain = "".join(letter if letter.isprintable() else " " for letter in text)
        return plain if len(plain) <= _LONGEST_REASON else f"{plain[:_LONGEST_REASON]}..."

    def _report_pause(self, state: RetryCallState) -> None:
        if pause := reportable_pause(state):
            self.settings.tell(f"The Wikidata service is busy ({fault_of(state)}): waiting {pause:.0f} s")

    def _report_warnings(self, answer: ApiAnswer) -> None:
        for warning in _warnings(answer):
            if warning not in self._reported:
                self._reported.add(warning)
                self.settings.tell(self._one_line(f"The Wikidata service warns: {warning}"))


class _Patience:
    """Stops the retries of one request: each kind of fault has its own limit."""

    def __init__(self) -> None:
        self._seen: Counter[int] = Counter()

    def __call__(self, state: RetryCallState) -> bool:
        fault = fault_of(state)
        self._seen[fault.tries] += 1
        return self._seen[fault.tries] >= fault.tries or fault.after > LONGEST_PAUSE


def _lag(error: Mapping[str, Any]) -> float:
    least, most = LAG_PAUSES
    lag = error.get("lag")
    return min(max(least, float(lag)), most) if isinstance(lag, int | float) else least


def _json_object(response: httpx.Response) -> ApiAnswer | None:
    """The answer, or None where it is not a JSON object."""
    try:
        answer = orjson.loads(response.content)  # strict: a broken label would be kept for good
    except ValueError:
        return None
    return answer if isinstance(answer, dict) else None


def _warnings(answer: ApiAnswer) -> list[str]:
    """The service's warnings as `module: text`; their form differs between modules."""
    warnings = answer.get("warnings")
    if not isinstance(warnings, dict):
        return []
    return [f"{module}: {_text(warning)}" for module, warning in warnings.items()]


def _text(warning: Any) -> str:
    texts = [warning]
    if isinstance(warning, dict):
        messages = warning.get("messages")
        texts = [message.get("html") for message in messages if isinstance(message, dict)] if messages else [warning]
        texts = [text.get("*", text) if isinstance(text, dict) else text for text in texts]
    return "; ".join(str(text) for text in texts)
