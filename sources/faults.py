"""What a client wrote in place of an answer: `Error: 429 Too Many Requests` is no text of a model."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path

_LONGEST = 4_000  # characters of an error that somebody kept in place of a text


def is_fault(text: str) -> bool:
    """Whether a text is an error that a client or a server wrote, by `faults.toml`."""
    return len(text) <= _LONGEST and _patterns().match(text.lstrip()) is not None


@cache
def _patterns() -> re.Pattern[str]:
    rows = tomllib.loads(Path(__file__).with_name("faults.toml").read_text(encoding="utf-8"))["faults"]
    whole = (rf"(?:{pattern})\s*\Z" for row in rows for pattern in row.get("whole", ()))
    begins = (pattern for row in rows for pattern in row.get("begins", ()))
    return re.compile("|".join((*whole, *begins)), re.IGNORECASE)
