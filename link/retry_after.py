"""How long an HTTP service asks us to wait (RFC 9110, 10.2.3)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


def retry_after(headers: Mapping[str, str]) -> float:
    """The seconds that `Retry-After` asks for, in either of its forms; 0.0 where it is missing or is neither.

    A date is compared with the service's own `Date`, whose clock need not be ours.
    """
    header = headers.get("Retry-After", "").strip()
    if header.isdecimal():
        return float(header)
    until = _date(header)
    if until is None:
        return 0.0
    now = _date(headers.get("Date", "")) or datetime.now(UTC)
    return max(0.0, (until - now).total_seconds())


def _date(text: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)
