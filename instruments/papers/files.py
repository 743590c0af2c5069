"""A joined table in its layout: for the terminal, as CSV and LaTeX, and for the report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import attrgetter
from pathlib import Path

from polyculture.cache.files import replacing
from polyculture.cache.sanitize import replace_control_chars
from polyculture.instruments.contract import Listing
from polyculture.instruments.datasets.presets import Preset, read_preset
from polyculture.instruments.papers.join import COUNTS, THIN, Cell, JoinedTable, Line
from polyculture.reports.escaping import csv_text, latex_text
from polyculture.reports.latex import end_of, longtable
from polyculture.reports.numbers import FEWEST

PUBLISHED = "published"
PROTOCOL = "protocol"
PAGE = 98  # characters of a terminal, without its margins
CELLS = ("paper", "table", "title", "source", "model", "row", "column", "value", "low", "high", "n", "unit", "note",
         "protocol")  # fmt: skip
Grid = tuple[list[str], list[list[Cell | str]]]


def grid(joined: JoinedTable, told: Callable[[Line], str] = attrgetter(PROTOCOL), published: str = PUBLISHED) -> Grid:
    """Heads and rows in the paper's layout; the last column, or row, is the protocol, as `told` puts it."""
    return _across(joined, told, published) if joined.table.across else _down(joined, told, published)


def _down(joined: JoinedTable, told: Callable[[Line], str], published: str) -> Grid:
    """A row a model."""
    has_rows = any(line.row for line in joined.lines)
    rows: list[list[Cell | str]] = []
    for line in joined.lines:
        name = line.model if line.own else f"{line.model} ({published})"
        cells = [line.cells.get(column, "") for column in joined.columns]
        rows.append([name, *([line.row] if has_rows else []), *cells, told(line) if line.own else ""])
    return ["model", *(["row"] if has_rows else []), *joined.columns, PROTOCOL], rows


def _across(joined: JoinedTable, told: Callable[[Line], str], published: str) -> Grid:
    """Columns a model: one's own come first."""
    models = list(dict.fromkeys((line.model, line.own) for line in joined.lines))
    lines = {(line.model, line.own, line.row): line for line in joined.lines}
    filled = {(line.model, line.own, column) for line in joined.lines for column in line.cells or joined.columns}
    columns = [at for model, own in models for column in joined.columns if (at := (model, own, column)) in filled]
    heads = [" ".join(filter(None, (model, "" if own else f"({published})", column))) for model, own, column in columns]
    rows: list[list[Cell | str]] = []
    for row in dict.fromkeys([*(heads.row for _, heads in joined.table.cells), *(line.row for line in joined.lines)]):
        found = [lines.get((model, own, row)) for model, own, _ in columns]
        cells = [line.cells.get(column, "") if line else "" for line, (*_, column) in zip(found, columns, strict=True)]
        notes = dict.fromkeys(told(line) for line in found if line and line.own)
        rows.append([row, *cells, " | ".join(notes)])
    return ["", *heads, PROTOCOL], rows


def listing(preset: Preset, joined: JoinedTable) -> Listing:
    """For the terminal: intervals below their numbers, and the protocol of each row under the table, by a letter."""
    notes: dict[str, str] = {}

    def letter(line: Line) -> str:
        return notes.setdefault(line.protocol, f"[{len(notes) + 1}]")

    found = grid(joined, letter, preset.title)
    heads, rows = _turned(found)
    shown = [[_on_lines(cell) if isinstance(cell, Cell) else end_of(cell) for cell in row] for row in rows]
    kept = [place for place, head in enumerate(heads) if head or any(row[place] for row in shown)]
    return Listing(
        tuple(end_of(heads[place]) for place in kept),
        [[row[place] for place in kept] for row in shown],
        f"{title_of(preset, joined)}. {unit_of(joined)}".rstrip(". "),
        tuple(f"{mark} {note}" for note, mark in notes.items()),
    )


def _turned(found: Grid) -> Grid:
    """A table that is wider than a page stands on its side, where that is narrower: a number never breaks."""
    heads, rows = found
    if _width(found) <= PAGE:
        return found
    names = 2 if heads[1] == "row" else 1
    models = [" ".join(filter(None, map(str, row[:names]))) for row in rows]
    turned = (
        ["", *models],
        [[head, *(row[place] for row in rows)] for place, head in enumerate(heads) if place >= names],
    )
    return min(found, turned, key=_width)


def _width(grid: Grid) -> int:
    """Of a table whose heads break between words, and whose cells do not."""
    heads, rows = grid
    words = [max(map(len, end_of(head).split()), default=0) for head in heads]
    cells = [[len(_on_lines(cell).partition("\n")[0]) if isinstance(cell, Cell) else len(end_of(cell)) for cell in row]
             for row in rows]  # fmt: skip
    return sum(2 + max(head, *(row[place] for row in cells)) for place, head in enumerate(words))


def title_of(preset: Preset, joined: JoinedTable) -> str:
    """'Camellia, Table 14: Cultural Bias Score in grounded contexts'."""
    name = joined.table.name
    return f"{preset.title}, {name[:1].upper()}{name[1:]}: {joined.table.title}" if name[0].isalpha() else (
        f"{preset.title}, Table {name}: {joined.table.title}"
    )  # fmt: skip


def unit_of(joined: JoinedTable) -> str:
    """What a reader must know of the numbers: their unit, and what stands below them."""
    percent = ({cell.unit for cell, _ in joined.table.cells} or {joined.table.drawn_unit}) == {"percent"}
    below = any(cell.interval for line in joined.lines for cell in line.cells.values())
    thin = any(cell.text.endswith(THIN) for line in joined.lines for cell in line.cells.values())
    counts = any(line.model.endswith(COUNTS) for line in joined.lines)
    said = [
        *(["in per cent"] if percent else []), *(["yours in per cent of texts"] if counts else []),
        *(["95 % intervals below"] if below else []),
        *([f"{THIN}: fewer than {FEWEST} linked items"] if thin else []),
    ]  # fmt: skip
    return ", ".join(said).capitalize()


def _on_lines(cell: Cell) -> str:
    return f"{cell.text}\n{cell.interval}" if cell.interval else cell.text


def write_tables(folder: Path, paper: str, tables: Sequence[JoinedTable]) -> list[Path]:
    """Writes each table as CSV and LaTeX, and `cells.csv`, a line a cell. Returns the paths."""
    preset, written = read_preset(paper), []
    for joined in tables:
        written.append(_write(folder / f"{joined.table.file}.csv", _csv(joined)))
        written.append(_write(folder / f"{joined.table.file}.tex", _latex(preset, joined)))
    return [*written, _write(folder / "cells.csv", csv_text(CELLS, [row for one in tables for row in _cells(one)]))]


def _csv(joined: JoinedTable) -> str:
    """The paper's layout as numbers; beside a column with intervals its limits."""
    heads, rows = grid(joined)
    wide = [any(isinstance(row[place], Cell) and row[place].interval for row in rows) for place in range(len(heads))]  # type: ignore[union-attr]
    columns = [
        name
        for head, w in zip(heads, wide, strict=True)
        for name in ((head, f"{head} low", f"{head} high") if w else (head,))
    ]
    lines = [[value for cell, w in zip(row, wide, strict=True) for value in _values(cell, w)] for row in rows]
    return csv_text(columns, lines)


def _values(cell: Cell | str, wide: bool) -> tuple[object, ...]:
    if isinstance(cell, str):
        return (cell or None, *((None, None) if wide else ()))
    numbers = (round(cell.value, 6), *(None if x is None else round(x, 6) for x in (cell.low, cell.high)))
    return numbers if wide else numbers[:1]


def _cells(joined: JoinedTable) -> Iterator[tuple[object, ...]]:
    table = joined.table
    for line in joined.lines:
        source = "this run" if line.own else PUBLISHED
        for column, cell in line.cells.items():
            place = table.paper, table.name, table.title, source, line.model, line.row, column
            yield (
                *place,
                *_values(cell, wide=True),
                cell.n,
                cell.unit or None,
                cell.note or None,
                line.protocol or None,
            )


def _latex(preset: Preset, joined: JoinedTable) -> str:
    import pandas as pd

    heads, rows = grid(joined)
    words = [[_plain(cell) for cell in row] for row in rows]
    names = [end_of(replace_control_chars(head)) for head in heads]
    kept = [place for place in range(len(heads)) if any(row[place] for row in words)]
    frame = pd.DataFrame([[row[place] for place in kept] for row in words], columns=[names[place] for place in kept])
    said = f"{title_of(preset, joined)}. {unit_of(joined).replace('below', 'in brackets')}".rstrip(". ")
    caption = latex_text(replace_control_chars(said))
    texts = {0, *(place for place in kept if heads[place] in ("row", PROTOCOL))}
    align = "".join("l" if place in texts else "r" for place in kept)
    return longtable(frame, align, caption, f"{joined.table.paper}-{joined.table.file}")


def _plain(cell: Cell | str) -> str:
    if isinstance(cell, str):
        return replace_control_chars(cell)
    return cell.text + (f" [{cell.interval.replace(' to ', ', ')}]" if cell.interval else "")


def _write(path: Path, text: str) -> Path:
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="")
    return path


def notes_of(tables: Mapping[str, str]) -> str:
    """A line about tables without a number of the run."""
    return "Nothing of this run stands in " + "; ".join(f"{name} ({title})" for name, title in tables.items())
