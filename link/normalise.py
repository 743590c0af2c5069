"""Normal forms of names by language: the one form in which names are compared, for single ones and for millions.

The form is `NAMES` of `cache/text/folding.py`; in addition Turkish has its own i, and traditional Chinese characters
become simplified ones, by OpenCC. Building an index and querying it use the same functions: raise `NORMALISATION` with
every change of their results.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from polyculture.cache.text.folding import NAMES, Letters, fold_case, nfkc
from polyculture.cache.text.inflection import base_language

if TYPE_CHECKING:
    import opencc

NORMALISATION = 1  # raise when results change: older indexes are then refused

Fold = Literal["plain", "turkish", "chinese"]

_TURKISH = frozenset({"tr", "az", "crh", "gag"})
_CHINESE = frozenset({"zh", "yue", "wuu", "gan", "hak", "nan", "lzh", "cdo", "hsn"})
_BLANKS = re.compile("  +")
_JOINT = "\u200c"
_ARABIC_JOINT = re.compile(
    f"{_JOINT}(?<=[\u0620-\u06ff]{_JOINT})"
)  # inside a Persian compound, often written as a space
_LETTERS = Letters(NAMES)
_LETTERS[ord("\n")] = "\n"  # one name per line
_REMOVED = "".join(chr(code) for code, letter in _LETTERS.items() if not letter)
_REWRITTEN = re.compile(rf"[\s\d{re.escape(''.join(map(chr, _LETTERS)))}](?<![0-9 \n])")


def fold_of(language: str) -> Fold:
    """The folding rules of a Wikidata label language: 'zh-hk' is Chinese, 'tr' Turkish."""
    base = base_language(language)
    if base in _TURKISH:
        return "turkish"
    return "chinese" if base in _CHINESE else "plain"


def normalise(names: Sequence[str], fold: Fold) -> list[str]:
    """The normal form of each name, in the same order.

    A name whose normal form would be empty (a quotation mark alone) keeps its case-folded form.
    """
    return [str(form) for form in normalise_array(pa.array(names, pa.string()), fold).to_pylist()]


def normalise_array(names: pa.Array[Any], fold: Fold) -> pa.Array[Any]:
    """`normalise` for an Arrow array: for millions of names."""
    is_ascii = pc.string_is_ascii(names)
    simple = names.filter(is_ascii)
    if 2 * len(simple) < len(names):
        return _fold_array(names, fold)
    # ASCII names are cheap when normalised apart.
    folded = pc.replace_with_mask(names, is_ascii, _fold_array(simple, fold))
    others = pc.invert(is_ascii)
    whole: pa.Array[Any] = pc.replace_with_mask(folded, others, _fold_array(names.filter(others), fold))
    return whole


def _fold_array(names: pa.Array[Any], fold: Fold) -> pa.Array[Any]:
    if not len(names):
        return names
    text = _text(names)
    if text.count("\n") >= len(names):
        text = _text(pc.replace_substring(names, "\n", " "))
    cased, bare = _folded(text, fold)
    lines = pc.utf8_trim(_split(bare), " ")
    empty = pc.equal(pc.binary_length(lines), 0)  # type: ignore[call-overload]
    if not pc.any(empty).as_py():
        return lines
    kept: pa.Array[Any] = pc.replace_with_mask(lines, empty, pc.utf8_trim_whitespace(_split(cased).filter(empty)))
    return kept


def chinese_forms(text: str) -> list[str]:
    """A Chinese text as written, in simplified and in traditional characters, without duplicates."""
    return list(
        dict.fromkeys([text.strip(), converter("t2s").convert(text).strip(), converter("s2t").convert(text).strip()])
    )


def marks() -> str:
    """A pattern for a character that normalisation removes, such as quotation marks and tatweel.

    The joiner within Persian words is excluded: normalisation replaces it by a blank.
    """
    return f"[{re.escape(_REMOVED.replace(_JOINT, ''))}]"


def without_marks(name: str) -> str:
    """A name in NFKC, without the characters that normalisation removes."""
    return re.sub(marks(), "", unicodedata.normalize("NFKC", name)).strip()


def _text(names: pa.Array[Any]) -> str:
    """The names as one text, one name per line."""
    together = pa.ListArray.from_arrays(pa.array([0, len(names)], pa.int32()), names)
    (text,) = pc.binary_join(together, "\n").to_pylist()  # type: ignore[union-attr]
    return str(text)


def _split(text: str) -> pa.Array[Any]:
    return pc.split_pattern(pa.array([text]), "\n").flatten()


def _folded(text: str, fold: Fold) -> tuple[str, str]:
    """A text with one name per line: case-folded only, and in normal form except for outer blanks.

    All names are folded as one text, so that the number of calls does not depend on the number of names.
    """
    if text.isascii() and fold != "turkish":  # NFKC and the rules of other scripts do not apply
        cased = text.lower()
        bare = cased.translate(_LETTERS)
    else:
        if fold == "chinese":
            text = converter("t2s").convert(text)
        cased = fold_case(_ARABIC_JOINT.sub(" ", text) if _JOINT in text else text, turkish=fold == "turkish")
        bare = nfkc(_REWRITTEN.sub(lambda found: _LETTERS[ord(found[0])] or "", cased))
    return cased, _BLANKS.sub(" ", bare) if "  " in bare else bare


@cache
def converter(way: str) -> opencc.OpenCC:
    """Between forms of Chinese characters: t2s, s2t, or t2jp to those of Japan today."""
    import opencc  # here: most texts are in no Chinese

    return opencc.OpenCC(way)
