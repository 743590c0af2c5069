"""A joined table in its layout: for the terminal, as CSV and LaTeX, and for the report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from textwrap import fill
from typing import NamedTuple

from polyculture.cache.files import replacing
from polyculture.cache.text.sanitize import replace_control_chars
from polyculture.instruments.contract import Listing
from polyculture.instruments.datasets.presets import Preset, read_preset
from polyculture.instruments.papers.join import COUNTS, CUT, INCOMPLETE, THIN, Cell, JoinedTable, Line, notes_in
from polyculture.reports.escaping import csv_text, latex_text
from polyculture.reports.latex import end_of, longtable
from polyculture.reports.numbers import FEWEST

PUBLISHED = "published"
PROTOCOL = "protocol"
PAGE = 98  # characters of a terminal, without its margins
BROAD = 190  # characters that stand beside one another in a window of 1,440 pixels
_NAME = 22  # characters after which what names a row goes on in the next line, between words
_TEXT = 40  # likewise a protocol
_GAP = 2  # characters between two columns
CELLS = ("paper", "table", "title", "source", "model", "row", "column", "value", "low", "high", "spread", "n", "unit",
         "note", "protocol")  # fmt: skip


_SPREADS = {"sd": "standard deviation", "variance": "variance"}


class Grid(NamedTuple):
    """A table as it is shown."""

    heads: list[str]
    rows: list[list[Cell | str]]
    names: int = 1  # of its columns say what a row is
    own: Sequence[bool] = ()  # which rows are the run's, where each is of one model


def _whole(line: Line, named: str = "") -> str:
    return named + line.protocol


Told = Callable[[Line, str], str]  # a line's protocol; of several models in one row behind the model's name


def with_names(joined: JoinedTable, named: Callable[[str], str]) -> JoinedTable:
    """The table with the names of one's own models as people read them; a variant stays behind its model's name."""

    def shown(line: Line) -> Line:
        model, way, variant = line.model.partition(" (")
        return replace(line, model=named(model) + way + variant) if line.own else line

    return replace(joined, lines=[shown(line) for line in joined.lines])


def grid(joined: JoinedTable, told: Told = _whole, published: str = PUBLISHED) -> Grid:
    """Heads and rows in the paper's layout; the last column is the protocol, as `told` puts it."""
    return _across(joined, told, published) if joined.table.across else _down(joined, told, published)


def _down(joined: JoinedTable, told: Told, published: str) -> Grid:
    """A row a model."""
    names = ["model", "row"] if any(line.row for line in joined.lines) else ["model"]
    rows: list[list[Cell | str]] = []
    for line in joined.lines:
        name = line.model if line.own or not published else f"{line.model} ({published})"
        cells = [line.cells.get(column, "") for column in joined.columns]
        rows.append([*(name, line.row)[: len(names)], *cells, told(line, "")])
    return Grid([*names, *joined.columns, PROTOCOL], rows, len(names), [line.own for line in joined.lines])


def _across(joined: JoinedTable, told: Told, published: str) -> Grid:
    """Columns a model: one's own come first."""
    turned = _on_its_side(joined)
    heads = [
        " ".join(filter(None, (one.model, "" if one.own else f"({published or PUBLISHED})", one.row)))
        for one in turned.lines
    ]
    rows: list[list[Cell | str]] = []
    for row in turned.columns:
        of_row = [line for line in joined.lines if line.protocol and line.row in (row, "")]
        apart = len({line.protocol for line in of_row}) > 1 or not all(line.own for line in of_row)
        notes = dict.fromkeys(
            told(line, f"{line.model}{'' if line.own else f' ({published or PUBLISHED})'}: " if apart else "")
            for line in of_row
        )
        rows.append([row, *(one.cells.get(row, "") for one in turned.lines), " | ".join(filter(None, notes))])
    return Grid(["", *heads, PROTOCOL], rows)


def _on_its_side(joined: JoinedTable) -> JoinedTable:
    """A line for each column of a model; the rows become columns."""
    found: dict[tuple[str, bool, str], list[Line]] = {}
    for line in joined.lines:
        for column in line.cells or joined.columns:
            found.setdefault((line.model, line.own, column), []).append(line)
    models = list(dict.fromkeys((line.model, line.own) for line in joined.lines))
    lines = []
    for model, own, column in sorted(found, key=lambda at: (models.index(at[:2]), joined.columns.index(at[2]))):
        some = found[model, own, column]
        cells = {line.row: line.cells[column] for line in some if column in line.cells}
        remarks = dict.fromkeys(one for line in some for one in _remarks(line.protocol))
        protocol = _joined(list(remarks)) if own else notes_in(cells)
        lines.append(Line(model, column, own, cells, protocol))
    rows = dict.fromkeys([*(heads.row for _, heads in joined.table.cells), *(line.row for line in joined.lines)])
    return replace(joined, columns=list(rows), lines=lines)


class Shown(NamedTuple):
    """A table as people read it: in parts where it is too wide, and what the marks in the protocol's place mean."""

    parts: list[Grid]
    notes: tuple[str, ...]


def shown(joined: JoinedTable, width: int, published: str = "", *, turn: bool = False) -> Shown:
    """The paper's layout with a mark for each protocol. What is wider than `width` characters goes on in another part;
    in fewer parts, it has a row a column of a model, or, with `turn`, its rows as columns.
    """
    found = _parted(_marked(grid, joined, published), width)
    if len(found.parts) == 1 or not (turn or joined.table.across):
        return found
    other = _marked(_down, _on_its_side(joined), published) if joined.table.across else _marked(grid, joined, published)
    if not joined.table.across:
        other = other._replace(parts=[_turned(other.parts[0])])
    return min(found, _parted(other, width), key=lambda one: len(one.parts))


def _parted(found: Shown, width: int) -> Shown:
    """In parts of a width. The marks of several parts are behind the names of the rows."""
    parts = list(_blocks(found.parts[0], width))
    if len(parts) > 1 and found.parts[0].heads[-1] == PROTOCOL:
        parts = list(_blocks(_marks_in_names(found.parts[0]), width))
    return found._replace(parts=parts)


def _marks_in_names(found: Grid) -> Grid:
    """With the marks behind the names of the rows, and no column of them."""
    rows = [[" ".join(filter(None, (str(row[0]), str(row[-1])))), *row[1:-1]] for row in found.rows]
    return found._replace(heads=found.heads[:-1], rows=rows)


def _marked(lay_out: Callable[..., Grid], joined: JoinedTable, published: str) -> Shown:
    """With a mark for each protocol. What all rows of a side have in common is said once, without a mark."""
    common = {own: _common([list(_remarks(line.protocol)) for line in joined.lines if line.own == own])
              for own in (True, False)}  # fmt: skip
    notes: dict[str, str] = {}

    def mark(line: Line, named: str) -> str:
        own = _joined([one for one in _remarks(line.protocol) if one not in common[line.own]])
        return notes.setdefault(named + own, f"[{len(notes) + 1}]") if own else ""

    whole = lay_out(joined, mark, published)
    said = [f"All {name}: {_joined(common[own])}"
            for own, name in ((True, "rows of this run"), (False, "published rows")) if common[own]]  # fmt: skip
    return Shown([whole], (*said, *(f"{mark} {note}" for note, mark in notes.items())))


def _common(remarks: Sequence[Sequence[str]]) -> list[str]:
    """What all lines remark; nothing where their remarks are the same."""
    if len({tuple(some) for some in remarks}) < 2:
        return []
    return [one for one in remarks[0] if all(one in some for some in remarks)]


def _remarks(protocol: str) -> Iterator[str]:
    """A protocol in its parts: 'only units 30', 'incomplete: 3 of 9 columns missing', 'incomplete: ...'."""
    for part in protocol.split("; "):
        if part.startswith(INCOMPLETE):
            yield from (INCOMPLETE + one for one in part.removeprefix(INCOMPLETE).split(", "))
        else:
            yield part


def _joined(remarks: Sequence[str]) -> str:
    lacking = [one.removeprefix(INCOMPLETE) for one in remarks if one.startswith(INCOMPLETE)]
    others = [one for one in remarks if not one.startswith(INCOMPLETE)]
    return "; ".join([*others, *([INCOMPLETE + ", ".join(lacking)] if lacking else [])])


def listings(preset: Preset, joined: JoinedTable) -> Iterator[Listing]:
    """For the terminal: intervals below their numbers; neither a number nor a word of a head breaks."""
    parts, notes = shown(joined, PAGE, preset.title, turn=True)
    title = f"{title_of(preset, joined)}. {unit_of(joined)}".rstrip(". ")
    for number, part in enumerate(parts, 1):
        sizes = [size - _GAP for size in _sizes(part)]
        yield Listing(
            tuple(_on_lines(head, size) for head, size in zip(part.heads, sizes, strict=True)),
            [[_on_lines(cell, size) for cell, size in zip(row, sizes, strict=True)] for row in part.rows],
            title + part_of(number, parts),
            [fill(note, PAGE, subsequent_indent=" " * 4, break_long_words=False) for note in notes]
            if number == len(parts)
            else (),
        )


def part_of(number: int, parts: Sequence[Grid]) -> str:
    """' (1 of 2)'; '' of a table that is whole."""
    return f" ({number} of {len(parts)})" if len(parts) > 1 else ""


def _turned(found: Grid) -> Grid:
    """Rows for columns."""
    models = [" ".join(filter(None, map(str, row[: found.names]))) for row in found.rows]
    places = range(found.names, len(found.heads))
    return Grid(["", *models], [[found.heads[place], *(row[place] for row in found.rows)] for place in places])


def _blocks(found: Grid, width: int) -> Iterator[Grid]:
    """A table's filled columns in as many tables as their width needs, each with the names of the rows that it fills.

    A row without a number, as of a model that was stopped, is in the first.
    """
    sizes = _sizes(found)
    room, parts = width - sum(sizes[: found.names]), [list[int]()]
    for place in range(found.names, len(sizes)):
        if not any(row[place] for row in found.rows):
            continue
        if parts[-1] and sum(sizes[one] for one in parts[-1]) + sizes[place] > room:
            parts.append([])
        parts[-1].append(place)
    for number, part in enumerate(parts):
        kept = [*range(found.names), *part]
        lines = [
            line
            for line, row in enumerate(found.rows)
            if any(row[place] for place in part) or (number == 0 and not any(row[found.names :]))
        ]
        yield found._replace(
            heads=[found.heads[place] for place in kept],
            rows=[[found.rows[line][place] for place in kept] for line in lines],
            own=[found.own[line] for line in lines] if found.own else (),
        )


def _sizes(found: Grid) -> list[int]:
    """The characters that each column takes, where heads, names and protocols break between words and no number."""
    sizes = []
    for place, head in enumerate(found.heads):
        cells = [row[place] for row in found.rows]
        texts = [end_of(one) for one in cells if isinstance(one, str)]
        parts = [word for one in (end_of(head), *texts) for word in one.split()]
        parts += [line for one in cells if isinstance(one, Cell) for line in (one.text, one.interval)]
        broken = min(_NAME if place < found.names else _TEXT, max(map(len, texts), default=0))
        sizes.append(_GAP + max(broken, *map(len, parts), 0))
    return sizes


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
    texts = [cell.text for line in joined.lines for cell in line.cells.values()]
    counts = any(line.model.endswith(COUNTS) for line in joined.lines)
    kinds = {_SPREADS[cell.spread_kind] for cell, _ in joined.table.cells if cell.spread_kind in _SPREADS}
    own = [cell for line in joined.lines if line.own for cell in line.cells.values()]
    ours = any(cell.spread is not None for cell in own)
    if ours:
        kinds.add(_SPREADS["sd"])
    alone = " (the paper's alone)" if own and not ours else ""
    said = [
        *(["in per cent"] if percent else []), *(f"± {kind}{alone}" for kind in sorted(kinds)),
        *(["yours in per cent of texts"] if counts else []),
        *(["95 % intervals below"] if below else []),
        *([f"{THIN}: fewer than {FEWEST} linked items"] if any(THIN in text for text in texts) else []),
        *([f"{CUT}: an average over fewer columns than the paper's"] if any(CUT in text for text in texts) else []),
    ]  # fmt: skip
    return ", ".join(said).capitalize()


def _on_lines(cell: Cell | str, size: int) -> str:
    if isinstance(cell, str):
        return fill(end_of(cell), max(size, 1), break_long_words=False)
    return f"{cell.text}\n{cell.interval}" if cell.interval else cell.text


def write_tables(
    folder: Path, paper: str, tables: Sequence[JoinedTable], named: Callable[[str], str] = str
) -> list[Path]:
    """Writes each table as CSV and LaTeX, and `cells.csv`, a line a cell. Returns the paths.

    CSV has the models' whole names, LaTeX those that `named` gives.
    """
    preset, written = read_preset(paper), []
    for joined in tables:
        written.append(_write(folder / f"{joined.table.file}.csv", _csv(joined)))
        written.append(_write(folder / f"{joined.table.file}.tex", _latex(preset, with_names(joined, named))))
    return [*written, _write(folder / "cells.csv", csv_text(CELLS, [row for one in tables for row in _cells(one)]))]


def _csv(joined: JoinedTable) -> str:
    """The paper's layout as numbers; beside a column the limits of its intervals and its spreads, where it has some."""
    heads, rows, *_ = grid(joined)
    columns: list[str] = []
    values: list[list[object]] = [[] for _ in rows]
    for place, head in enumerate(heads):
        found = [_values(row[place]) for row in rows]
        for number, name in enumerate(_VALUES):
            if number == 0 or any(one[number] is not None for one in found):
                columns.append(f"{head} {name}".rstrip())
                for line, one in zip(values, found, strict=True):
                    line.append(one[number])
    return csv_text(columns, values)


_VALUES = ("", "low", "high", "spread")


def _values(cell: Cell | str) -> tuple[object, ...]:
    """A cell in the columns of `_VALUES`."""
    if isinstance(cell, str):
        return (cell or None, None, None, None)
    numbers = cell.value, cell.low, cell.high, cell.spread
    whole = "." not in cell.text  # a count
    return tuple(
        int(one) if one is not None and whole and one.is_integer() else one and round(one, 6) for one in numbers
    )


def _cells(joined: JoinedTable) -> Iterator[tuple[object, ...]]:
    table = joined.table
    for line in joined.lines:
        source = "this run" if line.own else PUBLISHED
        for column, cell in line.cells.items():
            place = table.paper, table.name, table.title, source, line.model, line.row, column
            yield (
                *place,
                *_values(cell),
                cell.n,
                cell.unit or None,
                cell.note or None,
                (line.own and line.protocol) or None,
            )


def _latex(preset: Preset, joined: JoinedTable) -> str:
    import pandas as pd

    heads, rows, *_ = grid(joined)
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
    named = "; ".join(f"{name} ({title})" for name, title in tables.items())
    return f"Without a number of this run: {named}. docs/papers.md has the command and the set that each needs"
