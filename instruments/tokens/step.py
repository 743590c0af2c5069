"""The step that counts: a model's tokenizer in, the share of each language in its vocabulary in the store out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import partial
from typing import Any

from polyculture.cache.identity import content_id
from polyculture.cache.layout import Table
from polyculture.cache.run_folder import Job, RunFolder
from polyculture.cache.worker import Done, Kept, Load, Span, Work
from polyculture.generate.engines import TOKENIZING
from polyculture.generate.engines.models import MODEL, Models
from polyculture.instruments.tokens.rows import VOCABULARY_SHARES, CountedVocabulary
from polyculture.instruments.tokens.vocabulary import (
    Characters,
    VocabularyShare,
    Writing,
    vocabulary_shares,
    writings_of,
)


@dataclass(frozen=True, slots=True)
class CountedLanguage:
    """A language whose tokens are counted in a model's vocabulary, once per reading."""

    model: str
    setup_id: str
    language: str
    characters: Characters

    @property
    def readings(self) -> tuple[str, ...]:
        """What is counted."""
        return tuple(writing.reading for writing in writings_of(self.language, self.characters))

    def share_id(self, reading: str) -> str:
        """The key of the row of a reading."""
        return content_id(self.model, self.setup_id, self.language, reading, writing_id(self.language, self.characters))


def writing_id(language: str, characters: Characters) -> str:
    """A hash of all that is counted as a language's own."""
    return content_id(characters, language, [_plain(writing) for writing in writings_of(language, characters)])


class VocabularyStep:
    """Counts the tokens of languages. The model itself is not loaded."""

    name = "tokens"
    tables: tuple[Table[Any], ...] = (VOCABULARY_SHARES,)
    span: Span = "job"

    def __init__(self, setup_ids: Mapping[str, str], languages: Sequence[str], characters: Characters) -> None:
        self._setup_ids, self._languages, self._characters = setup_ids, languages, characters
        self._read: dict[str, list[str]] = {}  # the vocabulary of the model that was read last

    def works(self) -> Iterator[Work[CountedLanguage]]:
        """A work per model and language."""
        for model, setup_id in self._setup_ids.items():
            for language in self._languages:
                item = CountedLanguage(model, setup_id, language, self._characters)
                job = Job(model, language, f"vocabulary-{self._characters}")
                yield Work(job, {MODEL: model}, partial(iter, (item,)), len(item.readings))

    def keys(self, item: CountedLanguage) -> tuple[str, ...]:
        return tuple(map(item.share_id, item.readings))

    def adopt(self, run: RunFolder, work: Work[CountedLanguage], missing: Sequence[CountedLanguage]) -> None:
        """Nothing: it is soon counted."""

    def ask(
        self, work: Work[CountedLanguage], items: Iterator[CountedLanguage], models: Models, kept: Kept
    ) -> Iterator[Done]:
        """The shares of a language, one per reading. Raises `EngineError` where there is no tokenizer to be read."""
        for item in items:
            found = vocabulary_shares(self._vocabulary(item.model, models), [item.language], item.characters)
            yield Done(tuple(_row(item, share) for share in found))

    def load(self, item: CountedLanguage) -> Load | None:
        """Queries no model."""
        return None

    def _vocabulary(self, model: str, models: Models) -> list[str]:
        if model not in self._read:
            self._read = {model: models.open(TOKENIZING).vocabulary()}
        return self._read[model]


def _row(item: CountedLanguage, share: VocabularyShare) -> CountedVocabulary:
    return CountedVocabulary(
        share_id=item.share_id(share.reading),
        model=item.model,
        language=item.language,
        characters=item.characters,
        reading=share.reading,
        tokens=share.tokens,
        own=share.own,
        partial=share.partial,
        status="ok",
        setup_id=item.setup_id,
        writing_id=writing_id(item.language, item.characters),
    )


def _plain(writing: Writing) -> list[Any]:
    return [sorted(part) if isinstance(part, frozenset) else part for part in astuple(writing)]
