"""What comes from outside is read, or is a NULL with a note; it never takes a whole answer with it."""

from __future__ import annotations

import pytest

from polyculture.cache.text.sanitize import ResponseSanitizer, parse


@pytest.mark.parametrize("digits", ["9" * 20, "9" * 31, "9" * 5_000, "-" + "9" * 5_000])
def test_an_absurd_number_leaves_the_rest_of_an_answer_readable(digits: str) -> None:
    """Python itself refuses to read an integer of more than 4,300 digits."""
    found = parse(f'{{"text": "ramen", "tokens": {digits}}}'.encode())
    assert found["text"] == "ramen"
    sanitizer = ResponseSanitizer()
    assert sanitizer.count("tokens", found["tokens"]) is None
    assert "tokens: no number of tokens" in (sanitizer.note or "")


def test_numbers_that_columns_hold_are_read_as_they_are() -> None:
    assert parse(b'[1, 18446744073709551615, 2.5, "\xff"]')[:3] == [1, 2**64 - 1, 2.5]
