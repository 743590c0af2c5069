"""One question to the Action API, asked as politely as Wikimedia wants, until there is an answer or no hope of one.

A User-Agent with a contact, so many requests a minute and no more, few connections, `maxlag`, and `Retry-After`
honoured by all connections together. See https://www.mediawiki.org/wiki/API:Etiquette,
https://www.mediawiki.org/wiki/Wikimedia_APIs/Rate_limits, https://www.mediawiki.org/wiki/Manual:Maxlag_parameter and
https://foundation.wikimedia.org/wiki/Policy:Wikimedia_Foundation_User-Agent_Policy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import httpx
from tenacity import RetryCallState, Retrying, retry_if_exception_type

from polyculture.cache.errors import WikidataError
from polyculture.cache.retry_after import retry_after
from polyculture.link.api.answers import Answer
from polyculture.link.api.settings import ApiSettings
from polyculture.link.contact import user_agent
from polyculture.link.rate_limiter import Pace
from polyculture.link.service_retry import (
    LONGEST_PAUSE,
    TRIES_UNREACHED,
    TryAgainError,
    fault_of,
    pause_worth_telling,
    wait,
)

LAG_PAUSES = (5.0, 60.0)  # seconds, the least and the most for a service that lags and does not say how long to wait
_LONGEST_REASON = 300  # characters of what the service says
_BUSY_CODES = ("maxlag", "ratelimited", "readonly", "concurrency-limit")
_SIGN_IN_CODES = ("mwoauth-", "assert")

T = TypeVar("T")


class ApiTransport:
    """Sends questions; several threads may do so at once. Raises `WikidataError` where the settings are wrong."""

    def __init__(self, settings: ApiSettings) -> None:
        settings.check()
        self.settings = settings
        self._told: set[str] = set()
        self._pace = Pace(settings.rate, sleep=settings.sleep, clock=settings.clock)
        self._http = httpx.Client(
            headers={"User-Agent": user_agent(settings.contact)},
            limits=httpx.Limits(max_connections=settings.concurrency),
            timeout=settings.timeout,
            follow_redirects=True,
        )
        self._retrying = Retrying(
            retry=retry_if_exception_type(TryAgainError),
            wait=wait,
            sleep=self._pace.pause,  # whoever is sent away waits for all
            before_sleep=self._tell_of_pause,
            reraise=True,
        )

    @property
    def requests(self) -> int:
        """How many were sent."""
        return self._pace.requests

    def close(self) -> None:
        self._http.close()

    def stop(self) -> None:
        """Makes an end of all questions that wait for their turn: they raise `StoppedError`."""
        self._pace.stop()

    def ask(self, params: Mapping[str, str], read: Callable[[Answer], T], allowed: Sequence[str] = ()) -> T:
        """What `read` makes of the answer; it raises where that is none. Errors in `allowed` are answers too.

        Raises `WikidataError` where the service refuses, or does not answer however often it is asked.
        """
        everywhere = {"format": "json", "maxlag": str(self.settings.maxlag)}
        signed_in = {"assert": "user"} if self.settings.token_env else {}
        try:
            answer: T = self._retrying.copy(stop=_Patience())(
                self._ask, {**params, **everywhere, **signed_in}, read, tuple(allowed)
            )
        except TryAgainError as fault:
            if fault.after > LONGEST_PAUSE:
                what = f"the Wikidata service asks to wait {fault.after:.0f} seconds: {fault}"
            else:
                what = f"the Wikidata service does not answer: {fault}"
            remedy = "What was answered is kept: run the same command again later, and it goes on from there."
            raise self._error(what, remedy) from fault
        return answer

    def _ask(self, params: Mapping[str, str], read: Callable[[Answer], T], allowed: Sequence[str]) -> T:
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
            raise TryAgainError("it sends something that is not JSON", after, TRIES_UNREACHED)
        self._tell_warnings(answer)
        try:
            return read(answer)
        except (KeyError, TypeError, ValueError, AttributeError) as fault:
            raise TryAgainError(
                "it sends something that is no answer to the question", after, TRIES_UNREACHED
            ) from fault

    def _send(self, params: Mapping[str, str]) -> httpx.Response:
        token = self.settings.token()  # not kept: what asks nothing needs none
        secret = {"Authorization": f"Bearer {token}"} if token else {}
        self._pace.take_turn()
        try:
            return self._http.get(self.settings.endpoint, params=params, headers=secret)
        except httpx.ConnectError as fault:
            raise TryAgainError(str(fault) or "no connection", tries=TRIES_UNREACHED) from fault
        except httpx.InvalidURL as fault:
            raise self._refusal(str(fault)) from fault
        except httpx.RequestError as fault:
            raise TryAgainError(str(fault) or type(fault).__name__) from fault

    def _check_error(self, error: Any, after: float, allowed: Sequence[str]) -> None:
        code, info = (str(error.get(key)) for key in ("code", "info")) if isinstance(error, dict) else ("", str(error))
        if code in allowed:
            return
        reason = self._one_line(f"{code}: {info}".rstrip(". "))
        # A lagging service has been seen to say so under HTTP 200.
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
        """What a service said, fit for a terminal: without control characters, cut, and without our secret."""
        if token := self.settings.token():
            text = text.replace(token, "...")
        plain = "".join(letter if letter.isprintable() else " " for letter in text)
        return plain if len(plain) <= _LONGEST_REASON else f"{plain[:_LONGEST_REASON]}..."

    def _tell_of_pause(self, state: RetryCallState) -> None:
        if pause := pause_worth_telling(state):
            self.settings.tell(f"The Wikidata service is busy ({fault_of(state)}): waiting {pause:.0f} s")

    def _tell_warnings(self, answer: Answer) -> None:
        for warning in _warnings(answer):
            if warning not in self._told:
                self._told.add(warning)
                self.settings.tell(self._one_line(f"The Wikidata service warns: {warning}"))


class _Patience:
    """Stops asking one question: every kind of fault may happen so many times."""

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


def _json_object(response: httpx.Response) -> Answer | None:
    """The answer, or None where it is no JSON object."""
    try:
        answer = response.json()
    except ValueError:
        return None
    return answer if isinstance(answer, dict) else None


def _warnings(answer: Answer) -> list[str]:
    """What the service warns of, as `module: text`; the forms differ from module to module."""
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
