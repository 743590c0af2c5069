"""How long a server asks to wait: one reading of the header for engines and for Wikidata."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx
import pytest

from polyculture.cache.network.http_answers import retry_after


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": " 7 "}, 7.0),
        ({"Retry-After": "0"}, 0.0),
        ({"Retry-After": "0.25"}, 0.25),
        ({"Retry-After": "-7"}, None),
        ({"Retry-After": "inf"}, None),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "1m30s"}, 90.0),
        ({"Retry-After": "PT30S"}, 30.0),
        ({"Retry-After": "1775860242", "Date": "Fri, 10 Apr 2026 22:30:12 GMT"}, 30.0),
        ({"Retry-After": "2026-04-10T22:30:42Z", "Date": "Fri, 10 Apr 2026 22:30:12 GMT"}, 30.0),
        ({"X-RateLimit-Retry-After": "3"}, 3.0),
        ({"Retry-After-Ms": "850", "Retry-After": "1"}, 0.85),
        ({"Retry-After": "Fri, 10 Apr 2026 22:30:42 GMT", "Date": "Fri, 10 Apr 2026 22:30:12 GMT"}, 30.0),
        ({"Retry-After": "Fri, 10 Apr 2026 22:30:42 -0000", "Date": "Fri, 10 Apr 2026 22:30:12 GMT"}, 30.0),
        ({"Retry-After": "Fri, 10 Apr 2026 22:30:12 GMT", "Date": "Fri, 10 Apr 2026 22:30:42 GMT"}, 0.0),
        ({"Retry-After": "Fri, 10 Apr 2020 22:30:12 GMT"}, 0.0),
    ],
)
def test_a_number_or_a_date_is_read_and_all_else_is_none(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(httpx.Headers(headers)) == seconds


def test_a_date_without_the_servers_own_is_compared_with_our_clock() -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    assert 25 < (retry_after({"Retry-After": soon}) or 0.0) <= 30
