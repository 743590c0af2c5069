"""How far the judges of an audit agree: Cohen's kappa of two, Fleiss' of more, and that with the linked items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from polyculture.cache.schema import Judgement
from polyculture.collect.mining.kappa import Kappa, cohens_kappa, fleiss_kappa

QUESTIONS = ("mention", "link", "existence", "on_topic", "region")  # whose answers are words
AUTOMATIC = "the linked items"  # whose labels of texts judges are held against
AnswerKey = tuple[str, int | None, str]  # extraction, mention (None: the text itself), question
Answers = dict[AnswerKey, str]
KAPPA_COLUMNS = ("judges", "judged", "rows", "agree", "kappa", "low", "high")


def answers_of(judgements: Sequence[Judgement]) -> dict[str, Answers]:
    """What each judge answered, by row and question."""
    said: dict[str, Answers] = {}
    for one in sorted(judgements, key=lambda one: one.judge):
        for what in QUESTIONS:
            word = getattr(one, what)
            if word is not None:
                said.setdefault(one.judge, {})[one.extraction_id, one.ordinal, what] = word
    return said


def agreement(said: Mapping[str, Answers]) -> list[tuple[Any, ...]]:
    """A line per pair of judges and per question that either answered."""
    lines = []
    for a, b in combinations(said, 2):
        for what in QUESTIONS:
            own, other = ({key: word for key, word in said[name].items() if key[2] == what} for name in (a, b))
            if own or other:
                pairs = [(own[key], other[key]) for key in own if key in other]
                lines.append(_kappa_line(f"{a}, {b}", what, cohens_kappa(pairs)))
    return lines


def against(said: Mapping[str, Answers], automatic: Answers) -> list[tuple[Any, ...]]:
    """A line per judge who said of which region texts are."""
    asked = {judge: {key: word for key, word in own.items() if key[2] == "region"} for judge, own in said.items()}
    return [line for judge, own in asked.items() if own for line in agreement({judge: own, AUTOMATIC: automatic})]


def agreement_of_all(said: Mapping[str, Answers]) -> list[tuple[Any, ...]]:
    """A line per question of which three judges or more answered the same rows."""
    if len(said) < 3:
        return []
    common = sorted(set[AnswerKey].intersection(*map(set, said.values())), key=str)
    by_question = {what: [key for key in common if key[2] == what] for what in QUESTIONS}
    return [
        _kappa_line(f"all {len(said)}", what, fleiss_kappa([[own[key] for own in said.values()] for key in keys]))
        for what, keys in by_question.items()
        if keys
    ]


def _kappa_line(judges: str, what: str, kappa: Kappa) -> tuple[Any, ...]:
    return judges, what, kappa.n, kappa.observed, kappa.kappa, kappa.low, kappa.high
