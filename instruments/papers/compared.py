"""The long table of a paper: each number that it prints, next to this run's number of the same place.

A place is a row and a column of a table, without the name of the paper's model, which is in one of the two.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from polyculture.instruments.papers.join import CUT, JoinedTable, PaperCell, PaperLine

NOT_MEASURED = "not measured"


@dataclass(frozen=True, slots=True)
class ComparedCell:
    """A model's number in a place of a table, and the numbers that the paper prints there."""

    model: str
    row: str
    column: str
    yours: PaperCell | None
    published: Mapping[str, PaperCell]  # by the paper's model
    remarks: tuple[str, ...]  # 'same protocol', or what differs and what is missing; without a number, why


@dataclass(frozen=True, slots=True)
class LongRow:
    """A printed number and a model's number in its place; or a number of the run where the paper prints none."""

    paper: str
    table: str
    title: str
    row: str
    column: str
    published_model: str | None
    published: float | None
    model: str
    yours: float | None
    difference: float | None  # yours less published
    unit: str | None  # of yours, its limits and its spread: 'percent', 'share', 'count', 'index', 'p'
    protocol: str
    low: float | None  # the 95 % interval
    high: float | None
    spread: float | None  # standard deviation over prompts or items
    n: int | None
    n_unit: str | None
    note: str | None  # why there is no interval
    published_unit: str | None
    published_spread: float | None
    published_note: str | None  # what the paper leaves open, or its own numbers contradict


def compared_cells(joined: JoinedTable) -> Iterator[ComparedCell]:
    """A cell for each model of the run and each place of the table, model by model, in the table's order.

    A model without any number in a row where the paper prints none has one cell with the reason.
    """
    of_paper = [line for line in joined.lines if not line.own]
    printed: dict[tuple[str, str], dict[str, PaperCell]] = {}
    for line in of_paper:
        for column, cell in line.cells.items():
            printed.setdefault((line.row, column), {})[line.model] = cell
    rows = dict.fromkeys(line.row for line in (*of_paper, *joined.lines))
    for model in dict.fromkeys(line.model for line in joined.lines if line.own):
        lines = {line.row: line for line in joined.lines if line.own and line.model == model}
        rest = PaperLine(model, "", True, {}, lines[""].why if "" in lines else {})
        for row in rows:
            line = lines.get(row, rest)
            columns = [one for one in joined.columns if one in line.cells or (row, one) in printed]
            for column in columns or ([""] if row in lines and not printed else []):
                yours = line.cells.get(column)
                why = line.why.get(column, line.why.get("", NOT_MEASURED))
                remarks = yours.remarks if yours else (why,)
                yield ComparedCell(model, row, column, yours, printed.get((row, column), {}), remarks)


def difference(yours: PaperCell, printed: PaperCell) -> float | None:
    """Yours less the printed number, in the unit of both; None where the two are not alike.

    These are a share next to a count of texts, an average over fewer columns than the paper's, and values of p.
    """
    if yours.scale != printed.scale or yours.scale == "p" or CUT in yours.text:
        return None
    return yours.value - printed.value


def long_rows(joined: JoinedTable) -> Iterator[LongRow]:
    """The long table of one table of the paper."""
    table = joined.table
    for one in compared_cells(joined):
        yours = one.yours
        value, low, high, spread = (yours.value, yours.low, yours.high, yours.spread) if yours else (None,) * 4
        for model, printed in one.published.items() or [(None, None)]:
            apart = difference(yours, printed) if yours and printed else None
            yield LongRow(
                paper=table.paper,
                table=table.name,
                title=table.title,
                row=one.row,
                column=one.column,
                published_model=model,
                published=_written(printed, printed.value) if printed else None,
                model=one.model,
                yours=_written(yours, value),
                difference=_written(yours, apart),
                unit=yours.scale if yours else None,
                protocol="; ".join(one.remarks),
                low=_written(yours, low),
                high=_written(yours, high),
                spread=_written(yours, spread),
                n=yours.n if yours else None,
                n_unit=(yours.unit or None) if yours else None,
                note=(yours.note or None) if yours else None,
                published_unit=printed.scale if printed else None,
                published_spread=printed.spread if printed else None,
                published_note=("; ".join(printed.remarks) or None) if printed else None,
            )


def _written(cell: PaperCell | None, value: float | None) -> float | None:
    """A value of a cell for a file: a whole number where the cell is a count, else six decimals."""
    if cell is None or value is None:
        return None
    return int(value) if "." not in cell.text and value.is_integer() else round(value, 6)
