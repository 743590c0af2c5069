"""The prompts about a text: one TOML file per language, validated by pydantic.

A file of the same form in the user's folder takes precedence; a single file of the user's asks about texts of all
languages in one (`asked_prompts.py`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from polyculture.cache.catalog.read import parse_model, read_toml
from polyculture.cache.errors import DataSetError
from polyculture.instruments.datasets.sentiments import Label

PROMPTS = Path(__file__).parent / "prompts"
OTHER = "other"  # the words for a type that has none of its own
# Spaces, articles, prefixes, titles, honorifics.
Compared = tuple[bool, tuple[str, ...], tuple[str, ...], tuple[str, ...], tuple[str, ...]]
LANGUAGE = "language"  # the slot for the name of the text's language: in any template, any number of times
STANDARD = "standard"  # what our own prompts are called
_FIELD = re.compile(r"\{(text|question|type)\}")
_SLOT = re.compile(r"\{(\w+)\}")


def _with(*names: str, either: tuple[str, ...] = ()) -> AfterValidator:
    """A template that holds each of these slots, one of `either`, and no other but `{language}`; any several times."""
    needed = " and ".join(filter(None, (*map(_slot, names), " or ".join(map(_slot, either)))))
    known = (*names, *either, LANGUAGE)

    def check(template: str) -> str:
        found = set(_SLOT.findall(template))
        odd = next((f"; {_slot(slot)} is unknown here" for slot in sorted(found) if slot not in known), "")
        if odd or not {*names} <= found or (either and not found.intersection(either)):
            raise ValueError(f"must hold {needed}, {_slot(LANGUAGE)} if it likes, and no other slot{odd}")
        return template

    return AfterValidator(check)


def _slot(name: str) -> str:
    return f"{{{name}}}"


class _Data(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SentimentPrompt(_Data):
    """The sentiment prompt and the words of its labels."""

    prompt: Annotated[str, _with("text")]
    labels: Mapping[Label, str]


class QuestionPrompt(_Data):
    """The question prompt; `question` serves contexts without one of their own. Without its slot, it is not asked."""

    prompt: Annotated[str, _with("text", either=("question", "type"))]
    question: Annotated[str, _with("type")]
    none: str | None = None  # what an answer says where nothing is found, if the prompt asks for a word


class NamesPrompt(_Data):
    """The prompt for all names of a type."""

    prompt: Annotated[str, _with("text", "type")]


class Prompts(_Data):
    """The prompts in one language, and the rules for comparing its words."""

    language: str
    spaces: bool = True  # are words set apart by spaces?
    articles: tuple[str, ...] = ()  # words that do not make an answer another one
    prefixes: tuple[str, ...] = ()  # articles that are written together with the word
    titles: tuple[str, ...] = ()  # what stands before a person's name and is none of it
    honorifics: tuple[str, ...] = ()  # the same, behind it
    types: Mapping[str, str] = Field(min_length=1)  # type of entities -> its words
    languages: Mapping[str, str] = {}  # language of the text -> its name, for `{language}`
    sentiment: SentimentPrompt
    qa: QuestionPrompt
    ner: NamesPrompt

    @property
    def compared(self) -> Compared:
        """All that decides when two words are the same."""
        return self.spaces, self.articles, self.prefixes, self.titles, self.honorifics

    def type_words(self, entity_type: str) -> str:
        """The words for a type; those for `other` if it has none of its own."""
        return self.types.get(entity_type) or self.types[OTHER]


def fill(template: str, **values: str) -> str:
    """The template with its fields filled in, in one pass; braces within a text stay unchanged."""
    return _FIELD.sub(lambda field: values[field.group(1)], template)


def read_prompts(language: str, folder: Path | None = None) -> Prompts:
    """The prompts in a language: those in `folder` if present, else ours.

    Raises `DataSetError`, naming file and place, where there are none, or where a file does not hold what it must.
    """
    files = [place / f"{language}.toml" for place in (folder, PROMPTS) if place is not None]
    file = next((file for file in files if file.is_file()), None)
    if file is None:
        remedy = (
            "Write one like those in instruments/swaps/prompts, name its folder (prompts = '...'), or ask in another "
        )
        raise DataSetError(
            f"there is no prompt in {language!r}", where=files[0], remedy=f"{remedy}language: ask = 'en'."
        )
    return checked_prompts(read_toml(file, DataSetError), file)


def checked_prompts(data: dict[str, Any], file: Path) -> Prompts:
    """The prompts that `file` holds. Raises `DataSetError`, naming file and place, where they do not fit."""
    prompts = parse_model(Prompts, data, file)
    if OTHER not in prompts.types:
        raise DataSetError("types: no words for 'other'", where=file, remedy="Add other = '...'.")
    if set(prompts.sentiment.labels) != {"positive", "negative", "neutral"}:
        raise DataSetError("sentiment.labels: a label is missing", where=file, remedy="Name all three.")
    if len({word.casefold() for word in prompts.sentiment.labels.values()}) < len(prompts.sentiment.labels):
        raise DataSetError("sentiment.labels: two labels have the same word", where=file, remedy="Name three.")
    return prompts
