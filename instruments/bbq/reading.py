"""Readers: what an answer, or the likelihoods of the choices, come to. Each is known by its name and its rules' id.

Of texts `parser` has two readings, the paper's and the publisher's. Of likelihoods there are three: 'sum', the
log-probability of the whole choice; 'mean', per token; 'corrected', less the log-probability that the choice has after
the prompt's last line alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from polyculture.cache.identity import content_id
from polyculture.generate.engines.answer import text_in
from polyculture.generate.refusals import is_refusal, refusal_rules_id
from polyculture.instruments.bbq.absent_unknown import absent_unknowns
from polyculture.instruments.bbq.asking import GENERATED
from polyculture.instruments.bbq.parser import ParserName, read_answer, rules_id
from polyculture.instruments.bbq.published_parser import Ground
from polyculture.instruments.bbq.rows import LETTERS, OUT_OF_CHOICE, REFUSAL, AnswerRow, ReadingRow, role_of
from polyculture.instruments.choices.asking import Read
from polyculture.instruments.choices.likelihoods import LIKELIEST, TIE, Rule, likeliest
from polyculture.instruments.choices.reading_step import Unread

_ENGLISH = "en"


@dataclass(frozen=True)
class TextReader:
    """Reads what models wrote in one language."""

    name: ParserName
    language: str

    @cached_property
    def reader_id(self) -> str:
        """It changes with the parser's code: reading again is free, and nobody has to raise a version."""
        return content_id("bbq reader", self.name, self.language, rules_id(), refusal_rules_id(self.language))

    def reads(self, answer: AnswerRow) -> bool:
        told = answer.answer_method == GENERATED and answer.status == "ok" and answer.raw is not None
        return told and answer.language == self.language

    def read(self, text: str, choices: Sequence[str]) -> Read:
        """The reading of an answer without its reasoning."""
        refused = self.name == "paper" and bool(is_refusal(text, self.language))
        english = self.language == _ENGLISH
        two = len(choices) == 2  # the persons, without 'unknown'
        letters, absent = (LETTERS[:2], absent_unknowns(self.language)) if two else (LETTERS, ())
        found = read_answer(text, choices, letters, self.name, english=english, refused=refused, absent=absent)
        if found.choice is not None:
            return Read(LETTERS[found.choice], found.ground)
        return Read(REFUSAL if found.ground is Ground.REFUSAL else OUT_OF_CHOICE, found.ground)

    def read_raw(self, raw: str, choices: Sequence[str]) -> Read:
        """The reading of an answer as it came, with its reasoning; one that ends in that says nothing."""
        return self.read(text_in(raw) or "", choices)

    def read_stored(self, answer: AnswerRow) -> Read:
        return self.read_raw(answer.raw or "", answer.choices or ())


@dataclass(frozen=True)
class LikelihoodReader:
    """Takes the likeliest choice under a rule; equal ones name none."""

    name: Rule

    @property
    def reader_id(self) -> str:
        return content_id("bbq likelihood reader", 1, self.name)

    def reads(self, answer: AnswerRow) -> bool:
        return answer.answer_method != GENERATED and answer.status == "ok"

    def read(self, scores: Sequence[float], tokens: Sequence[float], unconditional: Sequence[float]) -> Read:
        """The choice with the highest value, of natural logarithms."""
        place = likeliest(self.name, scores, tokens, unconditional)
        return Read(OUT_OF_CHOICE, TIE) if place is None else Read(LETTERS[place], LIKELIEST)

    def read_stored(self, answer: AnswerRow) -> Read:
        return self.read(answer.scores or (), answer.tokens or (), answer.unconditional or ())


FIRST = LikelihoodReader("sum")  # what scores are read by as they come


def reading_row(item: Unread[AnswerRow], read: Read) -> ReadingRow:
    """The row of `bbq_readings` that a reading becomes."""
    answer, reader = item.answer, item.reader
    role = role_of(read.reading, answer.shown)
    return ReadingRow(item.reading_id, answer.answer_id, reader.name, read.reading, read.ground, role, reader.reader_id)
