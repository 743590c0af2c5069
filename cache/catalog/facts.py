"""What data say of a language, so that nobody has to write it: Unicode's CLDR, and measurements.

`languages.tsv` has a row per language that was measured. Its columns from CLDR are those that `from_cldr` finds, kept
there because a command reads the catalogue in a few milliseconds; `bench/language_facts.py` writes them anew. Of any
other language CLDR alone is asked.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, Literal

from polyculture.cache.catalog.cldr import (
    country_names,
    english_language_name,
    language_aliases,
    locale_of,
    official_countries,
)
from polyculture.cache.text.scripts import script_counts
from polyculture.cache.toml_files import read_toml

FILE = Path(__file__).with_name("languages.tsv")
# Wikidata's labels for all languages, and those in English: whoever lacks a name in its own language has one here.
FALLBACK = ("mul", "en", "en-gb", "en-ca", "en-us")
LengthUnit = Literal["words", "characters"]


@dataclass(frozen=True, slots=True)
class LanguageFacts:
    """What data say of a language; empty where nothing does."""

    code: str
    name: str  # in English
    endonym: str
    direction: str  # of its script: ltr, rtl
    scripts: tuple[str, ...]  # Unicode's, in which CLDR writes the names of countries and languages
    countries: tuple[str, ...]  # whose official language it is; the first is the one where CLDR expects it
    detector: str  # its code in the language detector
    labels: str  # its code in Wikidata
    english_names: int | None  # countries of 249 that CLDR calls as in English
    decided: float | None = None  # share of the Universal Declaration's paragraphs that the detector names rightly
    unit: LengthUnit | None = None  # of the amount
    amount: int | None = None  # words or characters of the Universal Declaration for 50 words of its English text

    @property
    def of_catalog(self) -> dict[str, Any]:
        """The keys of a language file that nobody has to write."""
        known = {
            "name": self.name,
            "endonym": self.endonym,
            "direction": self.direction,
            "scripts": self.scripts,
            "first_country": self.countries[0] if self.countries else "",
            "native_countries": self.countries,
            "detector": self.detector,
            "label_languages": (self.labels, *FALLBACK),
            "unit": self.unit,
            "amount": self.amount,
        }
        return {key: value for key, value in known.items() if value}


@cache
def language_facts(code: str) -> LanguageFacts:
    """What is known of a language by its BCP-47 code: measured, or from CLDR alone."""
    return measured_languages().get(code) or from_cldr(code)


@cache
def measured_languages() -> Mapping[str, LanguageFacts]:
    """The rows of `languages.tsv`."""
    with FILE.open(encoding="utf-8", newline="") as file:
        return {row["code"]: _facts(row) for row in csv.DictReader(file, delimiter="\t")}


def _facts(row: Mapping[str, str]) -> LanguageFacts:
    listed = {key: tuple(row[key].split()) for key in ("scripts", "countries")}
    numbers = {
        "english_names": int(row["english_names"]),
        "decided": float(row["decided"]) if row["decided"] else None,
        "unit": row["unit"] or None,
        "amount": int(row["amount"]) if row["amount"] else None,
    }
    return LanguageFacts(**{**row, **listed, **numbers})  # type: ignore[arg-type]  # the file has its fields


def as_row(facts: LanguageFacts) -> dict[str, str]:
    """A row of `languages.tsv`."""
    values = {field.name: getattr(facts, field.name) for field in fields(facts)}
    return {
        key: " ".join(value) if isinstance(value, tuple) else "" if value is None else str(value)
        for key, value in values.items()
    }


def from_cldr(code: str) -> LanguageFacts:
    """What Unicode's CLDR says of a language, by the package babel; empty fields where it lacks the language."""
    locale = locale_of(code)
    short = _short_code(code)
    if locale is None:
        return LanguageFacts(code, english_language_name(code), "", "", (), (), short.upper(), short, None)
    words = script_counts("".join([*locale.territories.values(), *locale.languages.values()]))
    main, *others = [script for script, _ in words.most_common()] or [""]
    # Names of CLDR that nobody translated stand there in Latin letters.
    scripts = (main, *(script for script in others if script != "Latn")) if main else ()
    named, english = country_names(code), country_names("en")
    return LanguageFacts(
        code,
        english_language_name(code) or locale.english_name or "",
        locale.languages.get(locale.language, ""),
        locale.text_direction,
        scripts,
        tuple(country for country in official_countries(code) if country in _countries()),
        short.upper(),
        short,
        sum(named.get(country) == english[country] for country in _countries()),
    )


def _short_code(code: str) -> str:
    """The code of two letters that CLDR replaced by a longer one: tl, as Wikidata and detectors write Filipino."""
    base = code.partition("-")[0]
    older = [old for old, new in language_aliases().items() if new == base and len(old) == 2]
    return older[0] if len(base) > 2 and older else base


@cache
def _countries() -> Mapping[str, Any]:
    """The countries of the built-in catalogue, by ISO 3166 code."""
    return read_toml(FILE.with_name("countries.toml"))
