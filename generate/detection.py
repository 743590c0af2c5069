"""Detects the language and script of a response."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from polyculture.cache.catalog import Catalog, Language
from polyculture.cache.scripts import script_counts, script_share
from polyculture.generate.chinese import chinese_variant

if TYPE_CHECKING:
    from lingua import LanguageDetector

# Languages beside the catalogue's that a model may drift into. Unlikely close relatives (Malay, Marathi, Danish) are
# left out: they would lower the confidence of the right ones.
NEIGHBOURS = frozenset({"FR", "ID", "NL", "PL", "PT", "RO", "SV", "SW", "TL", "VI"})  # Latin letters
NEIGHBOURS |= {"BN", "EL", "GU", "HE", "PA", "RU", "TA", "TE", "UK", "UR"}  # others
UNDECIDED_BELOW = 0.5  # confidence under which no language is named
_WINDOW = 200  # characters of the beginning, middle and end that are read of a long text


@dataclass(frozen=True, slots=True)
class Detection:
    """The language and script of a text."""

    language: str | None = None  # a code of the catalogue, another ISO 639-1 code, or None when undecided
    confidence: float | None = None  # 0 .. 1; None when undecided
    script: str | None = None  # ISO 15924 code of most letters; None where there are no letters
    script_share: float | None = None  # share of letters in the scripts of the language that was asked for


def detect(text: str, language: Language, catalog: Catalog) -> Detection:
    """The language and script of `text`, an answer in `language` if all went well.

    Detected by lingua among the catalogue's languages and `NEIGHBOURS`. It does not distinguish simplified and
    traditional Chinese: their characters do, and a text without distinctive ones counts as the requested one.
    Digits and punctuation, and short texts that fit several languages, are undecided; so is every text where lingua
    does not know the requested language.
    """
    counts = script_counts(text)
    if not counts:
        return Detection()
    script, share = counts.most_common(1)[0][0], script_share(counts, language.scripts)
    if not detectable(language.detector):  # then no model is loaded either
        return Detection(None, None, script, share)
    best = _detector(
        _candidates(tuple(lang.detector for lang in catalog.languages.values()))
    ).compute_language_confidence_values(_sample(text))[0]
    if best.value < UNDECIDED_BELOW:
        return Detection(None, None, script, share)
    named = _code(best.language.iso_code_639_1.name, text, language, catalog)
    # Beyond six digits, lingua's sums depend on the order of its threads.
    return Detection(named, round(best.value, 6) if named else None, script, share)


def detectable(iso: str) -> bool:
    """Does lingua know the language of this ISO 639-1 code, in capital letters?"""
    from lingua import IsoCode639_1

    return hasattr(IsoCode639_1, iso)


@cache
def _detector(isos: tuple[str, ...]) -> LanguageDetector:
    """Built once; each language's model is loaded when a text first needs it."""
    from lingua import IsoCode639_1, LanguageDetectorBuilder

    known = [getattr(IsoCode639_1, iso) for iso in isos if hasattr(IsoCode639_1, iso)]
    return LanguageDetectorBuilder.from_iso_codes_639_1(*known).build()


@cache
def _candidates(detectors: tuple[str, ...]) -> tuple[str, ...]:
    """The languages to detect among: the catalogue's and their neighbours."""
    return tuple(sorted(NEIGHBOURS.union(detectors)))


def _sample(text: str) -> str:
    """A long text's beginning, middle and end: in constant time, and with drift in any part."""
    if len(text) <= 3 * _WINDOW:
        return text
    middle = (len(text) - _WINDOW) // 2
    return " ".join((text[:_WINDOW], text[middle : middle + _WINDOW], text[-_WINDOW:]))


def _code(iso: str, text: str, asked: Language, catalog: Catalog) -> str | None:
    """The code by which the catalogue knows a detected language, or else its ISO 639-1 code."""
    codes = [code for code, language in catalog.languages.items() if language.detector == iso]
    if iso == "ZH":
        variant = chinese_variant(text)
        if variant is not None:
            return "zh" if variant == "simplified" else "zh-tw"
        return asked.code if asked.code in codes else None
    if asked.code in codes:
        return asked.code
    return codes[0] if codes else iso.lower()
