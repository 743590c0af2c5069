"""Numbers of things in English, for messages and pages."""

from __future__ import annotations


def quantity(number: int, one: str, many: str = "") -> str:
    """'1 row', '2 rows'; `many` is the plural of words that have another one."""
    return f"{number} {one if number == 1 else many or f'{one}s'}"
