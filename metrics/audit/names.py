"""How far wrong English names may put a metric off, by the audit of the extractor's names on gold texts.

`polyculture extract audit EXPERIMENT` keeps how many English names of each gold text are right (`audited_texts`). A
link that rests on the English name alone (`matched_by` is 'english') means what that name says. Of n linked items let
a be of the prompt's country, m rest on English names, and b do both. If a share e of the m is wrongly named, then among
the rightly named items the share of the country is

    (a - w) / (n - e m)

where w of the wrongly named items are of the country. Nobody knows w. It lies between max(0, e m - (m - b)) and
min(b, e m): the bounds of contaminated data (Horowitz and Manski 1995). The interval of the metric reaches to the
lowest and the highest such share, over these w and over e from 0 to the upper limit of the audited error. In the number
itself the wrongly named items are like the others with an English name. Of distinct items, those that are wrong are
taken off: `_of_items`.

Four things are assumed. Names are as often wrong in the run, where a link rests on them, as in the gold texts, which
are no random sample of the run's. What is wrongly named is as often of the country as the rest. Errors are alike for
all models and topics of a language. And the English name is right where it only decides between twins, items that own
words match alike: such links are not among the m. Judges of the run itself need the third one alone, so where they
judged enough their correction is taken.

A language with fewer than ten audited texts gets the error of all audited languages but English, whose English names
are the words of the text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from polyculture.cache.store.sql_file import read_sql
from polyculture.cache.store.store import Store
from polyculture.metrics.audit.scores import FEWEST, JudgedShare, share_limits
from polyculture.metrics.audit.shift import Shift
from polyculture.metrics.declared import DECLARED, JudgedPart
from polyculture.metrics.inference.arrays import Floats

_SQL = Path(__file__).with_name("sql")
ENGLISH = "en"
FORMS, ENGLISH_NAMES = "dictionary forms", "English names"
_TEXTS = "SELECT language, names, right_names, english, right_english FROM audited_texts ORDER BY language, text_id"
_LANGUAGES = "SELECT DISTINCT language FROM extractions ORDER BY language"
NAMED = "English names"  # what a shift rests on


def names_shifts(store: Store) -> dict[tuple[str, str], tuple[Shift, ...]]:
    """Per language and metric: the shift by wrong English names, then its least and its greatest."""
    errors = _errors(store)
    found: dict[tuple[str, str], tuple[Shift, ...]] = {}
    if not errors:
        return found
    for judged, (statement, of) in _OF.items():
        for language, *counts in store.execute(read_sql(_SQL, statement)).fetchall():
            error = errors.get(language) or errors.get(None)
            if error is None:
                continue
            shifts = tuple(Shift(value, 0.0, 0.0, error.texts, NAMED) for value in of(error, *counts))
            found |= {(language, metric.name): shifts for metric in DECLARED if metric.judged == judged}
    return found


def names_audited(store: Store) -> bool:
    """Were the names that the run's extractor gives audited?"""
    return bool(store.sql("SELECT 1 FROM audited_texts LIMIT 1").fetchall())


def name_shares(store: Store) -> list[JudgedShare]:
    """The shares of right names, of all audited languages and of each."""
    found = []
    rows = _texts(store)
    for language in (None, *rows) if rows else ():
        own = np.concatenate([one for code, one in rows.items() if language in (None, code)])
        for what, given, right in ((FORMS, own[:, 0], own[:, 1]), (ENGLISH_NAMES, own[:, 2], own[:, 3])):
            if of := given.sum():
                value = float(right.sum() / of)
                limits = share_limits(right, given)
                found.append(
                    JudgedShare(what, language, None, float(right.sum()), float(of), value, *limits, 0, value, value)
                )
    return found


@dataclass(frozen=True, slots=True)
class ErrorSources:
    """Which error of English names the corrections of each language of a run use, with audited texts of the language
    that have any such name."""

    own: Mapping[str, int]  # languages with an error of their own
    shared: Mapping[str, int]  # those that take that of all audited languages but English
    shared_texts: int  # that it is made of
    lacking: Mapping[str, int]  # those that have neither: nothing allows for their wrong names

    def sentences(self, name: Callable[[str], str]) -> list[str]:
        """What this means, in words; `name` gives the name of a language."""

        def listed(languages: Mapping[str, int]) -> str:
            return ", ".join(f"{name(language)} ({texts})" for language, texts in languages.items())

        said = []
        if self.own:
            said.append(f"The error of English names is the language's own, by its audited texts: {listed(self.own)}.")
        if self.shared:
            said.append(
                f"It is that of all audited languages but English ({self.shared_texts} texts) where fewer than "
                f"{FEWEST} texts of the language were audited: {listed(self.shared)}."
            )
        if self.lacking:
            said.append(
                f"Nothing allows for wrong names, since fewer than {FEWEST} texts were audited in all languages but "
                f"English: {listed(self.lacking)}."
            )
        if self.shared or self.lacking:
            said.append(
                f"To measure a language's own error, mark at least {FEWEST} texts with English names in a pack: "
                "docs/audit.md#the-extractors-names."
            )
        return said


def error_sources(store: Store) -> ErrorSources:
    """Which error each language of the run takes."""
    errors = _errors(store)
    audited = {language: int(np.count_nonzero(own[:, 2])) for language, own in _texts(store).items()}
    languages = [language for (language,) in store.sql(_LANGUAGES).fetchall()]
    texts = {language: audited.get(language, 0) for language in languages}
    others = {language: number for language, number in texts.items() if language not in errors}
    shared = errors.get(None)
    return ErrorSources(
        {language: number for language, number in texts.items() if language in errors},
        others if shared else {},
        shared.texts if shared else 0,
        {} if shared else others,
    )


class _ErrorShare(NamedTuple):
    """The share of wrong English names with its limits, and the number of texts with any such name."""

    share: float
    low: float
    high: float
    texts: int


def _errors(store: Store) -> dict[str | None, _ErrorShare]:
    """By language with enough audited texts; by None that of all but English."""
    rows = _texts(store)
    abroad = [own for language, own in rows.items() if language != ENGLISH]
    groups: dict[str | None, Floats] = dict(rows.items())
    if abroad:
        groups[None] = np.concatenate(abroad)
    found: dict[str | None, _ErrorShare] = {}
    for language, own in groups.items():
        given, wrong = own[:, 2], own[:, 2] - own[:, 3]
        texts = int(np.count_nonzero(given))
        if texts >= FEWEST:
            found[language] = _ErrorShare(float(wrong.sum() / given.sum()), *share_limits(wrong, given), texts)
    return found


def _texts(store: Store) -> Mapping[str, Floats]:
    """By language a row per audited text: names and right ones, English names and right ones."""
    found: dict[str, list[list[float]]] = {}
    for language, *counts in store.sql(_TEXTS).fetchall():
        found.setdefault(language, []).append(counts)
    return {language: np.array(rows, dtype=np.float64) for language, rows in found.items()}


def _of_shares(
    error: _ErrorShare, items: int, english: int, of_country: int, english_of_country: int
) -> Iterator[float]:
    """By how much the share of the country among rightly named items differs from that among all: as it is expected,
    at least, and at most."""
    others, at_most = english - english_of_country, error.high

    def share(wrong: float, of_the_country: float) -> float:
        left = items - wrong
        return (of_country - of_the_country) / left if left > 0 else of_country / items

    # The lowest share has all that is wrong among the items of the country, the highest among the others.
    least = share(wrong := min(at_most * english, english_of_country), wrong)
    most = share(min(at_most * english, others), 0.0)
    wrong = error.share * english
    expected = share(wrong, wrong * english_of_country / english) if english else of_country / items
    yield from (value - of_country / items for value in (expected, least, most))


def _of_items(error: _ErrorShare, items: int, links: int, seen: Sequence[int]) -> Iterator[float]:
    """The share of distinct items that are rightly named: as it is expected, at least, and at most.

    An item is wrong where all its names are. As many wrong names as may be make the most items wrong where these are
    the rarest ones (`seen`, ascending); none where they are spread over items that are rightly named as well.
    """
    wrong = np.searchsorted(np.cumsum(seen), error.high * links, side="right") if seen else 0
    yield from (1 - error.share * len(seen) / items, 1 - int(wrong) / items, 1.0)


_OF: Mapping[JudgedPart, tuple[str, Callable[..., Iterator[float]]]] = {
    "links": ("by_english", _of_shares),
    "count": ("items_by_english", _of_items),
}
