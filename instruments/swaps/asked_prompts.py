"""Which prompts ask about the texts of a language: ours, a user's, or those of a preset.

A folder holds a file per language. A single file, and a preset, ask about texts of all languages in one language; the
slot `{language}` names that of the text. What such a file leaves out is ours in its language.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from polyculture.cache.catalog.read import read_toml
from polyculture.cache.errors import DataSetError
from polyculture.instruments.datasets.presets import OURS, PRESETS, read_preset
from polyculture.instruments.swaps.prompts import (
    LANGUAGE,
    PROMPTS,
    STANDARD,
    Prompts,
    checked_prompts,
    read_prompts,
)

TEXT = "text"  # of --ask: the language of the text
OWN = "own"  # what a user's prompts are called
_SLOT = f"{{{LANGUAGE}}}"


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
    single = _single(place, ask, preset)
    if single is None:
        prompts = read_prompts(language if ask in (None, TEXT) else ask, place)
        named = STANDARD if prompts == _ours(prompts.language) else OWN
        own = _own(language, place) or (prompts if ask not in (None, TEXT) else read_prompts(language, place))
    else:
        named, prompts = single
        own = _own(language, None) or prompts
    where = place or PROMPTS / f"{prompts.language}.toml"
    filled = _named(prompts, language, where)
    return Worded(filled, own, named, prompts.languages.get(language) if filled != prompts else None)


def _single(place: Path | None, ask: str | None, preset: tuple[str, Prompts] | None) -> tuple[str, Prompts] | None:
    """The name and the prompts that are asked in one language about all texts; None where each has its file."""
    if place is None:
        return preset if ask is None else None
    if not place.exists():
        raise DataSetError("is not there", where=place, remedy="Name a file or a folder of prompts: prompts = '...'.")
    if place.is_dir():
        return None
    if ask is not None:
        raise DataSetError(
            f"{place} asks in a language of its own, and `ask` names {ask!r}",
            remedy="Leave `ask` out, or say in the file: language = '...'.",
        )
    return OWN, one_for_all(read_toml(place, DataSetError), place)


def _ours(language: str) -> Prompts | None:
    return read_prompts(language) if (PROMPTS / f"{language}.toml").is_file() else None


def _own(language: str, folder: Path | None) -> Prompts | None:
    """How words of `language` are compared; None where nobody has written it down."""
    if folder is not None and (folder / f"{language}.toml").is_file():
        return read_prompts(language, folder)
    return _ours(language)


def _named(prompts: Prompts, language: str, where: Path) -> Prompts:
    """The prompts with the name of the text's language in its slots."""
    sentiment, qa, ner = prompts.sentiment, prompts.qa, prompts.ner
    if not any(_SLOT in text for text in (sentiment.prompt, qa.prompt, qa.question, ner.prompt)):
        return prompts
    name = prompts.languages.get(language)
    if name is None:
        remedy = f"Add under [languages]: {language} = '...'."
        raise DataSetError(f"{_SLOT}: there is no name for {language!r}", where=where, remedy=remedy)

    def said(text: str) -> str:
        return text.replace(_SLOT, name)

    with_qa = _with_qa(prompts, prompt=said(qa.prompt), question=said(qa.question))
    changed = {
        "sentiment": sentiment.model_copy(update={"prompt": said(sentiment.prompt)}),
        "ner": ner.model_copy(update={"prompt": said(ner.prompt)}),
    }
    return with_qa.model_copy(update=changed)


def _with_qa(prompts: Prompts, **changed: str) -> Prompts:
    return prompts.model_copy(update={"qa": prompts.qa.model_copy(update=changed)})
