"""The prompts about a text, and how words of its language are compared: TOML files, validated by pydantic.

Our prompts ask about texts of all languages in English, as Camellia's do (Naous et al. 2025, Tables 8 and 9). So does a
preset. A single file of a user's asks about all texts in its own language; the slot `{language}` names that of the
text. A user's folder holds a file for each language, and a text is asked about by that of its language. What a file
in English leaves out is ours.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from polyculture.cache.catalog.cldr import language_names
from polyculture.cache.errors import DataSetError
from polyculture.cache.toml_files import parse_model, read_toml
from polyculture.cache.validation import ClosedModel
from polyculture.instruments.datasets.model import Label
from polyculture.instruments.datasets.presets import OURS, PRESETS, read_preset

PROMPTS = Path(__file__).parent / "prompts.toml"
OTHER = "other"  # the words for a type that has none of its own
LANGUAGE = "language"  # the slot for the name of the text's language: in any template, any number of times
STANDARD = "standard"  # what our own prompts are called
OWN = "own"  # what a user's prompts are called
_FIELD = re.compile(r"\{(text|question|type)\}")
_SLOT = re.compile(r"\{(\w+)\}")
_OF_TEXTS = ("languages", "words")  # tables that say something of the language of a text
_ASKED_BY = {"sentiment": ("sentiment",), "qa": ("types", "qa"), "ner": ("types", "ner")}  # tables that a task asks by


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


class SentimentPrompt(ClosedModel):
    """The sentiment prompt and the words of its labels."""

    prompt: Annotated[str, _with("text")]
    labels: Mapping[Label, str]


class QuestionPrompt(ClosedModel):
    """The question prompt; `question` serves contexts without one of their own. Without its slot, it is not asked."""

    prompt: Annotated[str, _with("text", either=("question", "type"))]
    question: Annotated[str, _with("type")]
    none: str | None = None  # what an answer says where nothing is found, if the prompt asks for a word


class NamesPrompt(ClosedModel):
    """The prompt for all names of a type."""

    prompt: Annotated[str, _with("text", "type")]


class ComparisonWords(ClosedModel):
    """How words of a language are compared."""

    spaces: bool = True  # are words set apart by spaces?
    articles: tuple[str, ...] = ()  # words that do not make an answer another one
    prefixes: tuple[str, ...] = ()  # articles that are written together with the word
    titles: tuple[str, ...] = ()  # what stands before a person's name and is none of it
    honorifics: tuple[str, ...] = ()  # the same, behind it


class SwapPrompts(ClosedModel):
    """The prompts in one language, and what they know of the languages of texts."""

    language: str
    languages: Mapping[str, str] = {}  # language of the text -> its name, for `{language}`, where CLDR has another
    words: Mapping[str, ComparisonWords] = {}  # language of the text -> how its words are compared
    types: Mapping[str, str] = Field(min_length=1)  # type of entities -> its words
    sentiment: SentimentPrompt
    qa: QuestionPrompt
    ner: NamesPrompt

    def type_words(self, entity_type: str) -> str:
        """The words for a type; those for `other` if it has none of its own."""
        return self.types.get(entity_type) or self.types[OTHER]

    def words_of(self, language: str) -> ComparisonWords:
        """How words of a language are compared; of an unknown one without articles and titles."""
        return self.words.get(language) or ComparisonWords()


def fill(template: str, **values: str) -> str:
    """The template with its fields filled in, in one pass; braces within a text stay unchanged."""
    return _FIELD.sub(lambda field: values[field.group(1)], template)


def read_prompts(file: Path = PROMPTS, language: str = "en", task: str | None = None) -> SwapPrompts:
    """The prompts of a file that asks in `language` where it says no other; without a file ours.

    Raises `DataSetError`, naming file and place, where it does not hold what it must, as all that `task` asks by.
    """
    return _prompts(read_toml(file, DataSetError), file, language, task)


def _prompts(data: Mapping[str, Any], file: Path, language: str, task: str | None) -> SwapPrompts:
    ours = read_toml(PROMPTS, DataSetError)
    language = data.get("language", language)
    in_english = language == ours["language"]
    missing = [table for table in _ASKED_BY.get(task or "", ()) if table not in data]
    if missing and not in_english:
        remedy = (
            f"Add it, as in {PROMPTS.name} of instruments/swaps. Only a file that asks in English may leave it out."
        )
        raise DataSetError(f"asks in {language!r} and lacks [{missing[0]}]", where=file, remedy=remedy)
    merged = {**ours, **data, "language": language}
    for name in ours if in_english else _OF_TEXTS:
        if isinstance(ours[name], Mapping) and isinstance(merged[name], Mapping):
            merged[name] = {**ours[name], **merged[name]}
    return _checked(merged, file)


def _checked(data: dict[str, Any], file: Path) -> SwapPrompts:
    prompts = parse_model(SwapPrompts, data, file)
    if OTHER not in prompts.types:
        raise DataSetError("types: no words for 'other'", where=file, remedy="Add other = '...'.")
    if set(prompts.sentiment.labels) != {"positive", "negative", "neutral"}:
        raise DataSetError("sentiment.labels: a label is missing", where=file, remedy="Name all three.")
    if len({word.casefold() for word in prompts.sentiment.labels.values()}) < len(prompts.sentiment.labels):
        raise DataSetError("sentiment.labels: two labels have the same word", where=file, remedy="Name three.")
    return prompts


@dataclass(frozen=True)
class LanguagePrompts:
    """The prompts about texts in one language, ready to be filled in."""

    prompts: SwapPrompts  # without `{language}`
    words: ComparisonWords  # how words of the text's language are compared
    wording: str  # what the prompts are called
    shared: (
        SwapPrompts | None
    )  # with `{language}`, which ask about texts of all languages; None: those of each by its own


def preset_prompts(name: str) -> tuple[str, SwapPrompts] | None:
    """A preset's name and prompts; None of one that asks by ours."""
    found = read_preset(name).prompts if name != OURS else None
    return (name, _prompts(found, PRESETS / f"{name}.toml", "en", None)) if found else None


def worded(language: str, task: str, place: Path | None, preset: tuple[str, SwapPrompts] | None) -> LanguagePrompts:
    """The prompts about texts in `language`, by which `task` is asked.

    `place` is a user's folder or file. `preset` is the name and the prompts of a preset, where no place is given.
    Raises `DataSetError` where there are none.
    """
    if place is None:
        wording, prompts = preset or (STANDARD, read_prompts())
    elif not place.exists():
        raise DataSetError("is not there", where=place, remedy="Name a file or a folder of prompts: prompts = '...'.")
    else:
        wording = OWN
        prompts = read_prompts(_own_file(place, language), language if place.is_dir() else "en", task)
    shared = None if place is not None and place.is_dir() else prompts
    return LanguagePrompts(_named(prompts, language, place or PROMPTS), prompts.words_of(language), wording, shared)


def _own_file(place: Path, language: str) -> Path:
    """A user's file, or the one in a user's folder that asks about texts in `language`."""
    file = place / f"{language}.toml" if place.is_dir() else place
    if not file.is_file():
        remedy = "Write it, ask about other texts with --language, or name one file for texts of all languages."
        raise DataSetError(f"there is no prompt for texts in {language!r}", where=file, remedy=remedy)
    return file


def _named(prompts: SwapPrompts, language: str, where: Path) -> SwapPrompts:
    """The prompts with the name of the text's language in its slots."""
    slot, changed = _slot(LANGUAGE), {}
    name = prompts.languages.get(language) or language_names(prompts.language).get(language)
    for task in ("sentiment", "qa", "ner"):
        own = getattr(prompts, task)
        templates = {key: text for key, text in own if key in ("prompt", "question") and slot in text}
        if templates and not name:
            remedy = f"Add under [languages]: {language} = '...'."
            raise DataSetError(f"{slot}: there is no name for {language!r}", where=where, remedy=remedy)
        if templates:
            said = {key: text.replace(slot, str(name)) for key, text in templates.items()}
            changed[task] = own.model_copy(update=said)
    return prompts.model_copy(update=changed) if changed else prompts
