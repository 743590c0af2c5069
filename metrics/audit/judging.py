"""A sample of responses for judges, and how an answer of a judge is kept.

A judge answers one question at a time, of a mention or of a response; what a judge cannot say stays without an answer.

- `mention`: does the text name such a thing there?
- `specific`: 1 or 0, only where the extractor's label is wrong
- `existence`: does the thing exist? `no item`: it is real, and Wikidata lacks it
- `link`: of a linked mention: is the item the one that is meant (`none`: no item is)? Of another one: `right` where
  Wikidata has no item for it, `wrong` where it has
- `missed`: how many things of the topic the response names that are no mention
- `on_topic`: is the response about its topic?
- `region`: of which region, or culture, the response is: a region's code, mixed, or neutral
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from polyculture.cache.catalog.model import NO_REGION
from polyculture.cache.errors import StoreError
from polyculture.cache.locks import Lock
from polyculture.cache.store.inventory import record_table, require_table
from polyculture.cache.store.parquet import objects_to_table, read_rows, write_parquet
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.schema import JUDGEMENTS, Judgement
from polyculture.cache.store.sql_file import read_sql
from polyculture.cache.store.store import Store

SQL = Path(__file__).with_name("sql")
OF_MENTIONS: Mapping[str, tuple[str, ...]] = {
    "mention": ("right", "wrong"),
    "specific": ("1", "0"),
    "existence": ("item", "no item", "invented"),
    "link": ("right", "wrong", "none"),
}
OF_RESPONSES = ("on_topic", "region", "missed")
_NUMBERS = ("specific", "missed")
_MOST = 10_000  # things that a response may lack: more is a slip of the keys


@dataclass(frozen=True, slots=True)
class Case:
    """What a judge sees: a mention of a response with its link; or, with an `ordinal` of None, the response itself."""

    extraction_id: str
    ordinal: int | None
    language: str
    topic: str
    prompt: str
    text: str
    start: int | None
    end: int | None
    surface: str | None
    kind: str | None
    granularity: int | None
    status: str | None
    qid: str | None  # of a linked mention
    label: str | None
    description: str | None


def drawn(store: Store, per: int, language: str = "", topic: str = "") -> list[str]:
    """The extractions of `per` responses of each language and topic, or of this one alone; more add to fewer."""
    values = {"per": per, "language": language, "topic": topic}
    return [extraction for (extraction,) in store.execute(read_sql(SQL, "drawn"), values).fetchall()]


def cases_of(store: Store, extraction_id: str) -> list[Case]:
    """The mentions of a response in their order, then the response. Raises `StoreError` where it is there no more."""
    found = store.execute(read_sql(SQL, "cases"), {"extraction": extraction_id}).fetchall()
    if not found:
        raise StoreError(
            "this response is not in the run", remedy="Its mentions were extracted again: begin to judge again."
        )
    return [Case(*row) for row in found]


def regions_of(store: Store) -> tuple[str, ...]:
    """What may be answered of a region: those that the run's links know, and what texts of no single one are called."""
    query = "SELECT region FROM known_countries WHERE region IS NOT NULL GROUP BY region ORDER BY min(place)"
    return *(region for (region,) in store.sql(query).fetchall()), *NO_REGION


def judgements_of(run: RunFolder) -> list[Judgement]:
    """All that judges have said."""
    require_table(run, JUDGEMENTS.name)
    path = run.table(JUDGEMENTS.name)
    return [Judgement(**row) for row in read_rows(path, JUDGEMENTS).to_pylist()] if path.exists() else []


@contextmanager
def changed_judgements(run: RunFolder) -> Iterator[list[Judgement]]:
    """All that judges have said, to be changed in the block and written after it: one process and thread at a time."""
    with Lock(run.root / ".judgements.lock", wait=True):
        judgements = judgements_of(run)
        yield judgements
        write_parquet(objects_to_table(JUDGEMENTS, judgements), run.table(JUDGEMENTS.name))
        record_table(run, JUDGEMENTS.name)


def keep_answer(run: RunFolder, case: Case, judge: str, question: str, word: str, regions: Sequence[str] = ()) -> None:
    """Writes what a judge answers to a question of a case into the run; an empty `word` takes the answer back.

    Raises `StoreError` where the question is not asked of it, the word is no answer to it, or contradicts another one.
    """
    value = _value(case, question, word, regions)
    with changed_judgements(run) as judgements:
        own = [one for one in judgements if one.judge == judge]
        before = next(
            (one for one in own if (one.extraction_id, one.ordinal) == (case.extraction_id, case.ordinal)), None
        )
        said = before or Judgement(
            judge, case.extraction_id, case.ordinal, case.language, case.topic, None, None, case.qid, None, None
        )
        if said.qid != case.qid:  # it has another link since: what was said of the former one does not hold
            said = replace(said, qid=case.qid, link=None)
        changed: dict[str, Any] = {question: value, "adjudicator": any(one.adjudicator for one in own)}
        said = replace(said, **changed)
        _check_existence(said)
        if before is not None:
            judgements.remove(before)
        if any(getattr(said, name) is not None for name in (*OF_MENTIONS, *OF_RESPONSES)):
            judgements.append(said)


def _value(case: Case, question: str, word: str, regions: Sequence[str]) -> str | int | None:
    asked = OF_RESPONSES if case.ordinal is None else tuple(OF_MENTIONS)
    if question not in asked:
        raise StoreError(f"{question} is not asked here", remedy=f"Answer one of {', '.join(asked)}.")
    if not word:
        return None
    words = {**OF_MENTIONS, "on_topic": ("yes", "no"), "region": regions}
    if question == "missed":
        if not (word.isdecimal() and int(word) <= _MOST):
            raise StoreError(f"missed is {word!r}", remedy=f"Say how many: 0 to {_MOST:,}.")
    elif word not in words[question]:
        raise StoreError(f"{question} is {word!r}", remedy=f"Answer {' or '.join(words[question])}.")
    return int(word) if question in _NUMBERS else word


def _check_existence(said: Judgement) -> None:
    """Check that `link` and `existence` say the same of whether there is an item."""
    if said.link is None or said.existence is None:
        return
    has_item = said.link != "none" if said.qid is not None else said.link == "wrong"
    if has_item != (said.existence == "item"):
        what = f"link {said.link!r} says that there is {'an' if has_item else 'no'} item, existence {said.existence!r}"
        raise StoreError(what, remedy="Take one of the two back: press it again.")
