"""When two answers are the same: the exact match of extractive question answering.

NFKC, lower case (casefold), no punctuation, no articles, one space between words: SQuAD's rules (Rajpurkar et al. 2016)
with the articles of each language, as MLQA has them (Lewis et al. 2020), the Arabic one, which is written together with
its word, among them. In addition, Arabic vowel signs and the tatweel are removed. All spaces are removed in languages
without spaces between words.
"""

from __future__ import annotations

import re
import unicodedata

from polyculture.instruments.swaps.prompts import Prompts

# Vowel signs, Quranic marks, superscript alef, tatweel. Other scripts' combining signs are letters and stay.
_ARABIC_SIGNS = re.compile("[\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0640]")


def normalise(text: str, prompts: Prompts) -> str:
    """`text` normalised for comparison; empty if it holds only punctuation."""
    folded = _ARABIC_SIGNS.sub("", unicodedata.normalize("NFKC", text).casefold())
    words = "".join(sign for sign in folded if not _is_punctuation(sign)).split()
    kept = [_bare(word, prompts.prefixes) for word in words if word not in prompts.articles]
    return (" " if prompts.spaces else "").join(kept)


def same(one: str, other: str, prompts: Prompts) -> bool:
    """Are the two the same answer? Two empty ones are none."""
    left = normalise(one, prompts)
    return left != "" and left == normalise(other, prompts)


def _is_punctuation(sign: str) -> bool:
    return unicodedata.category(sign)[0] in "PS"


def _bare(word: str, prefixes: tuple[str, ...]) -> str:
    prefix = next((prefix for prefix in prefixes if word.startswith(prefix) and len(word) > len(prefix)), "")
    return word[len(prefix) :]
