"""How well an answer in words matches the answers that people gave.

Exact match and token F1 are those of SQuAD (Rajpurkar et al. 2016): without case, punctuation and articles, the best
over all accepted answers. Soft match is that of BLEnD (Myung et al. 2024, SEM-B and SEM-W; nlee0212/BLEnD,
evaluation/exact_match.py), where an accepted answer stands within the text, be it within a word. BLEnD lemmatises words
in 13 languages by as many packages; here words are compared as `cache/text/folding` folds them, without the plural s in
English, and a number within a longer one is another number. Texts and accepted answers are spelled alike first:
digits of all scripts are 0 to 9, forms of one Arabic letter are one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from polyculture.cache.text.folding import ANSWERS, fold, fold_case
from polyculture.cache.text.inflection import singular
from polyculture.instruments.questions.reading.answer_text import answer_text, unspelled
from polyculture.instruments.questions.reading.languages import ENGLISH, ReadingLanguage, language_of
from polyculture.instruments.questions.reading.tokens import HANGUL, NO_SPACES

_APART = str.maketrans("-", " ")
_CHARACTERS = re.compile(rf"{NO_SPACES.pattern}|{HANGUL}")
MATCHES = ("exact", "f1", "soft", "weighted")


def matches(text: str, answers: Sequence[str], weights: Sequence[float], language: str) -> dict[str, float]:
    """How far a text matches the answers, 0 to 1, under each of `MATCHES`.

    `exact`: it is one of them; `f1`: the best token F1 over them; `soft`: one of them is within it (SEM-B); `weighted`:
    the weight of the heaviest of these over the largest weight (SEM-W). `weights` are the numbers of people who gave
    each answer; equal where empty.
    """
    words = language_of(language)
    said = answer_text(text, words.is_answer_key)
    spelled = [unspelled(answer) for answer in answers]
    units, accepted = units_of(said, words), [units_of(answer, words) for answer in spelled]
    counts = tuple(weights) or (1.0,) * len(answers)
    within = [count for answer, count in zip(spelled, counts, strict=True) if _within(answer, said, words)]
    return {
        "exact": float(bool(units) and units in accepted),
        "f1": max((token_f1(Counter(units), Counter(one)) for one in accepted), default=0.0),
        "soft": float(bool(within)),
        "weighted": max(within) / max(counts) if within else 0.0,
    }


def _within(answer: str, said: str, language: ReadingLanguage) -> bool:
    one, whole = fold_case(answer).strip().translate(_APART), fold_case(said).translate(_APART)
    if not one or _stands_in(one, whole):
        return bool(one)
    wanted = set(_stems(one, language))
    return bool(wanted) and wanted <= set(_stems(whole, language))


def _stands_in(one: str, whole: str) -> bool:
    """Is one text within another, and no number within a longer one: no 2 in 12, 2.5 or 1,200?"""
    if one not in whole:
        return False
    before = r"(?<!\d)(?<!\d[.,:/])" if one[0].isdigit() else ""
    after = r"(?!\d|[.,:/]\d)" if one[-1].isdigit() else ""
    return re.search(f"{before}{re.escape(one)}{after}", whole) is not None


def _stems(text: str, language: ReadingLanguage) -> list[str]:
    words = _words(text, language)
    return [singular(word) for word in words] if language.own.code == ENGLISH else words


def _words(text: str, language: ReadingLanguage) -> list[str]:
    """The words without case, punctuation and articles."""
    articles = {fold(article, ANSWERS) for article in language.own.articles}
    return [word for word in fold(text.translate(_APART), ANSWERS).split() if word not in articles]


def units_of(text: str, language: ReadingLanguage) -> list[str]:
    """What F1 counts: words; characters where no spaces set words apart, and in Korean, as its particles are joined."""
    return [unit for word in _words(text, language) for unit in (word if _CHARACTERS.search(word) else [word])]


def token_f1(one: Counter[str], other: Counter[str]) -> float:
    """The F1 of what two texts have in common, each as the counts of its `units_of`."""
    common = (one & other).total()
    return 2 * common / (one.total() + other.total()) if common else 0.0
