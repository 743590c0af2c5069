"""The tables of data sets of contexts and entities: they decide which rows of instruments are current.

The data sets of contexts and entities as a run last read them: they decide which rows are current.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from polyculture.cache.store.layout import Layer, Layout, Table


@dataclass(frozen=True, slots=True)
class DatasetContext:
    """A context of a data set as it is now, or one with a prefix as it was last asked."""

    context_id: str  # hash of all that makes the context
    dataset: str  # 'camellia', 'camel', ..., or the name in a rules file
    language: str  # a code of the data set's
    english: bool  # it is the publisher's translation of another
    culture: str  # the native culture of the comparison, as the data set writes it
    entity_type: str  # 'food', 'names', ...
    gender: str | None  # of the entities that fit it: 'female' | 'male'; None or 'both': all
    setting: str  # 'grounded' (only native entities fit), 'neutral' (any fit), or a user's own
    form: str  # 'causal' (what matters stands before the gap) | 'masked' (anywhere) | 'any'
    context: str  # its text, with the gap as [MASK]
    sentiment: str | None  # 'positive' | 'negative' | 'neutral'; None where the data set says none of them
    phrasing: str | None  # 'english-like' | 'pro-drop' | a user's own; None where the context has no pair
    pair: str | None  # the name that the contexts of such a pair share
    context_prefix: str | None  # before the context: 'token' | '5 demonstrations'; None: none
    base_context_id: str | None  # of a context with a prefix: the context_id of the one without
    source_context_id: str | None  # of a translated context: the context_id of its source
    source_language: str | None  # of a translation: who may fill it is known in this language
    unit: str  # what its translations share: the pair, else the English text, else the sheet's row
    starts_with_gap: bool  # our reading leaves it out of causal scoring
    left_out: bool  # our reading leaves the row out: it stands in the files again
    repeats: str | None  # of a row that stands in the files again: the context_id of the first
    as_published: bool  # the data set was last read so: what is left out counts


@dataclass(frozen=True, slots=True)
class DatasetEntity:
    """An entity of a data set as it is now."""

    entity_id: str  # hash of data set, language, culture, type and the entity itself
    dataset: str
    language: str
    english: bool  # it is the publisher's translation of another
    culture: str  # that it belongs to
    entity_type: str
    entity: str  # as it is put into a gap
    gender: str | None  # 'female' | 'male' | 'both' of names and clothing
    published_gender: str | None  # that of the row; `gender` is that of all rows of the entity
    translation: str | None  # the publisher's, into English
    publisher_qid: str | None  # the Wikidata item that the publisher names
    reference: bool  # of the culture that native ones are compared with
    left_out: bool  # our reading leaves it out: it stands in the files again, or is on both sides
    repeats: str | None  # of a row that stands in the files again: the entity_id of the first
    as_published: bool  # the data set was last read so: what is left out counts


DATASET_CONTEXTS = Table("dataset_contexts", DatasetContext)
DATASET_ENTITIES = Table("dataset_entities", DatasetEntity)


DATASETS = Layout((DATASET_CONTEXTS, DATASET_ENTITIES), Layer((Path(__file__).with_name("present.sql"),)))
