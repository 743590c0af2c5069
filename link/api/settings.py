"""The settings of requests to the live service: contact, rate, token."""

from __future__ import annotations

import os
from dataclasses import dataclass
from urllib.parse import urlsplit

from polyculture.cache.errors import WikidataError
from polyculture.link.etiquette import ServiceSettings, duration, fits_header

WIKIDATA = "https://www.wikidata.org/w/api.php"
REQUESTS_PER_MINUTE = 200.0  # of a client that is not signed in
REQUESTS_SIGNED_IN = 600.0
REQUESTS_PER_NAME = 2  # measured: 1.1, and 1.9 where the English name is searched, too
_ON_THIS_MACHINE = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True, slots=True)
class ApiSettings(ServiceSettings):
    """How to ask the service. `token_env` names the environment variable with an owner-only OAuth 2 access token, for
    signing in. The token is read for each request, sent to the service, and kept nowhere.
    """

    endpoint: str = WIKIDATA
    requests_per_minute: float = REQUESTS_PER_MINUTE
    token_env: str | None = None
    maxlag: int = 5  # seconds of replication lag above which the service may refuse a request

    @property
    def requests_line(self) -> str:
        """How many requests names take, and how long, in words."""
        names = 1000
        return (
            f"some {REQUESTS_PER_NAME} requests per distinct name, {self.requests_per_minute:g} a minute at most:"
            f" {names * REQUESTS_PER_NAME / self.requests_per_minute:.0f} minutes per {names:,} names,"
            " and nothing for names that the file was asked for"
        )

    def requests_for(self, names: int) -> str:
        """How many requests so many names take, and how long, in words."""
        requests, rate = names * REQUESTS_PER_NAME, self.requests_per_minute
        return f"{requests:,} requests, {duration(requests / rate)} at {rate:g} a minute"

    def check(self) -> None:
        """Raises `WikidataError` as `ServiceSettings.check`, and where the token would be sent unencrypted."""
        ServiceSettings.check(self)
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
        if not fits_header(token) or " " in token:
            raise WikidataError(f"{place} holds no access token", remedy="Copy it again from where it was issued.")
        return token
