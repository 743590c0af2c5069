"""The data sets of contexts and entities as a run last read them: they decide which rows are current."""

from __future__ import annotations

from dataclasses import dataclass

from polyculture.cache.layout import Table


@dataclass(frozen=True, slots=True)
class DatasetContext:
    """A context of a data set as it is now, or one with a prefix as it was last asked."""

    context_id: str  # hash of all that makes the context
    dataset: str
    language: str
    english: bool  # it is the publisher's translation of another
    gender: str | None  # of the entities that fit it: 'female' | 'male'; None or 'both': all
    sentiment: str | None  # 'positive' | 'negative' | 'neutral'; None where the data set says none of them
    context_prefix: str | None  # what is put before the context; None: nothing
    base_context_id: str | None  # of a context with a prefix: the context_id of the one without
    culture: str | None = None  # the native culture of the comparison
    entity_type: str | None = None
    setting: str | None = None
    form: str | None = None  # 'causal' | 'masked' | 'any'
    phrasing: str | None = None
    source_language: str | None = None  # of a translation: who may fill it is known in this language
    starts_with_gap: bool | None = None  # our reading leaves it out of causal scoring
    left_out: bool | None = None  # our reading leaves the row out: it stands in the files again
    repeats: str | None = None  # of a row that stands in the files again: the context_id of the first
    as_published: bool | None = None  # the data set was last read so: what is left out counts


@dataclass(frozen=True, slots=True)
class DatasetEntity:
    """An entity of a data set as it is now."""

    entity_id: str  # hash of data set, language, culture, type and the entity itself
    dataset: str
    language: str
    english: bool  # it is the publisher's translation of another
    gender: str | None  # 'female' | 'male' | 'both' of names and clothing
    translation: str | None  # the publisher's, into English
    publisher_qid: str | None  # the Wikidata item that the publisher names
    culture: str | None = None  # that it belongs to
    entity_type: str | None = None
    reference: bool | None = None  # of the culture that native ones are compared with
    source_languages: list[str] | None = None  # of a translation: the languages that have the entity
    published_gender: str | None = None  # that of the row; `gender` is that of all rows of the entity
    left_out: bool | None = None  # our reading leaves it out: it stands in the files again, or is on both sides
    repeats: str | None = None  # of a row that stands in the files again: the entity_id of the first
    as_published: bool | None = None  # the data set was last read so: what is left out counts


DATASET_CONTEXTS = Table("dataset_contexts", DatasetContext)
DATASET_ENTITIES = Table("dataset_entities", DatasetEntity)
