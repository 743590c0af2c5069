"""What a paper counts of a data set, beside the rows that were read: `data check --published`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from polyculture.instruments.datasets.model import BOTH, CAUSAL
from polyculture.published.cells import NONE, PAPERS, PublishedCell, published

if TYPE_CHECKING:
    from polyculture.instruments.datasets.model import CulturalEntity, DataSet, MaskedContext
    from polyculture.instruments.datasets.rules import DatasetRules

COLUMNS = ("what", "type", "culture", "of", "read", "published", "difference", "where", "why")
COUNTED = ("camel", "camel2", "camellia")  # the data sets of which counts are held
_ANY = (None, NONE, "*")
_KNOWN = {"gender", "sentiment"}  # facets that a row has; others, as where an entity was found, stand in no file


def published_rows(dataset: DataSet, rules: DatasetRules) -> list[tuple[Any, ...]]:
    """What the paper counts beside the rows that were read, and why they differ where that is known.

    Each count once, with all tables that print it; one of the abstract, of rules of a paper that is not transcribed.
    """
    lacking = absent_cultures(dataset, rules)
    absent = f"not in this folder: {', '.join(lacking)}" if lacking else ""
    rows = []
    for (what, kind, culture, of, count), cells in _counts(rules).items():
        read = _read(dataset, rules, cells[0])
        where = ", ".join(dict.fromkeys(map(_place, cells)))
        notes = dict.fromkeys(cell.note for cell in cells if cell.note != NONE)
        why = "; ".join(filter(None, (*notes, absent if culture in (None, *lacking) else "")))
        rows.append((what, kind, culture, of, read, count, read - count, where, _told(why, read - count)))
    for one in rules.published_counts:
        read = len(_kept(dataset, one.what))
        rows.append(
            (one.what, None, None, "", read, one.count, read - one.count, one.where, _told(one.why, read - one.count))
        )
    return rows


def _told(why: str, difference: int) -> str:
    return why or ("not explained" if difference else "")


def absent_cultures(dataset: DataSet, rules: DatasetRules) -> list[str]:
    """The publisher's cultures without an entity in this folder."""
    cultures = {entity.culture for entity in dataset.entities}
    return [culture for culture in rules.cultures if culture not in cultures]


def _counts(rules: DatasetRules) -> dict[tuple[Any, ...], list[PublishedCell]]:
    """The counts that rows of the files can be held to, by what they count."""
    counts: dict[tuple[Any, ...], list[PublishedCell]] = {}
    for cell in published(rules.name) if rules.name in PAPERS else ():
        if cell.metric in ("entities", "contexts") and cell.facets.keys() <= _KNOWN and cell.unit == "count":
            kind, culture = (None if word in _ANY else word for word in (cell.topic, cell.culture))
            of = ", ".join(filter(None, (*_settings(cell), cell.facets.get("gender"), cell.facets.get("sentiment"))))
            counts.setdefault((cell.metric, kind, culture, of, int(cell.value)), []).append(cell)
    return counts


def _place(cell: PublishedCell) -> str:
    return cell.row if cell.table == "text" else f"Table {cell.table}"


def _settings(cell: PublishedCell) -> tuple[str, ...]:
    return () if cell.condition in _ANY else (cell.condition,)


def _kept(dataset: DataSet, what: str) -> list[CulturalEntity] | list[MaskedContext]:
    """Each row of the files once: one in several languages counts once, and so does a context in both forms."""
    if what == "entities":
        return list({one.place: one for one in dataset.entities}.values())
    return list({one.place: one for one in dataset.contexts if one.form != CAUSAL}.values())


def _read(dataset: DataSet, rules: DatasetRules, cell: PublishedCell) -> int:
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
