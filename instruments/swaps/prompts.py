"""The prompts about a text: one TOML file per language, validated by pydantic.

A file of the same form in the user's folder takes precedence. A folder holds a file per language. A single file, and a
preset, ask about texts of all languages in one language; the slot `{language}` names that of the text. What such a
file leaves out is ours in its language.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from polyculture.cache.errors import DataSetError
from polyculture.cache.toml_files import parse_model, read_toml
from polyculture.instruments.datasets.model import Label
from polyculture.instruments.datasets.presets import OURS, PRESETS, read_preset

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
    file = _file(language, folder)
    if file is None:
        remedy = (
            "Write one like those in instruments/swaps/prompts, name its folder (prompts = '...'), or ask in another "
        )
        where = (folder or PROMPTS) / f"{language}.toml"
        raise DataSetError(f"there is no prompt in {language!r}", where=where, remedy=f"{remedy}language: ask = 'en'.")
    return checked_prompts(read_toml(file, DataSetError), file)


def _file(language: str, folder: Path | None) -> Path | None:
    files = [place / f"{language}.toml" for place in (folder, PROMPTS) if place is not None]
    return next((file for file in files if file.is_file()), None)


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


TEXT = "text"  # of --ask: the language of the text
OWN = "own"  # what a user's prompts are called


@dataclass(frozen=True)
class Worded:
    """The prompts about texts in one language, ready to be filled in."""

    prompts: Prompts  # without `{language}`
    own: Prompts  # in the language of the text: how its words are compared
    wording: str  # what they are called
    named: str | None = None  # what the prompts call the language of the text, where they do


def one_for_all(data: Mapping[str, Any], file: Path) -> Prompts:
    """The prompts of a single file, in one language: ours in that language stand in for what it lacks.

    Raises `DataSetError`, naming file and place, where it does not hold what it must.
    """
    language = data.get("language", "en")
    ours = read_toml(PROMPTS / f"{language}.toml", DataSetError) if (PROMPTS / f"{language}.toml").is_file() else {}
    merged = {**ours, "language": language, **data}
    for name, table in ours.items():
        if isinstance(table, Mapping) and isinstance(merged[name], Mapping):
            merged[name] = {**table, **merged[name]}
    return checked_prompts(merged, file)


def preset_prompts(name: str) -> tuple[str, Prompts] | None:
    """A preset's name and prompts; None of one that asks by ours."""
    found = read_preset(name).prompts if name != OURS else None
    return (name, one_for_all(found, PRESETS / f"{name}.toml")) if found else None


def worded(language: str, place: Path | None, ask: str | None, preset: tuple[str, Prompts] | None) -> Worded:
    """The prompts about texts in `language`.

    `place` is a user's folder or file. `ask` names another language for the question, or 'text'. `preset` is the name
    and the prompts of a preset, where neither is given. Raises `DataSetError` where there are none.
    """
    folder, asked_in = None, language if ask in (None, TEXT) else str(ask)
    if place is not None and not place.exists():
        raise DataSetError("is not there", where=place, remedy="Name a file or a folder of prompts: prompts = '...'.")
    if place is not None and not place.is_dir():
        if ask is not None:
            raise DataSetError(
                f"{place} asks in a language of its own, and `ask` names {ask!r}",
                remedy="Leave `ask` out, or say in the file: language = '...'.",
            )
        named, prompts = OWN, one_for_all(read_toml(place, DataSetError), place)
    elif place is None and ask is None and preset is not None:
        named, prompts = preset
    else:
        folder, prompts = place, read_prompts(asked_in, place)
        ours = read_prompts(asked_in) if _file(asked_in, None) else None
        named = STANDARD if prompts == ours else OWN
    own = read_prompts(language, folder) if _file(language, folder) else prompts
    filled = _named(prompts, language, place or PROMPTS / f"{prompts.language}.toml")
    return Worded(filled, own, named, prompts.languages.get(language) if filled != prompts else None)


def _named(prompts: Prompts, language: str, where: Path) -> Prompts:
    """The prompts with the name of the text's language in its slots."""
    slot, name, changed = _slot(LANGUAGE), prompts.languages.get(language), {}
    for task in ("sentiment", "qa", "ner"):
        own = getattr(prompts, task)
        templates = {key: text for key, text in own if key in ("prompt", "question") and slot in text}
        if templates and name is None:
            remedy = f"Add under [languages]: {language} = '...'."
            raise DataSetError(f"{slot}: there is no name for {language!r}", where=where, remedy=remedy)
        if templates:
            said = {key: text.replace(slot, str(name)) for key, text in templates.items()}
            changed[task] = own.model_copy(update=said)
    return prompts.model_copy(update=changed) if changed else prompts
