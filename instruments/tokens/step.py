"""The step that counts: a model's tokenizer in, the share of each language in its vocabulary in the store out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import partial
from typing import Any

from polyculture.cache.identity import content_id
from polyculture.cache.manifest import setup_id
from polyculture.cache.run_folder import Job
from polyculture.cache.worker import Done, Kept, Step, Work
from polyculture.generate.engines import TOKENIZING
from polyculture.generate.engines.models import MODEL, Models
from polyculture.generate.request import request_id
from polyculture.instruments.tokens.rows import VOCABULARY_SHARES, CountedVocabulary, WantedVocabulary
from polyculture.instruments.tokens.vocabulary import Characters, Writing, vocabulary_shares, writings_of


@dataclass(frozen=True, slots=True)
class CountedLanguage:
    """A language whose tokens are counted in a model's vocabulary, once per reading; and its row of what is wanted."""

    wanted: WantedVocabulary
    characters: Characters

    def share_ids(self) -> tuple[str, ...]:
        readings = (writing.reading for writing in writings_of(self.wanted.language, self.characters))
        return tuple(content_id(self.wanted.request_id, reading) for reading in readings)


def counted_languages(
    setups: Mapping[str, Mapping[str, Any]], languages: Sequence[str], characters: Characters
) -> list[CountedLanguage]:
    """Each language in the vocabulary of each model, by the models' setups."""
    found = []
    for model, setup in setups.items():
        for language in languages:
            own = [_plain(writing) for writing in writings_of(language, characters)]
            request = request_id("tokenize", model, setup, [language, characters, own])
            wanted = WantedVocabulary(request, model, setup_id(setup), language, characters)
            found.append(CountedLanguage(wanted, characters))
    return found


class VocabularyStep(Step[CountedLanguage, Models]):
    """Counts the tokens of languages. The model itself is not loaded."""

    name = "tokens"
    tables = (VOCABULARY_SHARES,)

    def __init__(self, languages: Sequence[CountedLanguage]) -> None:
        self._languages = languages
        self._read: dict[str, list[str]] = {}  # the vocabulary of the model that was read last

    def works(self) -> Iterator[Work[CountedLanguage]]:
        """A work per model and language."""
        for item in self._languages:
            job = Job(item.wanted.model, item.wanted.language, f"vocabulary-{item.characters}")
            yield Work(job, {MODEL: item.wanted.model}, partial(iter, (item,)), len(item.share_ids()))

    def keys(self, item: CountedLanguage) -> tuple[str, ...]:
        return item.share_ids()

    def ask(
        self, work: Work[CountedLanguage], items: Iterator[CountedLanguage], models: Models, kept: Kept
    ) -> Iterator[Done]:
        """The shares of a language, one per reading. Raises `EngineError` where there is no tokenizer to be read."""
        for item in items:
            wanted = item.wanted
            if wanted.model not in self._read:
                self._read = {wanted.model: models.open(TOKENIZING).vocabulary()}
            found = vocabulary_shares(self._read[wanted.model], [wanted.language], item.characters)
            yield Done(
                tuple(
                    CountedVocabulary(
                        key, wanted.request_id, wanted.model, wanted.language, item.characters, share.reading,
                        share.tokens, share.own, share.partial, share.share, "ok",
                    )
                    for key, share in zip(item.share_ids(), found, strict=True)
                )
            )  # fmt: skip


def _plain(writing: Writing) -> list[Any]:
    return [sorted(part) if isinstance(part, frozenset) else part for part in astuple(writing)]
