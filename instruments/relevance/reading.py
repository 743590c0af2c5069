"""Who reads the answers: the readers of multiple choice, on this instrument's rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from polyculture.generate.engines.answer import text_in
from polyculture.instruments.choices.asking import Read
from polyculture.instruments.choices.likelihoods import RULES
from polyculture.instruments.choices.reading_step import Reader, Unread
from polyculture.instruments.culture_mcq.asking import GENERATED
from polyculture.instruments.culture_mcq.reading import ScoreReader, WordReader
from polyculture.instruments.culture_mcq.rows import role_of
from polyculture.instruments.relevance.rows import RelevanceAnswerRow, RelevanceReadingRow


@dataclass(frozen=True)
class StoredWords:
    """Reads what models wrote."""

    words: WordReader = field(default_factory=WordReader)

    @property
    def name(self) -> str:
        return self.words.name

    @property
    def reader_id(self) -> str:
        return self.words.reader_id

    def reads(self, answer: RelevanceAnswerRow) -> bool:
        return answer.answer_method == GENERATED and answer.raw is not None

    def read_stored(self, answer: RelevanceAnswerRow) -> Read:
        return self.words.read(text_in(answer.raw or "") or "", answer.choices)


@dataclass(frozen=True)
class StoredScores:
    """Takes the likeliest option under a rule."""

    rule: ScoreReader

    @property
    def name(self) -> str:
        return self.rule.name

    @property
    def reader_id(self) -> str:
        return self.rule.reader_id

    def reads(self, answer: RelevanceAnswerRow) -> bool:
        return answer.answer_method != GENERATED

    def read_stored(self, answer: RelevanceAnswerRow) -> Read:
        return self.rule.read(answer.scores or (), answer.tokens or (), answer.unconditional or ())


def readers() -> Sequence[Reader[RelevanceAnswerRow]]:
    """All readers of stored answers."""
    return [StoredWords(), *(StoredScores(ScoreReader(rule)) for rule in RULES)]


def reading_row(item: Unread[RelevanceAnswerRow], read: Read) -> RelevanceReadingRow:
    """The row of `relevance_readings` that a reading becomes."""
    answer, reader = item.answer, item.reader
    role = role_of(read.reading, answer.right, answer.biased)
    return RelevanceReadingRow(
        item.reading_id, answer.answer_id, reader.name, read.reading, read.ground, role, reader.reader_id
    )
