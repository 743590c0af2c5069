"""How the live service is asked: by whom, how fast, over how many connections."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from polyculture.cache.errors import WikidataError
from polyculture.link.contact import is_contact

WIKIDATA = "https://www.wikidata.org/w/api.php"
# Of a client that does not sign in. One that does may have three requests under way, the most that Wikimedia wants of
# anyone, each connection at the pace of one client.
REQUESTS_PER_MINUTE = 200.0
CONNECTIONS_SIGNED_IN = 3
_ON_THIS_MACHINE = ("127.0.0.1", "::1", "localhost")


def _silent(_line: str) -> None:
    """Tells nobody."""


@dataclass(frozen=True, slots=True)
class ApiSettings:
    """How the service is asked. `contact` (an e-mail address or a page) goes into the User-Agent and must be set.

    `token_env` names the environment variable with an owner-only OAuth 2 access token: whoever has one signs in with
    it. The token is read when the service is asked, sent to it, and kept nowhere. `tell` is given what the user should
    know.
    """

    contact: str
    endpoint: str = WIKIDATA
    requests_per_minute: float | None = None  # None: REQUESTS_PER_MINUTE, signed in that much for each connection
    connections: int | None = None  # None: one, signed in CONNECTIONS_SIGNED_IN
    token_env: str | None = None
    maxlag: int = 5  # seconds of replication lag at which the service may send us away
    timeout: float = 30.0  # seconds without a byte
    tell: Callable[[str], None] = _silent
    sleep: Callable[[float], object] | None = None  # for tests, as is `clock`
    clock: Callable[[], float] = time.monotonic

    @property
    def concurrency(self) -> int:
        """How many requests may be under way at once."""
        return self.connections or (CONNECTIONS_SIGNED_IN if self.token_env else 1)

    @property
    def rate(self) -> float:
        """How many requests may be sent a minute, over all connections."""
        connections = self.concurrency if self.token_env else 1
        return self.requests_per_minute or REQUESTS_PER_MINUTE * connections

    def check(self) -> None:
        """Raises `WikidataError` where nobody could be written to, or a token would not be safe."""
        remedy = 'Write contact = "you@example.org" under [link] in the experiment file.'
        if not self.contact.strip():
            raise WikidataError("the live Wikidata service asks for a contact, and none is set", remedy=remedy)
        if not _fits_header(self.contact.strip()):
            raise WikidataError("the contact holds letters that a User-Agent cannot carry", remedy=remedy)
        if not is_contact(self.contact):
            raise WikidataError(f"{self.contact!r} is neither an e-mail address nor a page", remedy=remedy)
        address = urlsplit(self.endpoint)
        if self.token_env and address.scheme != "https" and address.hostname not in _ON_THIS_MACHINE:
            what = f"the token of {self.token_env} would travel unencrypted"
            raise WikidataError(what, where=self.endpoint, remedy="Write the address with https://.")

    def token(self) -> str | None:
        """The access token; None for whoever does not sign in. Raises `WikidataError` where there should be one."""
        if not self.token_env:
            return None
        token = os.environ.get(self.token_env, "").strip()
        place = f"the environment variable {self.token_env}"
        if not token:
            remedy = f"Set {self.token_env}, or take token_env out to ask without signing in."
            raise WikidataError(f"{place}, which should hold an access token, is not set", remedy=remedy)
        if not _fits_header(token) or " " in token:
            raise WikidataError(f"{place} holds no access token", remedy="Copy it again from where it was given out.")
        return token


def _fits_header(text: str) -> bool:
    return text.isascii() and text.isprintable()
