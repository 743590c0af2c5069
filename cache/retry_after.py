"""How long an HTTP server asks a client to wait (RFC 9110, 10.2.3)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_LONGEST = 366 * 24 * 3600.0  # seconds; a server may ask for more than clocks and floats hold
_SECONDS = re.compile(r"[0-9]+(?:\.[0-9]+)?")  # the RFC has whole seconds; some servers send fractions


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds that `Retry-After` asks for, as a number or a date; None where the header is missing or is neither.

    At most a year.
    A date is compared with the server's own `Date`, whose clock may differ from ours. A date in the past is 0.
    """
    header = headers.get("Retry-After", "").strip()
    if _SECONDS.fullmatch(header):
        return min(float(header), _LONGEST)
    until = _date(header)
    if until is None:
        return None
    now = _date(headers.get("Date", "")) or datetime.now(UTC)
    return min(max(0.0, (until - now).total_seconds()), _LONGEST)


def _date(text: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(text)
        # In UTC: a comparison must not leave the calendar, either.
        return date.astimezone(UTC) if date.tzinfo else date.replace(tzinfo=UTC)
    except (TypeError, ValueError, OverflowError):
        return None
