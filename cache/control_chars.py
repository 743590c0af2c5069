"""Somebody else's text (a label, an answer) where signs steer: a terminal, a table of LaTeX."""

from __future__ import annotations

import unicodedata

_OVERRIDES = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")  # they turn the rest of a line around


def replace_control_chars(text: str) -> str:
    """The text with a replacement character for whatever would steer; line breaks stay."""
    return "".join("\ufffd" if _steers(letter) else letter for letter in text)


def _steers(letter: str) -> bool:
    return letter != "\n" and (unicodedata.category(letter) in ("Cc", "Zl", "Zp") or letter in _OVERRIDES)
