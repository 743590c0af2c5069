"""A paper's table with one's own models: their rows above the published ones, each with what it has otherwise."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from polyculture.cache.store.schema.measured import EVERY
from polyculture.instruments.papers.own import OwnNumber
from polyculture.instruments.papers.protocol import SAME
from polyculture.instruments.papers.tables import ALL, NO_COLUMN, Heads, PaperTable
from polyculture.metrics.declared import is_count
from polyculture.published.cells import NONE, PublishedCell
from polyculture.reports.numbers import rests_on

MEAN = "mean of this row's other columns"
COUNTS = " (counts)"  # behind a published model whose numbers are no shares
INCOMPLETE = "incomplete: "
THIN = "*"  # fewer than `FEWEST` linked items
CUT = "†"  # an average over fewer columns than the paper's
_PARTS = ("dataset", "language", "culture", "topic", "condition")
PAPER = "paper"  # the label of published rows that are of no one model


@dataclass(frozen=True, slots=True)
class PaperCell:
    """A number as it is shown, in its table's unit."""

    text: str
    value: float
    low: float | None = None
    high: float | None = None
    note: str = ""  # why there is no interval
    n: int | None = None
    unit: str = ""  # of `n`
    spread: float | None = None  # what is printed behind ±
    scale: str = ""  # the unit of `value`: 'percent', 'share', 'count', ...
    # Of the run: 'same protocol', or what differs, and what is missing. Published: what the paper leaves open.
    remarks: tuple[str, ...] = ()

    @property
    def interval(self) -> str:
        """'28.1 to 35.0'; '' without one."""
        if self.low is None or self.high is None:
            return ""
        digits = len(self.text.partition(" ")[0].rstrip(THIN + CUT).partition(".")[2])
        return f"{self.low:.{digits}f} to {self.high:.{digits}f}"


@dataclass(frozen=True, slots=True)
class PaperLine:
    """A model's cells in a row of a table, by column."""

    model: str
    row: str
    own: bool
    cells: Mapping[str, PaperCell]
    why: Mapping[str, str] = field(default_factory=dict)  # no cell, by column; '' is every column without one


@dataclass(frozen=True)
class JoinedTable:
    """A table with its lines: one's own, then the published ones."""

    table: PaperTable
    columns: Sequence[str]
    lines: Sequence[PaperLine]


def join(table: PaperTable, own: Iterable[OwnNumber], differs: Callable[[OwnNumber], list[str]]) -> JoinedTable | None:
    """The table; None where no number of one's own stands in it, nor the reason why there is none.

    A model of which it has none at all, as of one whose answers nobody could read, is a line with the reason.
    """
    own = list(own)
    placed = [
        (one, heads)
        for one in own
        if one.metric and (one.estimate is not None or one.lacking) and (heads := table.place_of(one))
    ]
    if not placed:
        return None
    measured = {one.model for one, _ in placed if one.estimate is not None}
    if {heads.column for _, heads in placed} == {NO_COLUMN} or (table.where and not measured):
        return None  # nothing of what the figure compares
    as_paper = {one.model for one, _ in placed if not one.variant and one.estimate is not None}
    placed = _told_apart([found for found in placed if not found[0].variant or found[0].model not in as_paper])

    def whole_last(heads: Heads) -> list[tuple[bool, str]]:
        return [(not {table.every, ALL}.isdisjoint(word.split(", ")), word) for word in heads]

    every = (
        sorted({heads for _, heads in placed}, key=whole_last) if table.where else [heads for _, heads in table.cells]
    )
    columns, rows = (list(dict.fromkeys(getattr(heads, side) for heads in every)) for side in ("column", "row"))
    order, places = ({word: number for number, word in enumerate(words)} for words in (rows, columns))

    def key(found: tuple[OwnNumber, Heads]) -> tuple[str, int, int]:
        one, heads = found
        name = f"{one.model} ({one.variant})" if one.variant else one.model
        return name, order[heads.row], places[heads.column]  # so that what differs is told in one order

    placed = [(one, heads) for one, heads in placed if one.model in measured]

    lines: list[PaperLine] = []
    for model, of_model in groupby(sorted(placed, key=key), key=lambda found: key(found)[0]):
        every_row = list(of_model)
        found = [_own_line(table, model, rows[number], list(some), differs)
                 for number, some in groupby(every_row, key=lambda found: order[found[1].row])]  # fmt: skip
        unread = [one for one in own if one.model == every_row[0][0].model and not one.metric]
        found += _unread_lines(table, model, {line.row for line in found}, unread)
        lines += found
    without = {name: why for name, why in stopped(table, own).items() if name not in measured}
    lines += [PaperLine(name, "", True, {}, {"": INCOMPLETE + why}) for name, why in without.items()]
    return JoinedTable(table, columns, [*lines, *published_lines(table)])


def _told_apart(placed: list[tuple[OwnNumber, Heads]]) -> list[tuple[OwnNumber, Heads]]:
    """The numbers with their places, where several of a model come to one: then what differs is in all rows.

    CAMeL's figures are of one language and data set, and yours may have more.
    """
    found: dict[tuple[str, str, Heads], list[OwnNumber]] = {}
    for one, heads in placed:
        found.setdefault((one.model, one.variant, heads), []).append(one)
    apart = [name for name in _PARTS if any(len({getattr(one, name) for one in some}) > 1 for some in found.values())]
    return [
        (one, heads._replace(row=", ".join(filter(None, [*(getattr(one, name) for name in apart), heads.row]))))
        for one, heads in placed
    ]


def stopped(table: PaperTable, own: Iterable[OwnNumber]) -> dict[str, str]:
    """The models that lack something of a table, each with its reasons."""
    found: dict[str, list[str]] = {}
    for one in own:
        if one.lacking and (table.place_of(one) if one.metric else table.is_of(one)):
            found.setdefault(one.model, []).extend(one.lacking.split(", "))
    return {model: ", ".join(largest(some)) for model, some in sorted(found.items())}


def _unread_lines(table: PaperTable, model: str, filled: set[str], unread: Iterable[OwnNumber]) -> Iterator[PaperLine]:
    """The rows, other than the filled ones, whose data a model was asked about without a number, with the reason."""
    for one in unread:
        of_data = [
            heads.row for cell, heads in table.cells if (cell.measure, cell.dataset) == (one.measure, one.dataset)
        ]
        for row in dict.fromkeys(of_data):
            if row not in filled:
                filled.add(row)
                yield PaperLine(model, row, True, {}, {"": INCOMPLETE + one.lacking})


def _own_line(
    table: PaperTable, model: str, row: str, some: Sequence[tuple[OwnNumber, Heads]],
    differs: Callable[[OwnNumber], list[str]],
) -> PaperLine:  # fmt: skip
    cells = {
        heads.column: _cell(table, one, heads, one.estimate, _remarks(one, differs))
        for one, heads in some
        if one.estimate is not None
    }
    heads_here = list(dict.fromkeys(heads for _, heads in table.cells if heads.row == row and not table.where))
    means = {heads.column for one, heads in table.cells if heads.row == row and EVERY in (one.language, one.culture)}
    for column in means - cells.keys():
        others = [cell for name, cell in cells.items() if name not in means]
        if len(others) > 1:
            value, digits = sum(cell.value for cell in others) / len(others), len(others[0].text.partition(".")[2])
            remarks = dict.fromkeys(one for cell in others for one in cell.remarks)
            cells[column] = PaperCell(
                f"{value:.{digits}f}", value, note=MEAN, scale=others[0].scale, remarks=tuple(remarks)
            )
    counted = {heads.column for heads in heads_here}
    counted = counted - means or counted  # an average is no column of its own
    over_topics = {heads.column for one, heads in table.cells if heads.row == row and one.topic == EVERY}
    counted = counted - over_topics or counted
    size = len(counted - cells.keys())
    for column in ((means | over_topics) - counted) & cells.keys() if size else ():
        cells[column] = replace(cells[column], text=cells[column].text + CUT)
    why = {heads.column: INCOMPLETE + one.lacking for one, heads in some if heads.column not in cells}
    return PaperLine(model, row, True, cells, why)


def _remarks(one: OwnNumber, differs: Callable[[OwnNumber], list[str]]) -> tuple[str, ...]:
    different = dict.fromkeys(part for line in differs(one) for part in line.split("; "))
    lacking = one.lacking.split(", ") if one.lacking else []
    return (*(different or [SAME]), *(INCOMPLETE + part for part in lacking))


def largest(lacking: Sequence[str]) -> Iterator[str]:
    """Reasons, each once: of those that differ in their counts alone, as of several columns, the largest."""
    alike: dict[str, set[str]] = {}
    for why in lacking:
        alike.setdefault(re.sub(r"\d+", "#", why), set()).add(why)
    for some in alike.values():
        yield ("up to " if len(some) > 1 else "") + max(
            some, key=lambda why: [int(one) for one in re.findall(r"\d+", why)]
        )


def _cell(table: PaperTable, one: OwnNumber, heads: Heads, estimate: float, remarks: tuple[str, ...]) -> PaperCell:
    unit, digits = table.unit(one, heads)
    factor = 100 if unit == "percent" else 1
    value = factor * estimate
    low, high = (None if x is None else factor * x for x in (one.low, one.high))
    text = f"{value:.4g}" if one.metric.endswith("_p") else f"{round(value, digits) or 0.0:.{digits}f}"  # no -0.00
    spread = None if one.spread is None else factor * one.spread
    text += "" if spread is None else f" ± {spread:.{digits}f}"
    # Of a count few items are the result.
    thin = rests_on(one.n) if one.measure == "entities" and not is_count(one.metric) else None
    note = "; ".join(filter(None, (one.no_interval, thin)))
    return PaperCell(text + (THIN if thin else ""), value, low, high, note, one.n, one.unit, spread, unit, remarks)


def published_lines(table: PaperTable) -> Iterator[PaperLine]:
    """The lines of the paper's own models."""
    found: dict[tuple[str, str], dict[str, PublishedCell]] = {}
    has_models = any(one.model != NONE for one, _ in table.cells)
    for one, heads in table.cells:
        name = one.name if has_models else PAPER
        counts = COUNTS if (one.measure, one.unit) == ("sentiment", "count") else ""
        found.setdefault((f"{name}{counts}", heads.row), {})[heads.column] = one
    for (model, row), cells in found.items():
        printed = {column: _printed(one) for column, one in cells.items()}
        yield PaperLine(model, row, False, printed)


def _printed(one: PublishedCell) -> PaperCell:
    spread = f" ± {one.spread}" if one.spread is not None else ""
    remarks = () if one.note == NONE else tuple(one.note.split("; "))
    number = None if one.spread is None else float(one.spread)
    return PaperCell(f"{one.value}{spread}", float(one.value), spread=number, scale=one.unit, remarks=remarks)
