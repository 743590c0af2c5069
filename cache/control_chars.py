"""Replaces control characters in untrusted text (labels, answers) before a terminal or LaTeX shows it."""

from __future__ import annotations

import unicodedata

_OVERRIDES = frozenset(
    "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)  # bidirectional overrides reverse the rest of a line


def replace_control_chars(text: str) -> str:
    """The text with U+FFFD in place of control characters and bidirectional overrides; line breaks stay."""
    return "".join("\ufffd" if _is_control(letter) else letter for letter in text)


def shown(text: str) -> str:
    """The text with whatever would steer a terminal written out ("\\x1b"); line breaks and tabs stay."""
    return "".join(_written(letter) if _is_control(letter) and letter != "\t" else letter for letter in text)


def _written(letter: str) -> str:
    return letter.encode("unicode_escape").decode()


def _is_control(letter: str) -> bool:
    return letter != "\n" and (unicodedata.category(letter) in ("Cc", "Zl", "Zp") or letter in _OVERRIDES)
