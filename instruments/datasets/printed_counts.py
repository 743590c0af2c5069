"""What a paper counts of its data, beside what was read: `data check --published`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePath
from statistics import fmean
from typing import TYPE_CHECKING, Any

from polyculture.instruments.datasets.model import BOTH, CAUSAL
from polyculture.published.cells import NONE, PAPERS, UNITS, PublishedCell, published

if TYPE_CHECKING:
    from polyculture.instruments.datasets.model import CulturalEntity, DataSet, MaskedContext
    from polyculture.instruments.datasets.rules import DatasetRules

COLUMNS = ("what", "type", "culture", "of", "read", "published", "difference", "where", "why")
DATA = "data"  # the measure of a cell that counts data
Read = tuple[float | None, str]  # the number of the files; None where no file tells it, and why, or why it differs
_ANY = (None, NONE, "*")
_KNOWN = {"gender", "sentiment"}  # facets that a row has
_OF_A_LANGUAGE = ("mean_length", "texts")  # of entities and contexts, one in several languages counts once
_DRAWN = 50  # entities in each context: sections 4.2 and 4.3
_UNTOLD = {
    "source": "no file tells where an entity was found",
    "english_labels": "no file tells whose translation it is",
}


def published_rows(dataset: DataSet, rules: DatasetRules) -> list[tuple[Any, ...]]:
    """What the paper counts of entities and contexts beside the rows that were read."""
    absent = absent_cultures(dataset, rules)
    cells = [one for one in published(rules.name) if one.measure == DATA] if rules.name in PAPERS else []
    rows = printed_rows(cells, lambda cell: _read(dataset, rules, cell, absent))
    for one in rules.published_counts:
        read = len(_kept(dataset, one.what))
        rows.append(
            (one.what, None, None, "", read, one.count, read - one.count, one.where, _told(one.why, read - one.count))
        )
    return rows


def printed_rows(cells: Iterable[PublishedCell], read: Callable[[PublishedCell], Read]) -> list[tuple[Any, ...]]:
    """A row for each number, once with all tables that print it: what was read, and why they differ."""
    counts: dict[tuple[Any, ...], list[PublishedCell]] = {}
    for cell in cells:
        kind, culture = (None if word in _ANY else word for word in (cell.topic, cell.culture))
        of_language = cell.metric in _OF_A_LANGUAGE or "source" in cell.facets
        named = (cell.condition, cell.language if of_language else NONE, *cell.facets.values())
        what = cell.metric if cell.unit == "count" else f"{cell.metric} ({cell.unit})"
        of = ", ".join(word for word in named if word not in _ANY)
        counts.setdefault((what, kind, culture, of, cell.value), []).append(cell)
    rows = []
    for (what, kind, culture, of, value), same in counts.items():
        found, reason = read(same[0])
        thousands = max(UNITS[same[0].unit], 1.0)  # as the paper rounds it
        places = max(0, -int(value.as_tuple().exponent))
        number = None if found is None else round(found / thousands, places) if places else round(found / thousands)
        printed = float(value) if places else int(value)
        difference = None if number is None else round(number - printed, places)
        why = "; ".join(dict.fromkeys(filter(None, (*(one.note for one in same if one.note != NONE), reason))))
        where = ", ".join(dict.fromkeys(one.row if one.table == "text" else f"Table {one.table}" for one in same))
        if difference and abs(difference) <= 1.01 * 10.0**-places and places:
            why = why or "in the last place printed"
        rows.append((what, kind, culture, of, number, printed, difference, where, _told(why, difference)))
    return rows


def _told(why: str, difference: float | None) -> str:
    return why or ("not explained" if difference else "")


def absent_cultures(dataset: DataSet, rules: DatasetRules) -> list[str]:
    """The publisher's cultures without an entity in this folder."""
    cultures = {entity.culture for entity in dataset.entities}
    return [culture for culture in rules.cultures if culture not in cultures]


def _kept(dataset: DataSet, what: str) -> list[CulturalEntity] | list[MaskedContext]:
    """Each row of the files once: one in several languages counts once, and so does a context in both forms."""
    if what == "entities":
        return list({one.place: one for one in dataset.entities}.values())
    return list({one.place: one for one in dataset.contexts if one.form != CAUSAL}.values())


def _read(dataset: DataSet, rules: DatasetRules, cell: PublishedCell, absent: list[str]) -> Read:
    """Entities, contexts; 50 texts a context and side; and the mean length of contexts, their gap being one word."""
    if unknown := [name for name in (*sorted(cell.facets.keys() - _KNOWN), cell.metric) if name in _UNTOLD]:
        return None, _UNTOLD[unknown[0]]
    missing = f"not in this folder: {', '.join(absent)}" if absent and cell.culture in (*_ANY, *absent) else ""
    if cell.metric in ("entities", "contexts"):
        return _count(dataset, rules, cell), missing
    settings = cell.condition.split(", ")
    texts = {
        one.place: one.text
        for one in dataset.contexts
        if one.form != CAUSAL and one.language == cell.language and one.setting in settings
    }
    if cell.metric == "texts":
        return _DRAWN * len(texts), missing
    if not texts:
        return None, missing
    return fmean(len(text if cell.unit == "characters" else text.split()) for text in texts.values()), missing


def _count(dataset: DataSet, rules: DatasetRules, cell: PublishedCell) -> int:
    wanted = {"entity_type": cell.topic, "culture": cell.culture, "setting": cell.condition, **cell.facets}
    wanted = {name: value for name, value in wanted.items() if value not in _ANY}
    gender = wanted.pop("gender", None)
    return sum(
        all(getattr(one, name) == value for name, value in wanted.items())
        and (gender is None or gender in _genders(one, rules))
        for one in _kept(dataset, cell.metric)
    )


def _genders(one: CulturalEntity | MaskedContext, rules: DatasetRules) -> Iterator[str | None]:
    """The gender of the sheet, where a sheet has one: a name of both stands in both sheets, and counts in each once."""
    sheet = rules.word("type", PurePath(one.place.file).stem).partition("/")[2]
    yield sheet or one.gender
    if not sheet and one.gender == BOTH:
        yield from ("female", "male")
