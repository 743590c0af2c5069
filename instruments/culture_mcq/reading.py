"""Reads what a model said as one of the options it was offered, or takes the likeliest.

Options are shown without letters, so that their words decide. In this order:

- the whole answer, or its first line, is exactly an option, with or without "the answer is" before it. Case counts only
  where two options differ in nothing else;
- "the answer is -" names one option, and the same one each time;
- the answer declines in words: a refusal;
- one option stands in the answer as a whole word, and no other; "not -" does not count.

All else is out of choice: several options, none, a letter. An option inside a longer one ("tea" in "green tea") is none
that was named.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path

from polyculture.cache.identity import content_id, file_sha256
from polyculture.generate.engines.answer import text_in
from polyculture.generate.refusals import is_refusal, refusal_rules_id
from polyculture.instruments.choices import answer_text
from polyculture.instruments.choices.answer_text import MARKS, plain, spoken
from polyculture.instruments.choices.asking import Read
from polyculture.instruments.choices.likelihoods import LIKELIEST, TIE, Rule, likeliest
from polyculture.instruments.choices.reading_step import Unread
from polyculture.instruments.culture_mcq.asking import GENERATED
from polyculture.instruments.culture_mcq.rows import (
    LANGUAGE,
    OUT_OF_CHOICE,
    REFUSAL,
    McqAnswerRow,
    McqReadingRow,
    role_of,
)


class Ground(StrEnum):
    """Why an answer is read as it is."""

    TERM = "term"  # exactly an option
    EXPLICIT = "explicit"  # "the answer is -"
    NAMED = "named"  # one option stands in it
    SEVERAL = "several"  # more than one of the options
    DENIED = "denied"  # the options that stand in it are all denied
    REFUSAL = "refusal"  # declines in words
    EMPTY = "empty"  # nothing was said
    OTHER = "other"  # names no option


_LEAD = re.compile(
    r"^(?:(?:so|therefore|thus)[, ]+)?(?:(?:my|the)\s+)?(?:(?:correct|right|best|final|most likely)\s+)?"
    r"(?:answer|choice|option)(?:\s+(?:is|would be)|\s*:)\s*:?\s*",
    re.IGNORECASE,
)
_EXPLICIT = re.compile(
    r"(?:answer|choice|option)\s*(?:\bis\b|\bwould be\b|\bshould be\b|[:=])\s*:?\s*(?!not\b)", re.IGNORECASE
)
_DENIED = re.compile(
    r"(?:\bnot|n't|\bnever|\bneither|\bnor|\brather than|\binstead of)(?:\s+(?:the|an?))?\s*\W{0,2}$", re.I
)
_BEFORE = 40  # characters before an option in which it may be denied
_QUOTE = 3  # signs that may stand between "the answer is" and the option: quotation marks, asterisks
_BULLET = re.compile(r"^[-•–—]\s+")


@dataclass(frozen=True)
class WordReader:
    """Reads what models wrote."""

    name: str = "words"

    @cached_property
    def reader_id(self) -> str:
        """It changes with this code: reading again is free, and nobody has to raise a version."""
        rules = [file_sha256(Path(module)) for module in (__file__, answer_text.__file__)]
        return content_id("culture mcq reader", self.name, rules, refusal_rules_id(LANGUAGE))

    def reads(self, answer: McqAnswerRow) -> bool:
        return answer.answer_method == GENERATED and answer.status == "ok" and answer.raw is not None

    def read(self, text: str, choices: Sequence[str]) -> Read:
        """The reading of an answer without its reasoning."""
        said = spoken(text)
        if not said.strip(MARKS):
            return Read(OUT_OF_CHOICE, Ground.EMPTY)
        place = _exactly(said, choices)
        if place is not None:
            return Read(str(place + 1), Ground.TERM)
        found = list(_named(said, choices))
        named = {place for place, denied, _ in found if not denied}
        stated = {place for place, denied, explicit in found if explicit and not denied}
        if len(stated) == 1:
            return Read(str(stated.pop() + 1), Ground.EXPLICIT)
        if is_refusal(said, LANGUAGE):
            return Read(REFUSAL, Ground.REFUSAL)
        if len(named) == 1:
            return Read(str(named.pop() + 1), Ground.NAMED)
        if named:
            return Read(OUT_OF_CHOICE, Ground.SEVERAL)
        return Read(OUT_OF_CHOICE, Ground.DENIED if found else Ground.OTHER)

    def read_stored(self, answer: McqAnswerRow) -> Read:
        return self.read(text_in(answer.raw or "") or "", answer.choices)


def _exactly(said: str, choices: Sequence[str]) -> int | None:
    """The option that the answer, or its first line, is; none where other lines are other options, as in the list."""
    whole = _plainly(said, choices)
    if whole is not None:
        return whole
    first, *rest = (_plainly(line, choices) for line in said.splitlines())
    return first if set(rest) <= {None, first} else None


def _plainly(part: str, choices: Sequence[str]) -> int | None:
    unmarked = _BULLET.sub("", part.strip(MARKS))
    found = (_one(form, choices) for form in (part, unmarked, _LEAD.sub("", unmarked)))
    return next((place for place in found if place is not None), None)


def _one(said: str, choices: Sequence[str]) -> int | None:
    """The option of which this is the text; None where it is none, or fits two."""
    bare = _bare(said)
    for change in (_bare, plain):  # case tells options apart where it must
        found = [place for place, choice in enumerate(choices) if change(choice) and change(choice) == change(bare)]
        if len(found) == 1:
            return found[0]
    return None


def _bare(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).strip(MARKS).split())


def _named(said: str, choices: Sequence[str]) -> Iterator[tuple[int, bool, bool]]:
    """The options that stand in a text, the longest first: which, whether it is denied, whether it is stated."""
    text = said
    stated = {match.end() for match in _EXPLICIT.finditer(said)}
    for place, choice in sorted(enumerate(choices), key=lambda one: len(one[1]), reverse=True):
        if not plain(choice):
            continue
        words = r"\s+".join(map(re.escape, _bare(choice).split()))
        for match in reversed(list(re.finditer(rf"(?<![\w])(?<!\d[.,]){words}(?!\w)(?![.,]\d)", text, re.IGNORECASE))):
            denied = _DENIED.search(text[max(0, match.start() - _BEFORE) : match.start()]) is not None
            explicit = bool(stated & set(range(match.start() - _QUOTE, match.start() + 1)))
            for one in _alike(place, match[0], choices):
                yield one, denied, explicit
            text = text[: match.start()] + "\x00" * len(match[0]) + text[match.end() :]


def _alike(place: int, written: str, choices: Sequence[str]) -> list[int]:
    """The option in a place, or those that differ from it in case alone, unless one of them is written just so."""
    same = [other for other, choice in enumerate(choices) if plain(choice) == plain(choices[place])]
    exact = [other for other in same if _bare(choices[other]) == _bare(written)]
    return exact if len(exact) == 1 else same


@dataclass(frozen=True)
class ScoreReader:
    """Takes the likeliest option under a rule; equal ones name none."""

    name: Rule

    @property
    def reader_id(self) -> str:
        return content_id("culture mcq likelihood reader", 1, self.name)

    def reads(self, answer: McqAnswerRow) -> bool:
        return answer.answer_method != GENERATED and answer.status == "ok"

    def read(self, scores: Sequence[float], tokens: Sequence[float], unconditional: Sequence[float]) -> Read:
        """The option with the highest value, of natural logarithms."""
        place = likeliest(self.name, scores, tokens, unconditional)
        return Read(OUT_OF_CHOICE, TIE) if place is None else Read(str(place + 1), LIKELIEST)

    def read_stored(self, answer: McqAnswerRow) -> Read:
        return self.read(answer.scores or (), answer.tokens or (), answer.unconditional or ())


def reading_row(item: Unread[McqAnswerRow], read: Read) -> McqReadingRow:
    """The row of `culture_mcq_readings` that a reading becomes."""
    answer, reader = item.answer, item.reader
    role = role_of(read.reading, answer.right, answer.biased)
    return McqReadingRow(
        item.reading_id, answer.answer_id, reader.name, read.reading, read.ground, role, reader.reader_id
    )
