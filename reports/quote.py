"""One sentence of the evidence, with an entity marked: what the numbers are made of.

It is chosen by rule, not by hand: of the texts on the page the first that is of the first finding, as near as there is
one, with a sentence of a readable length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from polyculture.reports.evidence import AXES
from polyculture.reports.numbers import count

_READABLE = (30, 220)  # characters of a sentence
_AROUND = 12  # characters of it that are not the entity, at least
_ENDS = re.compile(r"[.!?](?=\s|$)|[。！？｡؟।]|\n")
_TRIED = 200  # texts whose sentences are looked at

Evidence = Mapping[str, Any]  # as `read_evidence` gives it


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence in three parts, where it stands, and what is marked in it."""

    before: str
    marked: str
    after: str
    language: str  # code: of the text, as far as it was detected
    where: str  # 'gpt-4o-mini, Japanese, Food, names the country, Japan'
    entity: str
    address: str  # the permalink of the sentence
    texts: str  # on the page


def quote(evidence: Evidence, wanted: Mapping[str, str]) -> Quote | None:
    """The sentence; None where the page holds no text with a linked mention. `wanted` has codes by axis."""
    found = sorted(_mentions(evidence), key=lambda mention: _distance(evidence, mention, wanted))[:_TRIED]
    sentences = [(mention, _sentence(evidence["responses"][mention[0]]["text"], *mention[1:3])) for mention in found]
    least, most = _READABLE
    readable = [
        (mention, said)
        for mention, said in sentences
        if least <= sum(map(len, said)) <= most and len(said[0]) + len(said[2]) >= _AROUND
    ]
    return next((_quote(evidence, mention, said) for mention, said in readable or sentences), None)


Mention = tuple[int, int, int, int]  # response, start, end, item


def _mentions(evidence: Evidence) -> Iterator[Mention]:
    """The linked mentions of the shown texts that have a place in what is shown."""
    items = evidence["items"]
    for number, response in enumerate(evidence["responses"]):
        marks = response["marks"]
        for start, end, item in zip(marks[::3], marks[1::3], marks[2::3], strict=True):
            if item >= 0 and start is not None and end <= len(response["text"]) and items[item]["status"] == "linked":
                yield number, start, end, item


def _distance(evidence: Evidence, mention: Mention, wanted: Mapping[str, str]) -> tuple[Any, ...]:
    number, start, _, item = mention
    codes = _codes(evidence, number)
    asked = dict(evidence["axes"]["country"]).get(codes.get("country"))
    foreign = evidence["items"][item].get("from") != asked or asked is None
    wanted = {"condition": "explicit", **wanted}
    differs = [wanted.get(axis) not in (None, codes.get(axis)) for axis in ("model", "condition", "country")]
    return (*differs, codes.get("language") != "en", foreign, number, start)


def _codes(evidence: Evidence, number: int) -> dict[str, str]:
    """The codes of a text's cell, by axis; without those along which the page does not split."""
    cell = evidence["cells"][evidence["responses"][number]["cell"]]
    return {axis: evidence["axes"][axis][at][0] for axis, at in zip(AXES, cell, strict=True) if at >= 0}


def _sentence(text: str, start: int, end: int) -> tuple[str, str, str]:
    """The sentence around a mention: before it, the mention, and after it; cut where it is very long."""
    most = _READABLE[1]
    marked = text[start : min(end, start + most)]
    begins = [found.end() for found in _ENDS.finditer(text, 0, start)]
    finish = _ENDS.search(text, end)
    before, after = (
        text[begins[-1] if begins else 0 : start].lstrip(),
        text[end : finish.end() if finish else None].rstrip(),
    )
    room = max(0, most - len(marked)) // 2
    if len(before) + len(marked) + len(after) > most:
        before = f"… {before[len(before) - room :]}" if len(before) > room else before
        after = f"{after[:room]} …" if len(after) > room else after
    return before, marked, after


def _quote(evidence: Evidence, mention: Mention, said: tuple[str, str, str]) -> Quote:
    number, _, _, item = mention
    response, codes = evidence["responses"][number], _codes(evidence, number)
    names = {axis: dict(evidence["axes"][axis]) for axis in AXES}
    place = {axis: codes.get(axis, "none") for axis in AXES if axis in codes or axis == "country"}
    key = f"{response['sample']}.{_hash(evidence['prompts'][response['prompt']] or '')}"
    entity = evidence["items"][item]
    return Quote(
        *said,
        response.get("detected") or codes.get("language", ""),
        ", ".join(names[axis][codes[axis]] for axis in AXES if axis in codes),
        entity["label"],
        f"#evidence&{urlencode({**place, 'item': entity['qid'], 'sentence': key})}",
        count(len(evidence["responses"])),
    )


def _hash(prompt: str) -> str:
    """FNV-1a over code points in base 36, as the page's script names a sentence."""
    number = 2166136261
    for letter in prompt:
        number = (number ^ ord(letter)) * 16777619 & 0xFFFFFFFF
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + digits
    return digits or "0"
