"""What the words of a declared number count in a tally: answers, or something that is counted for each of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from polyculture.instruments.questions.model import BIASED, OTHER
from polyculture.instruments.questions.numbers.tally import Mask, Tally
from polyculture.metrics.inference.arrays import Floats

NOT = "not-"  # before a role: any other option


def came(at: Tally) -> Mask:
    """Answers that came, readable or not."""
    return np.asarray(~np.isin(at["outcome"], ("", "failed")))


def _outcome(name: str) -> Callable[[Tally], Mask]:
    return lambda at: np.asarray(at["outcome"] == name)


ANSWERS: Mapping[str, Callable[[Tally], Mask]] = {
    "all": came,
    "keyed": lambda at: came(at) & ~np.isnan(at["right"]),  # to questions that have a right option
    "read": lambda at: came(at) & (at["outcome"] != "unread"),
    "picked": _outcome("picked"),
    "unpicked": lambda at: came(at) & (at["outcome"] != "picked"),
    "right": lambda at: np.asarray(at["right"] == 1),
    "wrong": lambda at: (at["outcome"] == "picked") & (at["right"] == 0),
    "refusal": _outcome("refusal"),
    "tie": _outcome("tie"),
    "unread": _outcome("unread"),
    "first": lambda at: np.asarray(at["place"] == 0),  # the option that is shown first
}
# A column of the tally that is added up, over some of the answers or over all rows.
SUMS: Mapping[str, tuple[str, str]] = {
    "guessed": ("chance", "keyed"),
    "matched": ("matched", "all"),
    "reordered": ("reordered", ""),
    "flipped": ("flipped", ""),
    "golds": ("golds", ""),
    "pairs_samples": ("pairs_samples", ""),
    "likeness_samples": ("likeness_samples", ""),
    "pairs_questions": ("pairs_questions", ""),
    "likeness_questions": ("likeness_questions", ""),
    "golds_found": ("golds_found", ""),
}
# What says how answers are read, or is known without any.
OF_FORM = ("unpicked", "refusal", "tie", "unread", "guessed")
# Words that no answer leaves by the way it is read: a number of these is of the same answers, whatever is read of them.
WHATEVER_IS_READ = ("all", "keyed")
COUNTS = (*ANSWERS, *SUMS)


def counted(at: Tally, word: str, rows: Mask) -> Floats:
    """How much a word, or several that are joined by '&', counts of some rows: (units, prompts)."""
    if word in SUMS:
        column, answers = SUMS[word]
        return at.count(rows & ANSWERS[answers](at) if answers else rows, column)
    return at.count(rows & np.all([_answers(at, one) for one in word.split("&")], axis=0))


def roles_in(word: str) -> set[str]:
    """The roles of options that a word, or several that are joined by '&', names."""
    return {one.removeprefix(NOT) for one in word.split("&")} - set(COUNTS)


def is_directed(word: str) -> bool:
    """Does a word ask whom a stereotype is about? Then questions of which nobody knows that do not count."""
    return not roles_in(word).isdisjoint((BIASED, OTHER))


def _answers(at: Tally, word: str) -> Mask:
    if word in ANSWERS:
        return ANSWERS[word](at)
    picked = at["outcome"] == "picked"
    if word.startswith(NOT):
        return np.asarray(picked & (at["role"] != word.removeprefix(NOT)))
    return np.asarray(picked & (at["role"] == word))
