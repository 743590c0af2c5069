"""The loose key of a name: what remains of its normal form without accents, articles, blanks and common endings.

Endings are those of a language's rules in `cache/text/inflection.toml`; in a language without any, each word is
replaced by its Snowball stem. What either is worth was measured by `bench/linking_keys.py`.

Names of a snapshot and mentions get it by the same function. Two that differ in their normal forms and share the key
may be forms of one word: the match is the weakest of the three (exact, normalised, key).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from polyculture.cache.identity import content_id
from polyculture.cache.text.inflection import InflectionRule, base_language, has_endings, key_rules
from polyculture.link.normalise import converter

if TYPE_CHECKING:
    import Stemmer

NO_RULES: Mapping[str, Sequence[InflectionRule]] = MappingProxyType({})
SHORTEST = 2  # a key of fewer ASCII letters is the normal form: too many names would share it
# A word keeps its ending where its stem would have fewer letters: too many words share short stems. By language as
# `docs/evidence.md` says what was measured.
SHORTEST_STEM, LONGER_STEMS = 3, {"tr": 4}
# Turkish endings with t follow one of these consonants (sokakta); elsewhere the t is the word's own, which Snowball
# does not see: salata, salad, is no form of sala.
_BEFORE_T = {"tr": "çfhkpsşt"}
KEYS = 3  # raise when the code below changes keys
# Letters that a decomposition does not part from what they are written without.
_LETTERS = {"ı": "i", "ø": "o", "đ": "d", "ð": "d", "ł": "l", "ħ": "h", "ŧ": "t", "æ": "ae", "œ": "oe", "ё": "е"}
_TONAL = "vi"  # here what stands on a vowel makes another word: đậu is a bean, and dâu a strawberry
_BLANKS = ("  +", " ")
# Pius III does not end in a vowel: rules for endings leave Roman numerals alone.
_ROMAN = (r"\b([ivx]{2,})\b", r"\1_")
_LAST_LETTER = (r" ([a-z])$", r"_\1")  # vitamin a is not vitamina
_SMALL_KANA = dict(zip("ぁぃぅぇぉっゃゅょゎ", "あいうえおつやゆよわ", strict=True))


@cache
def key_version(language: str) -> str:
    """A hash of all that decides a key in a Wikidata language besides the normal form."""
    if not stemmed(language):
        return content_id(KEYS, key_rules(language))
    import Stemmer

    base = base_language(language)
    own = [_BEFORE_T[base]] if base in _BEFORE_T else []
    return content_id(KEYS, key_rules(language), str(Stemmer.version()), _shortest_stem(language), *own)


def keys_of(
    normalised: pa.Array[Any],
    language: str,
    plain: pa.Array[Any] | None = None,
    packs: Mapping[str, Sequence[InflectionRule]] = NO_RULES,
) -> pa.Array[Any]:
    """The key of each normal form, by the rules of a Wikidata language; those of `packs` replace ours.

    `plain` are the `plain_forms`, where they are at hand: they are the same in all languages.
    """
    base = base_language(language)
    stemmer = None if base in packs else _stemmer(language)
    if stemmer is not None:
        plain = plain_forms(_stemmed(normalised, stemmer, base))
    if plain is None or base == _TONAL:
        plain = plain_forms(normalised, tonal=base == _TONAL)
    if base == "ja":
        plain = _changed(plain, converter("t2jp").convert)  # 壽司 in old characters
    shortened = _rewritten(plain, [*(packs.get(base) or key_rules(language)), _LAST_LETTER])
    joined: Any = pc.replace_substring(shortened, " ", "")
    short = pc.and_(pc.string_is_ascii(joined), pc.less(pc.binary_length(joined), pa.scalar(SHORTEST, pa.int32())))
    found: pa.Array[Any] = pc.if_else(short, normalised, joined)
    return found


def stemmed(language: str) -> bool:
    """Are the words of a Wikidata language's names replaced by their stems?"""
    return _stemmer(language) is not None


def _stemmer(language: str) -> Stemmer.Stemmer | None:
    """Snowball's stemmer of a language without rules of endings, if there is one: a new one, as no two threads may
    share it.
    """
    if has_endings(language):
        return None
    import Stemmer  # here: most runs are in languages with rules

    try:
        return Stemmer.Stemmer(base_language(language), 0)
    except KeyError:
        return None


def _shortest_stem(language: str) -> int:
    return LONGER_STEMS.get(base_language(language), SHORTEST_STEM)


def _stemmed(names: pa.Array[Any], stemmer: Stemmer.Stemmer, base: str) -> pa.Array[Any]:
    """The names with the stem of each word whose stem is long enough."""
    shortest, before_t = _shortest_stem(base), _BEFORE_T.get(base)

    def shortened(word: str, stem: str) -> str:
        if len(stem) < shortest:
            return word
        if before_t is not None and word.startswith(f"{stem}t") and stem[-1] not in before_t:
            return word[: len(stem) + 2]  # with the t and the vowel behind it: denizaltı of denizaltılar
        return stem

    words: Any = pc.split_pattern(names, " ")
    distinct: Any = words.flatten().dictionary_encode()
    whole = distinct.dictionary.to_pylist()
    pairs = zip(whole, stemmer.stemWords(whole), strict=True)
    stems = pa.array([shortened(word, stem) for word, stem in pairs], pa.string())
    joined: Any = pc.binary_join(pa.ListArray.from_arrays(words.offsets, stems.take(distinct.indices)), " ")
    found: pa.Array[Any] = joined
    return found


def plain_forms(normalised: pa.Array[Any], *, tonal: bool = False) -> pa.Array[Any]:
    """The names without accents, dots and punctuation, in hiragana, with one blank between words.

    In a `tonal` language accents are kept.
    """
    table = _TABLES[tonal]
    is_ascii = pc.string_is_ascii(normalised)
    # Apart: Python translates ASCII alone several times as fast.
    ascii = _changed(normalised.filter(is_ascii), lambda text: text.translate(table))
    lines: Any = pc.replace_with_mask(normalised, is_ascii, ascii)
    others = pc.invert(is_ascii)
    changed = _changed(normalised.filter(others), lambda text: text.translate(table))
    lines = pc.replace_with_mask(lines, others, changed)
    return _rewritten(pc.utf8_trim(lines, " "), [_BLANKS, _ROMAN])


def _rewritten(names: pa.Array[Any], rules: Sequence[InflectionRule]) -> pa.Array[Any]:
    """The names with the rules applied in their order, to those alone that one of the patterns matches: one in five."""
    matching = pc.match_substring_regex(names, "|".join([f"(?:{pattern})" for pattern, _ in rules]))
    some: Any = names.filter(matching)
    for pattern, replacement in rules if len(some) else ():  # to read a pattern costs more than to apply it to one name
        some = pc.replace_substring_regex(some, pattern, replacement)
    found: pa.Array[Any] = pc.replace_with_mask(names, matching, some)
    return found


def _changed(names: pa.Array[Any], change: Callable[[str], str]) -> pa.Array[Any]:
    """The names, changed as one text with one name per line."""
    if not len(names):
        return names
    together = pa.ListArray.from_arrays(pa.array([0, len(names)], pa.int32()), names)
    (text,) = pc.binary_join(together, "\n").to_pylist()  # type: ignore[union-attr]
    lines: pa.Array[Any] = pc.split_pattern(pa.array([change(str(text))]), "\n").flatten()
    return lines


class _KeyTable(dict[int, str]):
    """Code point -> what a key has of it; filled on demand."""

    def __init__(self, tonal: bool) -> None:
        self._tonal = tonal

    def __missing__(self, code: int) -> str:
        self[code] = found = _letter(chr(code), self._tonal)
        return found


def _letter(letter: str, tonal: bool) -> str:
    if letter == "\n" or (letter in _LETTERS and not tonal):
        return _LETTERS.get(letter, letter)
    if "ァ" <= letter <= "ヶ":
        letter = chr(ord(letter) - 96)
    if letter in _SMALL_KANA:
        return _SMALL_KANA[letter]
    base = letter
    if not tonal and re.match("[\u00c0-\u024f\u0370-\u03ff\u1e00-\u1fff]", letter):  # Latin and Greek
        base = unicodedata.normalize("NFD", letter)[0]
    if letter in "\u0901\u0902\u093c" or letter == "ー":  # Devanagari's nasal signs and dot, the long vowel
        return ""
    category = unicodedata.category(base)
    if category[0] in "LN":
        return base
    if category[0] == "M":
        return "" if re.match("[\u0300-\u036f\u0591-\u05c7]", base) else base  # accents, and Hebrew points
    return " "


_TABLES = {tonal: _KeyTable(tonal) for tonal in (False, True)}
