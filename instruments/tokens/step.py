"""The step that counts: a model's tokenizer in, the share of each language in its vocabulary in the store out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from typing import Any

from polyculture.cache.identity import content_id
from polyculture.cache.store.run_folder import Job
from polyculture.cache.work.worker import Done, StoredRows, Work
from polyculture.generate.engines import TOKENIZING
from polyculture.generate.engines.models import Models
from polyculture.generate.request import request_id
from polyculture.instruments.model_job import ModelJob
from polyculture.instruments.row_step import AnswerStep
from polyculture.instruments.tokens.layout import VOCABULARY_SHARES, WANTED_VOCABULARIES, CountedVocabulary
from polyculture.instruments.tokens.writings import Writing, vocabulary_shares, writings_of


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A language in the vocabulary of a model, with a key per reading."""

    request_id: str
    keys: tuple[str, ...]


@dataclass(frozen=True)
class VocabularyJob(ModelJob[Vocabulary]):
    """The readings of a language in the vocabulary of a model."""

    requested = WANTED_VOCABULARIES.row
    job: Job
    characters: str
    setup: Mapping[str, Any] = field(default_factory=dict)

    @property
    def writings(self) -> tuple[Writing, ...]:
        return writings_of(self.job.language, self.characters)

    @property
    def size(self) -> int:
        return len(self.writings)

    @property
    def request_id(self) -> str:
        own = [_plain(writing) for writing in self.writings]
        return request_id("tokenize", self.job.model, self.setup, [self.job.language, self.characters, own])

    def asks(self) -> Iterator[Vocabulary]:
        request = self.request_id
        yield Vocabulary(request, tuple(content_id(request, writing.reading) for writing in self.writings))


def vocabulary_jobs(languages: Sequence[str], characters: str) -> list[VocabularyJob]:
    """A job per language."""
    return [VocabularyJob(Job("", language, f"vocabulary-{characters}"), characters) for language in languages]


class VocabularyStep(AnswerStep[Vocabulary, VocabularyJob]):
    """Counts the tokens of languages. The model itself is not loaded."""

    name = "tokens"
    use = "tokenize"
    tables = (VOCABULARY_SHARES,)
    _read: tuple[str, list[str]] = "", []  # the model that was read last, and its vocabulary

    def ask(
        self, work: Work[Vocabulary], items: Iterator[Vocabulary], models: Models, kept: StoredRows
    ) -> Iterator[Done]:
        """The shares of a language, one per reading. Raises `EngineError` where there is no tokenizer to be read."""
        model, language, characters = work.job.model, work.job.language, self.asked[work.job].characters
        for item in items:
            if self._read[0] != model:
                self._read = model, models.open(TOKENIZING).vocabulary()
            found = vocabulary_shares(self._read[1], [language], characters)
            yield Done(
                tuple(
                    CountedVocabulary(
                        key, item.request_id, model, language, characters, share.reading,
                        share.tokens, share.own, share.partial, share.share, "ok",
                    )
                    for key, share in zip(item.keys, found, strict=True)
                )
            )  # fmt: skip


def _plain(writing: Writing) -> list[Any]:
    return [sorted(part) if isinstance(part, frozenset) else part for part in astuple(writing)]
