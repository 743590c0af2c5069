"""The patterns file: patterns by language, and the filters of n-grams."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from polyculture.cache.errors import CatalogError, together
from polyculture.cache.text.folding import fold_surface
from polyculture.cache.text.suggestions import did_you_mean
from polyculture.cache.toml_files import read_toml
from polyculture.cache.validation import ClosedModel, explain

SLOT = "___"
LANGUAGES = Path(__file__).with_name("languages.toml")
_FILTERS = "filters"  # the table of a patterns file that is no language

NgramUnit = Literal["words", "characters", "window"]  # a window: so many characters beside the slot, as they stand
Model = TypeVar("Model", bound=BaseModel)

_REMEDY = "See docs/collecting.md."


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern with one slot: the folded texts before and after it; one of them may be empty.

    `apart_before` and `apart_after` say whether a space separates the text from the slot.
    """

    text: str
    before: str
    after: str
    apart_before: bool
    apart_after: bool


@dataclass(frozen=True, slots=True)
class PatternSet:
    """The patterns of one language with all settings that decide the hits."""

    language: str
    patterns: tuple[Pattern, ...]
    unit: NgramUnit
    longest: int  # of an n-gram: words or characters
    stop_words: frozenset[str]  # folded


class Filters(BaseModel):
    """The filters of n-grams."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    min_count: int = Field(default=5, ge=1)
    min_documents: int = Field(default=3, ge=1)


class _LanguageSection(ClosedModel):
    patterns: tuple[Annotated[str, Field(min_length=1)], ...] = Field(min_length=1)
    unit: NgramUnit | None = None
    max_words: int = Field(default=4, ge=1, le=20)
    max_characters: int = Field(default=12, ge=1, le=60)
    stop_words: tuple[str, ...] = ()


def read_patterns(file: Path, language: str | None) -> tuple[PatternSet, Filters]:
    """The patterns of a language in `file`, and the filters; the only language's where none is named.

    Raises `CatalogError`, naming file and place, for a file that is no TOML or does not fit.
    """
    tables = dict(read_toml(file))
    filters = _parse(Filters, tables.pop(_FILTERS, {}), file, _FILTERS)
    code = _language(tables, language, file)
    return _pattern_set(code, _parse(_LanguageSection, tables[code], file, code), file), filters


def _language(tables: Mapping[str, Any], language: str | None, file: Path) -> str:
    if not tables:
        raise CatalogError(
            "holds no patterns", where=file, remedy='Write [en] and under it patterns = ["recipe of ___"].'
        )
    if language is None:
        if len(tables) > 1:
            remedy = f"Name one with --language: {', '.join(sorted(tables))}."
            raise CatalogError("holds patterns of several languages", where=file, remedy=remedy)
        return next(iter(tables))
    if language not in tables:
        raise CatalogError(f"holds no patterns in {language!r}", where=file, remedy=did_you_mean(language, tables))
    return language


def _pattern_set(code: str, section: _LanguageSection, file: Path) -> PatternSet:
    known = language_table().get(code, {})
    unit: NgramUnit = section.unit or known.get("unit", "words")
    if unit == "window" and known.get("unit") != "characters":
        remedy = "In other languages n-grams of words are counted: leave unit out."
        raise _fault(file, f"{code}.unit", "windows are for languages whose words have no spaces", remedy)
    patterns = tuple(
        _pattern(text, file, f"{code}.patterns.{place}") for place, text in enumerate(section.patterns, start=1)
    )
    _refuse_twice(patterns, file, code)
    stop_words = frozenset(map(fold_surface, (*_stop_words(code), *section.stop_words)))
    longest = section.max_words if unit == "words" else section.max_characters
    return PatternSet(code, patterns, unit, longest, stop_words)


def language_table() -> Mapping[str, Mapping[str, Any]]:
    """The content of `languages.toml`, by language."""
    return tomllib.loads(LANGUAGES.read_text(encoding="utf-8"))


def _stop_words(code: str) -> list[str]:
    known = language_table()
    own = known.get(code, {})
    return [*own.get("stop_words", []), *(_stop_words(own["like"]) if "like" in own else [])]


def _pattern(text: str, file: Path, place: str) -> Pattern:
    if text.count(SLOT) != 1 or "_" in text.replace(SLOT, "", 1):
        raise _fault(file, place, f"{text!r} has not exactly one slot {SLOT}")
    left, right = text.split(SLOT)
    before, after = fold_surface(left), fold_surface(right)
    if not any(char.isalnum() for char in before + after):
        raise _fault(file, place, f"{text!r} has no word beside its slot")
    return Pattern(text, before, after, left != left.rstrip(), right != right.lstrip())


def _refuse_twice(patterns: tuple[Pattern, ...], file: Path, code: str) -> None:
    seen: dict[tuple[str, str, bool, bool], str] = {}
    for pattern in patterns:
        key = (pattern.before, pattern.after, pattern.apart_before, pattern.apart_after)
        if key in seen:
            raise _fault(file, f"{code}.patterns", f"{pattern.text!r} is the same as {seen[key]!r}")
        seen[key] = pattern.text


def _parse(model: type[Model], data: Any, file: Path, table: str) -> Model:
    try:
        return model.model_validate(data)
    except ValidationError as fault:
        found = explain(fault, model, _REMEDY)
        raise together(_fault(file, table, what, remedy) for what, remedy in found) from fault


def _fault(file: Path, place: str, what: str, remedy: str = _REMEDY) -> CatalogError:
    return CatalogError(f"{place}: {what}", where=file, remedy=remedy)
