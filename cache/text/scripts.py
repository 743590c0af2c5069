"""The writing systems of a text."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Collection
from functools import cache

from fontTools.unicodedata import script as unicode_script

# Codes of the Unicode property Script that are no script: common, inherited, unknown.
_NO_SCRIPT = frozenset({"Zyyy", "Zinh", "Zzzz"})


def script_counts(text: str) -> Counter[str]:
    """How many letters, vowel signs included, of each script (ISO 15924 code) a text holds."""
    counts: Counter[str] = Counter()
    for character, times in Counter(text).items():
        code = script_of(character)
        if code is not None:
            counts[code] += times
    return counts


def script_share(counts: Counter[str], scripts: Collection[str]) -> float | None:
    """The share of letters that belong to `scripts`; None where there are no letters."""
    total = counts.total()
    return sum(counts[script] for script in scripts) / total if total else None


@cache
def script_of(character: str) -> str | None:
    """The script of a letter or vowel sign; None for digits, punctuation and signs that scripts share."""
    code = unicode_script(character)
    return code if unicodedata.category(character)[0] in "LM" and code not in _NO_SCRIPT else None
