"""What a data set holds that no row is at fault for, and that leaves contexts without entities: `data check`.

What a paper counts of its data, beside what was read: `data check --published`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import PurePath
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from babel.core import get_global

from polyculture.cache.text.folding import fold
from polyculture.instruments.datasets.model import BOTH, CAUSAL, CulturalEntity, DataSet, MaskedContext
from polyculture.instruments.datasets.selection import with_missing_sides
from polyculture.published.cells import NONE, PAPERS, UNITS, PublishedCell, published
from polyculture.sources.left_out import LeftOut, by_reason

if TYPE_CHECKING:
    from polyculture.instruments.datasets.rules import DatasetRules

_WHAT = re.compile(r"([a-z]+(?: [a-z]+){0,4}): ")  # how a reason begins that says what has become of the row
_OTHER = "left out or changed"


class CheckRow(NamedTuple):
    """A count about a data set, of entities as of questions."""

    what: str  # 'questions', 'options', 'role', 'entities', 'left out', ...
    of: str  # which of them; '' for all
    found: int
    published: int | None = None  # None where the publisher has no such number
    note: str = ""


def rows_by_reason(lines: Sequence[LeftOut]) -> Iterator[CheckRow]:
    """How many lines have each reason, and the place of the first."""
    for reason, number, first in by_reason(lines):
        begins = _WHAT.match(reason)
        what, why = (begins[1], reason[begins.end() :]) if begins else (_OTHER, reason)
        yield CheckRow(what, why, number, note=f"first: {first}")


def check_rows(dataset: DataSet) -> Iterator[CheckRow]:
    """What is counted of entities and contexts."""
    yield CheckRow("entities", "", len(dataset.entities))
    yield CheckRow("contexts", "", len(dataset.contexts))
    yield from rows_by_reason((*findings(dataset), *dataset.left_out))


def findings(dataset: DataSet) -> Iterator[LeftOut]:
    """Words that differ and mean one thing, and contexts that no entity of a side fits, each at its first place."""
    yield from _alike(dataset, "language", language_in_full, "are one language by CLDR")
    yield from _alike(dataset, "culture", fold, "differ in case alone")
    yield from _sides(dataset)


def _alike(dataset: DataSet, attribute: str, plain: Callable[[str], str], why: str) -> Iterator[LeftOut]:
    rows: list[CulturalEntity | MaskedContext] = [*reversed(dataset.contexts), *reversed(dataset.entities)]
    places = {getattr(row, attribute): row.place for row in rows}
    groups: dict[str, list[str]] = defaultdict(list)
    for word in sorted(places):
        groups[plain(word)].append(word)
    for words in groups.values():
        if len(words) > 1:
            told = f"{attribute}s {' and '.join(map(repr, words))} {why}"
            yield LeftOut(places[words[-1]], f"{told}: contexts of one do not meet entities of the other")


def language_in_full(code: str) -> str:
    """A code in full, by CLDR: 'tl-Latn' and 'fil' are 'fil_latn_ph', 'zh-TW' is 'zh_hant_tw'."""
    base, *more = code.casefold().replace("-", "_").split("_")
    base = get_global("language_aliases").get(base, base)
    script = next((part for part in more if len(part) == 4), "")
    region = next((part for part in more if len(part) in (2, 3)), "")
    likely = _likely()
    keys = ("_".join(filter(None, (base, *own))) for own in ((script, region), ("", region), (script, ""), ("", "")))
    usual = next((likely[key] for key in keys if key in likely), None)
    return "_".join([base, script or usual[1], region or usual[2]]) if usual else code


@cache
def _likely() -> dict[str, list[str]]:
    return {code.casefold(): full.casefold().split("_") for code, full in get_global("likely_subtags").items()}


def _sides(dataset: DataSet) -> Iterator[LeftOut]:
    """Where one side has no entity for contexts of a kind: they are not asked."""
    lacking: dict[tuple[str, ...], list[LeftOut]] = defaultdict(list)
    for context, missing in with_missing_sides(dataset, dataset.contexts):
        for side in missing:
            of = f"{context.gender} " if context.gender else ""
            reason = f"no {side} entity of type {of}{context.entity_type!r} in {context.language!r}"
            lacking[context.language, context.culture, reason].append(LeftOut(context.place, reason))
    for (_, culture, reason), lines in sorted(lacking.items()):
        yield LeftOut(lines[0].place, f"{len(lines)} contexts of {culture} are not asked: {reason}")


COLUMNS = ("what", "type", "culture", "of", "read", "published", "difference", "where", "why")
DATA = "data"  # the measure of a cell that counts data
_ANY = (None, NONE, "*")
_KNOWN = {"gender", "sentiment"}  # facets that a row has
_OF_A_LANGUAGE = ("mean_length", "texts")  # of entities and contexts, one in several languages counts once
_DRAWN = 50  # entities in each context: sections 4.2 and 4.3
_UNTOLD = {
    "source": "no file tells where an entity was found",
    "english_labels": "no file tells whose translation it is",
}


class FileCount(NamedTuple):
    """What the files tell of a count."""

    number: float | None  # None where no file tells it
    why: str = ""  # why there is none, or why it differs
    is_whole: bool = True  # False: files of what is counted are not in the folder, so that nothing is compared


def published_rows(dataset: DataSet, rules: DatasetRules) -> list[tuple[Any, ...]]:
    """What the paper counts of entities and contexts beside the rows that were read."""
    if rules.name in PAPERS:
        cells = [one for one in published(rules.name) if one.measure == DATA]
        return printed_rows(cells, lambda cell: _read(dataset, rules, cell))
    rows = []
    for what, printed in rules.published.items():
        read = _of_all(dataset, len(_kept(dataset, what)), what, absent_parts(dataset, rules, what))
        rows.append((what, None, None, "", read.number, printed, *_compared(read, read.number, printed, 0, "in all")))
    return rows


def printed_rows(cells: Iterable[PublishedCell], read: Callable[[PublishedCell], FileCount]) -> list[tuple[Any, ...]]:
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
        found = read(same[0])
        thousands = max(UNITS[same[0].unit], 1.0)  # as the paper rounds it
        places = max(0, -int(value.as_tuple().exponent))
        number = None if found.number is None else round(found.number / thousands, places or None)
        printed = float(value) if places else int(value)
        # A note on a cell with ± is on that, and explains no difference.
        notes, on_spread = ([one.note for one in same if one.note != NONE and (one.spread is not None) == wanted]
                            for wanted in (False, True))  # fmt: skip
        where = ", ".join(dict.fromkeys(one.row if one.table == "text" else f"Table {one.table}" for one in same))
        difference, where, why = _compared(found, number, printed, places, where, notes)
        why = "; ".join(dict.fromkeys(filter(None, (*on_spread, why))))
        rows.append((what, kind, culture, of, number, printed, difference, where, why))
    return rows


def _compared(
    found: FileCount, number: float | None, printed: float, places: int, where: str, notes: Sequence[str] = ()
) -> tuple[float | None, str, str]:
    """The columns `difference`, `where` and `why`."""
    difference = None if number is None or not found.is_whole else round(number - printed, places or None)
    why = "; ".join(dict.fromkeys(filter(None, (*notes, found.why))))
    if difference and not why:
        is_rounding = places and abs(difference) <= 1.01 * 10.0**-places
        why = "in the last place printed" if is_rounding else "not explained"
    return difference, where, why


def absent_parts(dataset: DataSet, rules: DatasetRules, what: str = "entities") -> list[str]:
    """The publisher's cultures and types that no row of this folder is of."""
    rows: Sequence[CulturalEntity | MaskedContext] = _kept(dataset, what)
    there = {word for one in rows for word in (one.culture, one.entity_type)}
    return [word for word in (*rules.cultures, *rules.types) if word not in there]


def _of_all(dataset: DataSet, number: float, what: str, absent: Sequence[str]) -> FileCount:
    """A count over parts of which some are absent."""
    if not number:
        return FileCount(None, f"no row of {what} was read")
    return FileCount(number, _missing(dataset, absent) if absent else "", not absent)


def _missing(dataset: DataSet, absent: Sequence[str]) -> str:
    """That the files of what is absent are not there; where a file has no row that is read, it may be that one."""
    rows: Sequence[CulturalEntity | MaskedContext] = (*dataset.entities, *dataset.contexts)
    read = {one.place.file for one in rows}
    unread = next((line.place.file for line in dataset.left_out if line.place.file not in read), None)
    return no_file(absent) if unread is None else f"no row of {', '.join(absent)} was read, and none of {unread}"


def no_file(absent: Sequence[str]) -> str:
    """Why nothing is read of a culture or type."""
    return f"no file of {', '.join(absent)} is in this folder"


def _kept(dataset: DataSet, what: str) -> list[CulturalEntity] | list[MaskedContext]:
    """Each row of the files once: one in several languages counts once, and so does a context in both forms."""
    if what == "entities":
        return list({one.place: one for one in dataset.entities}.values())
    return list({one.place: one for one in dataset.contexts if one.form != CAUSAL}.values())


def _read(dataset: DataSet, rules: DatasetRules, cell: PublishedCell) -> FileCount:
    """Entities, contexts; 50 texts a context and side; and the mean length of contexts, their gap being one word."""
    if unknown := [name for name in (*sorted(cell.facets.keys() - _KNOWN), cell.metric) if name in _UNTOLD]:
        return FileCount(None, _UNTOLD[unknown[0]])
    what = "entities" if cell.metric == "entities" else "contexts"
    absent = absent_parts(dataset, rules, what)
    if own := [word for word in (cell.culture, cell.topic) if word in absent]:
        return FileCount(None, _missing(dataset, own))
    if cell.metric == what:
        every = (*(rules.cultures if cell.culture in _ANY else ()), *(rules.types if cell.topic in _ANY else ()))
        return _of_all(dataset, len(_counted(dataset, rules, cell)), what, [word for word in absent if word in every])
    settings = cell.condition.split(", ")
    plain = [one for one in dataset.contexts if one.form != CAUSAL and one.setting in settings]
    texts = list({one.place: one.text for one in plain if one.language == cell.language}.values())
    if not texts:
        return FileCount(None, "no row of it was read")
    if cell.metric == "texts":
        return FileCount(_DRAWN * len(texts))
    return FileCount(fmean(len(text if cell.unit == "characters" else text.split()) for text in texts))


def _counted(dataset: DataSet, rules: DatasetRules, cell: PublishedCell) -> list[CulturalEntity | MaskedContext]:
    """The rows that a cell is of."""
    wanted = {"entity_type": cell.topic, "culture": cell.culture, "setting": cell.condition, **cell.facets}
    wanted = {name: value for name, value in wanted.items() if value not in _ANY}
    gender = wanted.pop("gender", None)
    return [
        one
        for one in _kept(dataset, cell.metric)
        if all(getattr(one, name) == value for name, value in wanted.items())
        and (gender is None or gender in _genders(one, rules))
    ]


def _genders(one: CulturalEntity | MaskedContext, rules: DatasetRules) -> Iterator[str | None]:
    """The gender of the sheet, where a sheet has one: a name of both stands in both sheets, and counts in each once."""
    sheet = rules.word("type", PurePath(one.place.file).stem).partition("/")[2]
    yield sheet or one.gender
    if not sheet and one.gender == BOTH:
        yield from ("female", "male")
