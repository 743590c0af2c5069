"""The content of a data set: contexts with one gap, entities that fit it, and the rows left out.

The sentiment that a data set gives a context.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeVar, get_args

from polyculture.cache.identity import content_id
from polyculture.sources.left_out import LeftOut, SourceLocation, check_command

MASK = "[MASK]"
BOTH = "both"
CAUSAL = "causal"  # the form of contexts of which what matters stands before the gap
# How reasons end that concern one use of a data set: they are told where that use is asked.
OF_SENTIMENT = "so out of the task of sentiment"
OF_CAUSAL = "so out of causal scoring"
OF_ENGLISH = "so out of the translation"


@dataclass(frozen=True)
class CulturalEntity:
    """A name in one language that belongs to one culture."""

    dataset: str
    language: str
    culture: str
    entity_type: str  # 'food', 'names', 'locations', ...
    surface: str
    english: str | None
    gender: str | None  # 'female' | 'male' | 'both' of names and clothing: that of all rows of the entity
    country: str | None  # as the publisher writes it
    qid: str | None  # where the publisher gives one
    place: SourceLocation
    published_gender: str | None = None  # that of the row's sheet
    originals: Mapping[str, str] = field(default_factory=dict, compare=False)  # of a translation: language to id
    occurrence: int = 0  # of a row that stands in the files again: 1, 2, ...
    left_out: frozenset[str] = field(default=frozenset(), compare=False)  # languages that our reading leaves it out of

    @property
    def repeats(self) -> str | None:
        """The id of the first of equal rows; None of that itself."""
        return replace(self, occurrence=0).entity_id if self.occurrence else None

    @property
    def ours(self) -> CulturalEntity | None:
        """It in our reading: a translation is one of fewer originals there. None where it is in none."""
        if not self.left_out:
            return self
        originals = {code: key for code, key in self.originals.items() if code not in self.left_out}
        return replace(self, originals=originals) if originals else None

    @cached_property  # draws and jobs ask millions of times
    def entity_id(self) -> str:
        again = [self.occurrence] if self.occurrence else []
        return content_id(self.dataset, self.language, self.culture, self.entity_type, self.surface, *again)

    def rank(self, language: str) -> str:
        """The sort key of entities for contexts of a language: a translation has that of its source."""
        return self.originals.get(language, self.entity_id)


@dataclass(frozen=True)
class MaskedContext:
    """A text with one gap, `MASK`, that an entity of one type fits."""

    dataset: str
    language: str
    culture: str  # the native culture of the comparison
    entity_type: str
    gender: str | None
    setting: str  # 'grounded' | 'neutral' | 'qa'
    form: str  # 'causal': what matters stands before the gap; 'masked': anywhere; 'any': not said
    text: str
    english: str | None
    sentiment: str | None
    place: SourceLocation
    phrasing: str | None = None  # 'english-like' | 'pro-drop', or a user's own
    pair: str | None = None  # the name that it shares with the same context in another phrasing
    context_prefix: str | None = None  # what is put before it to help the model
    base_context_id: str | None = None  # the id of the context without that prefix
    question: str | None = None  # that the entity answers
    source_context_id: str | None = None  # of a translation: the id of its source
    source_language: str | None = None
    occurrence: int = 0  # of a row that stands in the files again: 1, 2, ...
    left_out: bool = field(default=False, compare=False)  # our reading leaves it out

    @property
    def sides(self) -> str:
        """What a model reads beside an entity: what stands before the gap, and behind it unless nothing there matters.

        A causal model reads less of a context whose form says nothing.
        """
        return self.prefix if self.form == "causal" else self.prefix + self.suffix

    @property
    def repeats(self) -> str | None:
        """The id of the first of equal rows; None of that itself."""
        return replace(self, occurrence=0).context_id if self.occurrence else None

    @cached_property
    def context_id(self) -> str:
        kind = (self.entity_type, self.gender, self.setting, self.form)
        told = (self.phrasing, self.pair, self.context_prefix, self.question, self.occurrence)
        more = [word for word in told if word]
        return content_id(self.dataset, self.language, self.culture, *kind, self.text, *more)

    @property
    def rank(self) -> str:
        """The sort key of contexts: a translation has that of its source, two phrasings share one."""
        return content_id(self.pair) if self.pair else self.source_context_id or self.context_id

    @property
    def unit(self) -> str:
        """What a context shares with its translations, which are one witness, and with its other phrasing."""
        if self.pair:
            return f"{self.language} {self.pair}"
        return " ".join(self.english.casefold().split()) if self.english else str(self.place)

    @property
    def chooser(self) -> str:
        """The language whose ids choose its entities."""
        return self.source_language or self.language

    @property
    def prefix(self) -> str:
        return self.text.partition(MASK)[0]

    @property
    def starts_with_gap(self) -> bool:
        """Is there nothing before the gap? A causal model has nothing to condition on then."""
        return not self.prefix.strip()

    @property
    def suffix(self) -> str:
        return self.text.partition(MASK)[2]


R = TypeVar("R", CulturalEntity, MaskedContext)


def again_of(row: R) -> Iterator[R]:
    """The same row as further occurrences of it."""
    return (replace(row, occurrence=number) for number in range(row.occurrence + 1, 10**6))


@dataclass(frozen=True)
class DataSet:
    """A data set as it was found in a folder: all rows, of which our reading leaves out those that are marked so."""

    name: str
    reference: str  # the culture that native ones are compared with: 'Western'
    folder: Path
    every_entity: tuple[CulturalEntity, ...]
    every_context: tuple[MaskedContext, ...]
    told: tuple[LeftOut, ...] = field(default=())
    english: bool = False  # read in its publisher's translation
    named: str = ""  # as the user named it, by name or by the path of rules
    as_published: bool = False  # with rows that stand twice, names on both sides, and contexts without a prefix

    @cached_property
    def entities(self) -> tuple[CulturalEntity, ...]:
        """Those that count: as published each row with the gender of its sheet."""
        if self.as_published:
            pairs = ((one, one.published_gender) for one in self.every_entity)
            return tuple(one if one.gender == gender else replace(one, gender=gender) for one, gender in pairs)
        return tuple(one for one in (each.ours for each in self.every_entity) if one)

    @cached_property
    def contexts(self) -> tuple[MaskedContext, ...]:
        """Those that count."""
        return tuple(one for one in self.every_context if self.as_published or not one.left_out)

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """What is left out or changed, and why."""
        return tuple(line for line in self.told if not (self.as_published and line.is_published))

    @property
    def check_command(self) -> str:
        """The command that lists what is left out or changed."""
        return check_command(self.named or self.name, self.folder, english=self.english)

    def fitting(self, context: MaskedContext) -> list[CulturalEntity]:
        """The entities that compete for a context's gap: native and reference, of its language, type and gender.

        For a context in translation they are those that may fill its original: entities that its language has.
        """
        kind = (context.language, context.entity_type, context.culture, context.gender, context.source_language)
        if kind not in self._fitting:  # hundreds of contexts ask for the same thousands
            self._fitting[kind] = [
                entity
                for entity in self._by_kind.get((context.language, context.entity_type), ())
                if entity.culture in (context.culture, self.reference)
                and agree(context.gender, entity.gender)
                and (context.source_language is None or context.source_language in entity.originals)
            ]
        return self._fitting[kind]

    @cached_property
    def _fitting(self) -> dict[tuple[str | None, ...], list[CulturalEntity]]:
        return {}

    @cached_property
    def _by_kind(self) -> Mapping[tuple[str, str], list[CulturalEntity]]:
        kinds: dict[tuple[str, str], list[CulturalEntity]] = {}
        for entity in self.entities:
            kinds.setdefault((entity.language, entity.entity_type), []).append(entity)
        return kinds


def agree(wanted: str | None, gender: str | None) -> bool:
    """Do two genders go together? None and 'both' go with each."""
    return wanted in (None, BOTH) or gender in (None, BOTH) or wanted == gender


Label = Literal["positive", "negative", "neutral"]
LABELS: tuple[Label, ...] = get_args(Label)
SIMILAR = 0.85  # of a misspelt label and the right one, from 0 to 1: 'positvie'


def read_sentiment(said: str | None) -> Label | None:
    """The label that a word means, a slip of the pen allowed; None where it means none."""
    word = (said or "").strip().casefold()
    close = get_close_matches(word, LABELS, n=1, cutoff=SIMILAR)
    return next((label for label in LABELS if close == [label]), None)


def gold_label(context: MaskedContext) -> Label | None:
    """The sentiment of a context; None where the publisher gives none, or another word than the three."""
    return read_sentiment(context.sentiment)
