"""The pages on which a judge judges a sample, one mention or response at a time. Each answer is kept at once."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from polyculture.cache.errors import StoreError
from polyculture.cache.store.schema import Judgement
from polyculture.metrics.audit.judging import (
    OF_MENTIONS,
    OF_RESPONSES,
    Case,
    cases_of,
    drawn,
    judgements_of,
    keep_answer,
    regions_of,
)
from polyculture.reports.view.live import PageStore

PER = 20  # responses of each language and topic, where nobody says how many
_MOST = 1_000
_LONGEST = 60  # letters of a judge's name
_LAST = ("link", "missed")  # the answer that leads on
# A key for each answer; `region` has none.
KEYS: Mapping[str, Mapping[str, str]] = {
    "mention": {"right": "r", "wrong": "w"},
    "specific": {"1": "s", "0": "g"},
    "existence": {"item": "i", "no item": "n", "invented": "v"},
    "link": {"right": "1", "wrong": "2", "none": "3"},
    "on_topic": {"yes": "y", "no": "n"},
    "missed": {str(many): str(many) for many in range(6)},
}


class Judging:
    """What the page of a case shows, and where an answer leads."""

    def __init__(self, store: PageStore) -> None:
        self._store = store
        self._drawn: dict[tuple[int, str, str], list[str]] = {}

    def shown(self, asked: Mapping[str, str]) -> dict[str, Any]:
        """The values of the page: who is to judge what; with a judge, the case at `at` and `case`."""
        choice = _choice(asked)
        if not choice["judge"]:
            return {"choice": choice}
        key = (int(choice["per"]), choice["language"], choice["topic"])
        if "at" not in asked or key not in self._drawn:  # begun: what was extracted since is among them
            self._drawn[key] = self._store.asked(lambda store: drawn(store, *key))
        responses = self._drawn[key]
        if not responses:
            raise StoreError("there is no response whose mentions were extracted and looked up")
        own = [one for one in judgements_of(self._store.run) if one.judge == choice["judge"]]
        whole = {one.extraction_id for one in own if one.missed is not None}
        first = next((place for place, one in enumerate(responses) if one not in whole), len(responses) - 1)
        at = min(_number(asked.get("at", ""), first), len(responses) - 1)
        cases = self._store.asked(lambda store: cases_of(store, responses[at]))
        place = min(_number(asked.get("case", ""), 0), len(cases) - 1)
        case = cases[place]
        said = next((one for one in own if _key(one) == (case.extraction_id, case.ordinal)), None)
        before, after = self._beside(responses, at, place, len(cases))
        marked = [case] if case.ordinal is not None else sorted(cases[:-1], key=lambda one: one.start or 0)
        return {
            "choice": choice,
            "case": case,
            "at": at,
            "place": place,
            "marks": [{"start": one.start, "end": one.end} for one in marked],
            "of": (len(responses), len(cases) - 1, len(whole & set(responses))),
            "questions": self._questions(case, said),
            "missed": said.missed if said else None,
            "relinked": said is not None and said.qid != case.qid,
            "before": before and f"?{urlencode({**choice, **before})}",
            "after": after and f"?{urlencode({**choice, **after})}",
        }

    def answered(self, asked: Mapping[str, str]) -> str:
        """Keeps an answer; returns the query of the page that is next. Raises `StoreError` where it is none."""
        choice = _choice(asked)
        if not choice["judge"]:
            raise StoreError("an answer has no judge", remedy="Begin with a name.")
        cases = self._store.asked(lambda store: cases_of(store, asked.get("extraction", "")))
        place, at = min(_number(asked.get("case", ""), 0), len(cases) - 1), _number(asked.get("at", ""), 0)
        for question in (*OF_MENTIONS, *OF_RESPONSES):
            if question in asked:
                regions = self._store.asked(regions_of) if question == "region" else ()
                keep_answer(self._store.run, cases[place], choice["judge"], question, asked[question], regions)
                if asked[question] and (question in _LAST or asked[question] == "wrong"):
                    at, place = (at + 1, 0) if place + 1 == len(cases) else (at, place + 1)
        return urlencode({**choice, "at": at, "case": place})

    def _questions(self, case: Case, said: Judgement | None) -> list[tuple[str, list[tuple[str, str, bool]]]]:
        """The questions of a case: each with its answers, their keys, and which of them was given."""
        words = OF_MENTIONS
        if case.ordinal is None:
            regions = self._store.asked(regions_of)
            words = {"on_topic": ("yes", "no"), "region": regions, "missed": tuple(KEYS["missed"])}
        given: dict[str, Any] = {name: getattr(said, name) for name in words} if said else {}
        if said and said.qid != case.qid:
            given["link"] = None
        return [
            (name, [(word, KEYS.get(name, {}).get(word, ""), str(given.get(name)) == word) for word in answers])
            for name, answers in words.items()
        ]

    def _beside(
        self, responses: list[str], at: int, place: int, cases: int
    ) -> tuple[dict[str, int] | None, dict[str, int] | None]:
        """The places of the case before and the one after."""
        before = {"at": at, "case": place - 1} if place else {"at": at - 1, "case": 10_000} if at else None
        after = {"at": at, "case": place + 1} if place + 1 < cases else {"at": at + 1, "case": 0}
        return before, after if after["at"] < len(responses) else None


def _choice(asked: Mapping[str, str]) -> dict[str, str]:
    """Who judges which responses: what all addresses of a judge have in common."""
    name = "".join(letter for letter in asked.get("judge", "") if unicodedata.category(letter)[0] != "C")
    per = max(1, min(_number(asked.get("per", ""), PER), _MOST))
    return {
        "judge": name.strip()[:_LONGEST],
        "language": asked.get("language", ""),
        "topic": asked.get("topic", ""),
        "per": str(per),
    }


def _number(text: str, otherwise: int) -> int:
    return int(text) if text.isdecimal() and len(text) < 7 else otherwise


def _key(one: Judgement) -> tuple[str, int | None]:
    return one.extraction_id, one.ordinal
