"""The settings of requests to the live service: contact, rate, connections, token."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from polyculture.cache.errors import WikidataError
from polyculture.link.etiquette import duration, is_contact

WIKIDATA = "https://www.wikidata.org/w/api.php"
# The rate of a client that is not signed in. A signed-in client may have three concurrent requests, Wikimedia's limit,
# each connection at this rate.
REQUESTS_PER_MINUTE = 200.0
REQUESTS_PER_NAME = 2  # measured with bench/linking_fill.py: 1.1, and 1.9 where the English name is searched, too
CONNECTIONS_SIGNED_IN = 3
_ON_THIS_MACHINE = ("127.0.0.1", "::1", "localhost")


def _silent(_line: str) -> None:
    """Drops the line."""


@dataclass(frozen=True, slots=True)
class ApiSettings:
    """How to send requests. `contact` (an e-mail address or a page) goes into the User-Agent and must be set.

    `token_env` names the environment variable with an owner-only OAuth 2 access token, for signing in. The token is
    read for each request, sent to the service, and kept nowhere. `tell` receives messages for the user.
    """

    contact: str
    endpoint: str = WIKIDATA
    requests_per_minute: float | None = None  # None: REQUESTS_PER_MINUTE, signed in that much for each connection
    connections: int | None = None  # None: one, signed in CONNECTIONS_SIGNED_IN
    token_env: str | None = None
    maxlag: int = 5  # seconds of replication lag above which the service may refuse a request
    timeout: float = 30.0  # seconds without a byte received
    deadline: float = 600.0  # seconds for a whole answer
    megabytes: float = 128.0  # of an answer, decompressed: 50 large items have some tens
    tell: Callable[[str], None] = _silent
    sleep: Callable[[float], object] | None = None  # for tests, as is `clock`
    clock: Callable[[], float] = time.monotonic

    @property
    def concurrency(self) -> int:
        """The number of concurrent requests."""
        return self.connections or (CONNECTIONS_SIGNED_IN if self.token_env else 1)

    @property
    def rate(self) -> float:
        """The requests per minute over all connections."""
        connections = self.concurrency if self.token_env else 1
        return self.requests_per_minute or REQUESTS_PER_MINUTE * connections

    @property
    def requests_line(self) -> str:
        """How many requests names take, and how long, in words."""
        names = 1000
        minutes = names * REQUESTS_PER_NAME / self.rate
        return (
            f"some {REQUESTS_PER_NAME} requests per distinct name, {self.rate:g} a minute at most:"
            f" {minutes:.0f} minutes per {names:,} names, and nothing for names that the file was asked for"
        )

    def requests_for(self, names: int) -> str:
        """How many requests so many names take, and how long, in words."""
        requests = names * REQUESTS_PER_NAME
        return f"{requests:,} requests, {duration(requests / self.rate)} at {self.rate:g} a minute"

    def check(self) -> None:
        """Raises `WikidataError` where the contact is missing or invalid, or the token would be sent unencrypted."""
        remedy = 'Write contact = "you@example.org" under [link] in the experiment file.'
        if not self.contact.strip():
            raise WikidataError("the live Wikidata service requires a contact, and none is set", remedy=remedy)
        if not _fits_header(self.contact.strip()):
            raise WikidataError("the contact has characters that a User-Agent cannot hold", remedy=remedy)
        if not is_contact(self.contact):
            raise WikidataError(f"{self.contact!r} is neither an e-mail address nor a page", remedy=remedy)
        address = urlsplit(self.endpoint)
        if self.token_env and address.scheme != "https" and address.hostname not in _ON_THIS_MACHINE:
            what = f"the token of {self.token_env} would be sent unencrypted"
            raise WikidataError(what, where=self.endpoint, remedy="Write the address with https://.")

    def token(self) -> str | None:
        """The access token; None without `token_env`. Raises `WikidataError` where the variable holds no token."""
        if not self.token_env:
            return None
        token = os.environ.get(self.token_env, "").strip()
        place = f"the environment variable {self.token_env}"
        if not token:
            remedy = f"Set {self.token_env}, or remove token_env to send requests without signing in."
            raise WikidataError(f"{place}, which should hold an access token, is not set", remedy=remedy)
        if not _fits_header(token) or " " in token:
            raise WikidataError(f"{place} holds no access token", remedy="Copy it again from where it was issued.")
        return token


def _fits_header(text: str) -> bool:
    return text.isascii() and text.isprintable()
