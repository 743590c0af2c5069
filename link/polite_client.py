"""Requests to Wikimedia's services by their rules: a contact, one request at a time, a rate, and retries with backoff.

Sources: https://www.mediawiki.org/wiki/API:Etiquette, https://www.mediawiki.org/wiki/Wikimedia_APIs/Rate_limits and
https://foundation.wikimedia.org/wiki/Policy:Wikimedia_Foundation_User-Agent_Policy.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx
from tenacity import RetryCallState, Retrying, retry_if_exception_type, wait_exponential_jitter

from polyculture.cache.errors import WikidataError
from polyculture.cache.log import get_logger
from polyculture.cache.network.async_runner import Background
from polyculture.cache.network.http_answers import (
    ACCEPTED,
    MEBIBYTE,
    EncodingError,
    TooLargeError,
    bounded,
    certificates,
    environment_faults,
)

_log = get_logger(__name__)

TRIES = 8  # for a busy service
TRIES_UNREACHED = 3  # for a service that cannot be reached, or is not the expected one
LONGEST_PAUSE = 900.0  # seconds; a longer wait ends the run
_LONGEST_REASON = 300  # characters of a service's message
_LONGEST_BODY = 200  # characters of an answer that refuses
REPORTED_PAUSE = 10.0  # seconds; longer pauses are reported to the user
MINUTE = 60.0
_REDIRECTS = 5
_OF_THE_BODY = ("content-encoding", "content-length", "transfer-encoding")

_BACKOFF = wait_exponential_jitter(initial=1.0, max=60.0)
_MARKUP = re.compile(r"<(script|style).*?</\1>|<[^>]*>", re.DOTALL | re.IGNORECASE)
_ADDRESS = re.compile(r"[^\s@<>()]+@[^\s@<>()]+\.[A-Za-z0-9-]{2,}")
_PAGE = re.compile(r"https?://[^\s/()]+\.[^\s()]+")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """How to send requests to a service. `contact` (an e-mail address or a page) goes into the User-Agent.

    `sleep` and `clock` are for tests.
    """

    contact: str
    endpoint: str
    requests_per_minute: float
    timeout: float = 30.0  # seconds without a byte received
    deadline: float = 600.0  # seconds for a whole answer
    megabytes: float = 128.0  # of an answer, decompressed
    sleep: Callable[[float], object] = time.sleep
    clock: Callable[[], float] = time.monotonic

    def check(self) -> None:
        """Raises `WikidataError` where the contact is missing or invalid, or the address is none."""
        remedy = 'Give an e-mail address or a page: --contact you@example.org, or contact = "..." under [link].'
        if not self.contact.strip():
            raise WikidataError("the service requires a contact, and none is given", remedy=remedy)
        if not fits_header(self.contact.strip()):
            raise WikidataError("the contact has characters that a User-Agent cannot hold", remedy=remedy)
        if not is_contact(self.contact):
            raise WikidataError(f"{self.contact!r} is neither an e-mail address nor a page", remedy=remedy)
        if not re.fullmatch(r"https?://[^\s/]+\S*", self.endpoint):
            raise WikidataError(
                "is not the address of a service", where=self.endpoint, remedy="Give the whole address."
            )


def is_contact(text: str) -> bool:
    """Is it an e-mail address or the URL of a page, in ASCII, and nothing else?"""
    plain = text.strip()
    return plain.isascii() and any(form.fullmatch(plain) for form in (_ADDRESS, _PAGE))


def fits_header(text: str) -> bool:
    """Can it stand in a request's header?"""
    return text.isascii() and text.isprintable()


def duration(minutes: float) -> str:
    """Minutes as people say them: minutes, hours from an hour and a half on, days from two."""
    if minutes < 90:
        return f"{minutes:.0f} minutes" if minutes >= 1.5 else "a minute"
    return f"{minutes / 60:.1f} hours" if minutes < 2880 else f"{minutes / 1440:.1f} days"


def _one_line(text: str) -> str:
    """A service's message for a terminal: without control characters, truncated."""
    plain = "".join(letter if letter.isprintable() else " " for letter in text)
    return plain if len(plain) <= _LONGEST_REASON else f"{plain[:_LONGEST_REASON]}..."


def refusal(response: httpx.Response) -> str:
    """The status of an answer, with what it says in words: of a ban, the reason and whom to write to."""
    status = f"HTTP {response.status_code} {response.reason_phrase}"
    said = " ".join(_MARKUP.sub(" ", response.text).split())
    return f"{status}: {said[:_LONGEST_BODY]}" if said else status


def user_agent(contact: str) -> str:
    """The User-Agent header: name and version, contact, HTTP library."""
    try:
        ours = version("polyculture")
    except PackageNotFoundError:
        ours = "0"
    return f"Polyculture/{ours} ({contact.strip()}) httpx/{httpx.__version__}"


class TryAgainError(Exception):
    """A service cannot answer now. `after`: the seconds it asks to wait, 0 where it does not say.

    `remedy`: what helps where the service gives the same answer to all tries, which is a refusal then.
    """

    def __init__(self, reason: str, after: float = 0.0, tries: int = TRIES, remedy: str = "") -> None:
        super().__init__(_one_line(reason))
        self.after, self.tries, self.remedy = after, tries, remedy


class PoliteClient:
    """Sends requests to the service of `settings`, one at a time; `requests` counts them.

    `name` is the service's in messages. Raises `WikidataError` where the settings are wrong, or the service cannot be
    reached or refuses, after retries.
    """

    def __init__(self, name: str, settings: ServiceSettings, accept: str = "*/*") -> None:
        settings.check()
        self.settings, self.requests = settings, 0
        self._name, self._answered, self._next, self._paused = name, False, 0.0, 0.0
        self._http = _WholeAnswers(
            {"User-Agent": user_agent(settings.contact), "Accept": accept},
            timeout=settings.timeout,
            deadline=settings.deadline,
            megabytes=settings.megabytes,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.close()

    def ask(self, send: Callable[[], T]) -> T:
        """What `send` returns, tried again while it raises `TryAgainError`; each kind of fault has its own patience."""
        seen = Counter[int]()

        def enough(state: RetryCallState) -> bool:
            fault = _fault_of(state)
            seen[fault.tries] += 1
            return seen[fault.tries] >= fault.tries or fault.after > LONGEST_PAUSE

        retrying = Retrying(
            retry=retry_if_exception_type(TryAgainError),
            stop=enough,
            wait=lambda state: max(_fault_of(state).after, _BACKOFF(state)),
            sleep=self._pause,
            before_sleep=self._report_pause,
            reraise=True,
        )
        try:
            answer = retrying(send)
        except TryAgainError as fault:
            what, remedy = "refuses" if fault.remedy else "does not answer", fault.remedy
            if fault.after > LONGEST_PAUSE:
                what = f"asks to wait {duration(fault.after / MINUTE)}"
                remedy = "Run the same command again after that: all answers so far are kept."
            if not remedy and self._answered:
                remedy = "All answers so far are kept: run the same command again later to resume."
            elif not remedy and fault.tries > TRIES_UNREACHED:
                remedy = "It is busy: run the same command again later."
            elif not remedy:
                remedy = "It never answered: is the address right? Run the same command again later."
            raise self.error(f"{what}: {fault}", remedy) from fault
        self._answered = True
        return answer

    def send(self, method: str, **options: Any) -> httpx.Response:
        """One request, in its turn; `options` are those of `httpx.AsyncClient.request`."""
        settings = self.settings
        now = settings.clock()
        turn = max(now, self._next, self._paused)
        self._next = turn + MINUTE / settings.requests_per_minute
        if turn > now:
            settings.sleep(turn - now)
        self.requests += 1
        try:
            return self._http.request(method, settings.endpoint, **options)
        except httpx.ConnectError as fault:
            raise TryAgainError(str(fault) or "no connection", tries=TRIES_UNREACHED) from fault
        except TooLargeError as fault:
            raise TryAgainError(str(fault), tries=TRIES_UNREACHED) from fault
        except httpx.InvalidURL as fault:
            raise self.error(f"refuses: {fault}", "Check the address of the service.") from fault
        except httpx.RequestError as fault:
            raise TryAgainError(str(fault) or type(fault).__name__) from fault

    def error(self, what: str, remedy: str) -> WikidataError:
        """The error that the service `what`."""
        return WikidataError(f"{self._name} {_one_line(what)}", where=self.settings.endpoint, remedy=remedy)

    def _pause(self, seconds: float) -> None:
        self._paused = self.settings.clock() + seconds

    def _report_pause(self, state: RetryCallState) -> None:
        pause = state.next_action.sleep if state.next_action else 0.0
        if pause >= REPORTED_PAUSE:
            name = self._name[0].upper() + self._name[1:]
            _log.info(f"{name} is busy ({_fault_of(state)}): waiting {pause:.0f} s")


def _fault_of(state: RetryCallState) -> TryAgainError:
    fault = state.outcome.exception() if state.outcome else None
    return fault if isinstance(fault, TryAgainError) else TryAgainError("")


class _WholeAnswers:
    """Sends requests over one connection. `timeout`: seconds without a byte; `deadline`: seconds for a whole answer.

    A timeout is per read: a byte a second would hold a caller for ever. Requests therefore run in an event loop, where
    they can be cut off as a whole. Raises httpx's errors, `httpx.ReadTimeout` at the deadline, and
    `TooLargeError` beyond `megabytes`.
    """

    def __init__(self, headers: Mapping[str, str], *, timeout: float, deadline: float, megabytes: float) -> None:
        self._deadline, self._most = deadline, int(megabytes * MEBIBYTE)
        self._background = Background("wikidata")
        with environment_faults():
            self._client = httpx.AsyncClient(
                verify=certificates(httpx.create_ssl_context),
                headers={**headers, "Accept-Encoding": ACCEPTED},
                limits=httpx.Limits(max_connections=1),
                timeout=timeout,
            )

    def request(self, method: str, address: str, **options: Any) -> httpx.Response:
        """The whole answer; `options` are those of `httpx.AsyncClient.build_request`."""
        return self._background.run(self._answer(self._client.build_request(method, address, **options)))

    def close(self) -> None:
        """Closes the connections. No request may be under way."""
        self._background.run(self._client.aclose())
        self._background.close()

    async def _answer(self, request: httpx.Request) -> httpx.Response:
        try:
            async with asyncio.timeout(self._deadline):
                for _ in range(1 + _REDIRECTS):
                    response = await self._whole(request)
                    if response.next_request is None:
                        return response
                    request = response.next_request
        except TimeoutError as fault:
            raise httpx.ReadTimeout(f"no whole answer within {self._deadline:g} seconds") from fault
        raise httpx.TooManyRedirects(f"more than {_REDIRECTS} redirects", request=request)

    async def _whole(self, request: httpx.Request) -> httpx.Response:
        """One answer, read here: httpx would decompress whatever its header says, to any size."""
        response = await self._client.send(request, stream=True)
        try:
            encoding = response.headers.get("content-encoding", "")
            body = b"".join([piece async for piece in bounded(response.aiter_raw(), encoding, self._most)])
        except EncodingError as fault:
            raise httpx.DecodingError(str(fault), request=request) from fault
        finally:
            await response.aclose()
        headers = [pair for pair in response.headers.multi_items() if pair[0] not in _OF_THE_BODY]
        whole = httpx.Response(response.status_code, headers=headers, content=body, request=request)
        whole.next_request = response.next_request
        return whole
