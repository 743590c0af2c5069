"""The rules by which a data set's files are read, and where it is published: a TOML file each, checked by pydantic.

`sources` reads what all rules files have: where a data set is published, its files, their rows, joins, skips and
fields. `EntityBlock` and `ContextBlock` declare what rows become here. `{language}` and `{code}` in a column's name are
each language of the culture.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import model_validator

from polyculture.cache.errors import DataSetError
from polyculture.cache.files import is_folder_name
from polyculture.cache.text.suggestions import did_you_mean
from polyculture.instruments.datasets.model import CAUSAL
from polyculture.sources.places import fields_of
from polyculture.sources.rules import ColumnName, FileRules, SourceRules, columns_of, field
from polyculture.sources.shelf import Shelf
from polyculture.sources.values import spelling

RULES = Path(__file__).parent / "rules"
QUESTIONS = Path(__file__).parents[1] / "questions" / "sets"  # where a name may be that is no data set's
WORDS = {"setting": ("grounded", "neutral", "qa"), "form": (CAUSAL, "masked", "any")}  # of contexts, all that there are
_ASK = "It has questions: ask them with polyculture ask {name}."
HEAD = (  # of a rules file to start from
    'cultures = { Swahili = ["sw"] }  # native cultures with their languages; compared with Western',
    'languages = { sw = "Swahili" }  # what columns call the languages',
    '# types = ["food", "names"]  # all types that there are; without it any',
    '# words.culture = { coast = "Swahili" }  # of a field: what the publisher writes, and what it is called here',
)


class DataBlock(FileRules):
    """What entities and contexts have alike."""

    text: ColumnName = field(
        "the name; of a context the text with its gap, `[MASK]`. `{language}` and `{code}` in it are the name and the "
        "code of each language of the culture",
        needed=True,
        default=...,
    )
    culture: ColumnName | None = field("the culture that it belongs to", needed=True)
    type: ColumnName | None = field("the type of the entity: food, names, ...", needed=True)
    language: ColumnName | None = field(
        "the code of its language; without it, each language of the culture has a column"
    )
    english: ColumnName | None = field("its English translation")
    gender: ColumnName | None = field("female, male or both")

    @model_validator(mode="after")
    def _complete(self) -> DataBlock:
        known = [one.name for one in self.target_fields()]
        if unknown := next((name for name in self.fixed if name not in known), None):
            raise ValueError(f"fixed.{unknown}: is no field of {self.target}; these are {', '.join(known)}")
        said, read = (name for files in self.files for name in fields_of(files)), columns_of(self.column_names)
        if unknown := next((name for name in said if name not in known and name not in read), None):
            raise ValueError(f"files: {{{unknown}}} is no field of {self.target}; these are {', '.join(known)}")
        if lacking := self.lacking():
            raise ValueError(lacking)
        return self


class EntityBlock(DataBlock):
    """Names, each of a culture and of a type."""

    target: ClassVar[str] = "entities"

    country: ColumnName | None = field("the country that it is of, as the publisher writes it")
    qid: ColumnName | None = field("its Wikidata item, or the address of that")


class ContextBlock(DataBlock):
    """Texts with one gap, `[MASK]`, that an entity of one type fits."""

    target: ClassVar[str] = "contexts"

    setting: ColumnName | None = field(
        "`grounded` (names of the culture alone fit), `neutral` (any fit), `qa`", needed=True
    )
    form: ColumnName | None = field("`causal`: what matters is before the gap; `masked`: it may be anywhere")
    sentiment: ColumnName | None = field("positive, negative or neutral")
    phrasing: ColumnName | None = field("how it is put, of a context in two phrasings")
    pair: ColumnName | None = field("the name that two phrasings of a context share")
    question: ColumnName | None = field("a question that the entity answers")


class DatasetRules(SourceRules):
    """A data set: its publisher, its content, and the rules for reading its files."""

    published: Mapping[Literal["entities", "contexts"], int] = {}  # what the paper says there is
    reference: str = "Western"
    types: tuple[str, ...] = ()  # of entities, all that there are; (): any
    cultures: Mapping[str, tuple[str, ...]] = {}  # culture -> its languages
    others: tuple[str, ...] = ()  # cultures that are kept and are neither native nor the reference
    entities: tuple[EntityBlock, ...]
    contexts: tuple[ContextBlock, ...] = ()

    @model_validator(mode="after")
    def _complete(self) -> DatasetRules:
        self.check_words(one.name for block in (EntityBlock, ContextBlock) for one in block.target_fields())
        for name, known in WORDS.items():
            said = [(f"words.{name}", ours, ours) for ours in self.words.get(name, {}).values()]
            said += [
                (f"contexts.{number}.fixed", fixed, self.word(name, fixed))
                for number, block in enumerate(self.contexts)
                if (fixed := block.fixed.get(name))
            ]
            for where, written, ours in said:
                if ours not in known:
                    raise ValueError(f"{where}: {none_of(name, written)}")
        for block in () if self.cultures else self.blocks:
            if not block.says("language"):
                raise ValueError(
                    f"cultures: is needed, with the languages of each, where {block.target} name no language"
                )
        return self

    @property
    def blocks(self) -> Sequence[DataBlock]:
        """The blocks of entities and of contexts."""
        return (*self.entities, *self.contexts)

    def word(self, kind: str, written: str) -> str:
        """A type, culture, setting or form as we write it; an unknown one is only put in lower case."""
        plain = " ".join(written.split())
        known = self.words.get(kind, {}).get(spelling(plain))
        if kind == "culture":
            cultures = (self.reference, *self.cultures, *self.others)
            return known or next((one for one in cultures if one.casefold() == plain.casefold()), plain)
        return known or plain.casefold()


def none_of(name: str, word: str) -> str:
    """That a setting or form of contexts is unknown, and which was meant."""
    remedy = f"Write one of these, or say with words.{name} which of them it is."
    known = WORDS[name]
    return f"{name} {word!r} is none of {', '.join(known)}. {did_you_mean(word, known, otherwise=remedy)}"


SHELF = Shelf("data set", RULES, DatasetRules, (EntityBlock, ContextBlock), {QUESTIONS: _ASK})


def rules_of(name: str) -> DatasetRules:
    """The rules of a data set, by name or by the path of a rules file of the user's own.

    'own:breakfast' are the rules of 'own' for a data set that is called 'breakfast'. Raises `DataSetError` where there
    are none.
    """
    plain, colon, called = name.partition(":")
    return _called(SHELF.of(plain), called) if colon and not name.endswith(".toml") else SHELF.of(name)


def _called(rules: DatasetRules, name: str) -> DatasetRules:
    if not is_folder_name(name):
        remedy = "Give it one of letters, digits, '.', '_' and '-', e.g. own:breakfast."
        raise DataSetError(f"{name!r} is no name for a data set", remedy=remedy)
    return rules.model_copy(update={"name": name})
