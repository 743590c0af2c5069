"""The options that a text ticks among all that it judges, one a line: check marks, boxes, or the largest percentage."""

from __future__ import annotations

import re
from collections.abc import Sequence

from polyculture.instruments.questions.reading.answer_text import MARKS
from polyculture.instruments.questions.reading.tokens import TOKEN, place_of

_YES = re.compile(r"[✅✓✔☑🗹]|\[x\]", re.IGNORECASE)
_NO = re.compile(r"[❌❎✗✘✖☐]|\[ ?\]")
_PERCENT = re.compile(r"(?<![\d.,])(\d{1,3}(?:[.,]\d+)?) ?%")
_PART = re.compile(r"[,;](?!\d)")  # "A - 20 %, B - 80 %"
_OFF = 2  # percent by which shares that are rounded may miss 100


def by_option(lines: Sequence[str]) -> list[int] | None:
    """The places that are ticked, or that of the largest share; None where not all options named are judged.

    Shares count only as probabilities: where they sum to 100 and one is larger than all others.
    """
    ticked = [found for line in lines if (found := _judged(line)) is not None]
    named = [line for line in lines if TOKEN.search(line)]
    places = {place for place, _ in ticked}
    bare = all(not _NO.sub("", _YES.sub("", TOKEN.sub("", line))).strip(MARKS) for line in named)  # not "A: wrong ✅"
    if len(ticked) == len(named) and len({*ticked}) == len(places) and (len(places) > 1 or (places and bare)):
        return sorted({place for place, right in ticked if right})
    parts = [part for line in lines for part in _PART.split(line) if TOKEN.search(part)]
    shares = {
        place: share for part in parts if (place := _place(part)) is not None and (share := _share(part)) is not None
    }
    if len(shares) != len(parts) or len(shares) < 2 or abs(sum(shares.values()) - 100) > _OFF:
        return None
    largest = [place for place, share in shares.items() if share == max(shares.values())]
    return largest if len(largest) == 1 else None


def _place(line: str) -> int | None:
    """The only option that a line names, by its label, its text or both."""
    places = {place_of(token) for token in TOKEN.findall(line)}
    return places.pop() if len(places) == 1 else None


def _judged(line: str) -> tuple[int, bool] | None:
    place, right, wrong = _place(line), _YES.search(line), _NO.search(line)
    return None if place is None or bool(right) == bool(wrong) else (place, bool(right))


def _share(part: str) -> float | None:
    found = _PERCENT.findall(part)
    return float(found[0].replace(",", ".")) if len(found) == 1 else None
