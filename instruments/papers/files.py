"""A joined table in its layout: for the terminal, the report, LaTeX, and as cells in CSV."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import NamedTuple

from polyculture.cache.files import replacing
from polyculture.cache.sanitize import replace_control_chars
from polyculture.instruments.contract import Listing
from polyculture.instruments.datasets.presets import Preset, read_preset
from polyculture.instruments.papers.join import COUNTS, INCOMPLETE, THIN, Cell, JoinedTable
from polyculture.reports.escaping import csv_text, latex_text
from polyculture.reports.latex import end_of, longtable
from polyculture.reports.numbers import FEWEST

PAGE = 98  # characters of a terminal, without its margins
BROAD = 190  # characters that stand beside one another in a window of 1,440 pixels
_ANY_WIDTH = 10**6
_NAME = 22  # characters after which what names a row goes on in the next line, between words
_GAP = 2  # characters between two columns
CELLS = ("paper", "table", "title", "source", "model", "row", "column", "value", "low", "high", "spread", "n", "unit",
         "note", "protocol")  # fmt: skip
_SIDES = {True: "This run", False: "Published"}
_SPREADS = {"sd": "standard deviation", "variance": "variance"}


class Grid(NamedTuple):
    """A table as it is shown, a row a model, or a model and a row of the paper's."""

    heads: list[str]
    rows: list[list[Cell | str]]
    names: int  # so many of its columns say what a row is
    own: list[bool]  # which rows are the run's


class Shown(NamedTuple):
    """A table as people read it: in parts where it is too wide, and what the marks behind names of rows mean."""

    parts: list[Grid]
    notes: tuple[str, ...]


def shown(joined: JoinedTable, width: int, published: str = "", named: Callable[[str], str] = str) -> Shown:
    """The paper's layout, its models in rows, with a mark for each protocol; what is wider than so many characters
    goes on in another part. `published` stands behind the models of the paper.

    What all rows of a side have in common is said once, without a mark.
    """
    remarks = {own: [list(_remarks(line.protocol)) for line in joined.lines if line.own == own] for own in _SIDES}
    common = {own: [one for one in dict.fromkeys(some[0]) if all(one in told for told in some)]
              for own, some in remarks.items() if some}  # fmt: skip
    notes: dict[str, str] = {}
    names = ["model", "row"] if any(line.row for line in joined.lines) else ["model"]
    rows: list[list[Cell | str]] = []
    for line in joined.lines:
        model, way, variant = line.model.partition(" (")
        heads = [named(model) + way + variant if line.own else line.model + (f" ({published})" if published else "")]
        heads += [line.row] if len(names) > 1 else []
        if told := _joined([one for one in _remarks(line.protocol) if one not in common[line.own]]):
            heads[-1] = f"{heads[-1]} {notes.setdefault(told, f'[{len(notes) + 1}]')}".lstrip()
        rows.append([*heads, *(line.cells.get(column, "") for column in joined.columns)])
    whole = Grid([*names, *joined.columns], rows, len(names), [line.own for line in joined.lines])
    said = [f"{_SIDES[own]}: {told}" for own, some in common.items() if (told := _joined(some))]
    return Shown(list(_blocks(whole, width)), (*said, *(f"{mark} {note}" for note, mark in notes.items())))


def _remarks(protocol: str) -> Iterator[str]:
    """A protocol in its parts: 'only units 30', 'incomplete: 3 of 9 columns missing', 'incomplete: ...'."""
    for part in filter(None, protocol.split("; ")):
        if part.startswith(INCOMPLETE):
            yield from (INCOMPLETE + one for one in part.removeprefix(INCOMPLETE).split(", "))
        else:
            yield part


def _joined(remarks: Sequence[str]) -> str:
    lacking = [one.removeprefix(INCOMPLETE) for one in remarks if one.startswith(INCOMPLETE)]
    others = [one for one in remarks if not one.startswith(INCOMPLETE)]
    return "; ".join([*others, *([INCOMPLETE + ", ".join(lacking)] if lacking else [])])


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
            own=[found.own[line] for line in lines],
        )


def _sizes(found: Grid) -> list[int]:
    """The characters that each column takes, where heads and names break between words and no number."""
    sizes = []
    for place, head in enumerate(found.heads):
        cells = [row[place] for row in found.rows]
        texts = [end_of(one) for one in cells if isinstance(one, str)]
        parts = [word for one in (end_of(head), *texts) for word in one.split()]
        parts += [line for one in cells if isinstance(one, Cell) for line in (one.text, one.interval)]
        sizes.append(_GAP + max(min(_NAME, max(map(len, texts), default=0)), *map(len, parts), 0))
    return sizes


def part_of(number: int, parts: Sequence[Grid]) -> str:
    """' (1 of 2)'; '' of a table that is whole."""
    return f" ({number} of {len(parts)})" if len(parts) > 1 else ""


def title_of(preset: Preset, joined: JoinedTable) -> str:
    """'Camellia, Table 14: Cultural Bias Score in grounded contexts. In per cent, 95 % intervals below'."""
    name = joined.table.name
    place = f"{name[:1].upper()}{name[1:]}" if name[0].isalpha() else f"Table {name}"
    return ". ".join(filter(None, (f"{preset.title}, {place}: {joined.table.title}", unit_of(joined))))


def unit_of(joined: JoinedTable) -> str:
    """What a reader must know of the numbers: their unit, and what stands below them."""
    percent = ({cell.unit for cell, _ in joined.table.cells} or {joined.table.drawn_unit}) == {"percent"}
    below = any(cell.interval for line in joined.lines for cell in line.cells.values())
    thin = any(cell.text.endswith(THIN) for line in joined.lines for cell in line.cells.values())
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
        *([f"{THIN}: fewer than {FEWEST} linked items"] if thin else []),
    ]  # fmt: skip
    return ", ".join(said).capitalize()


def listings(preset: Preset, joined: JoinedTable) -> Iterator[Listing]:
    """For the terminal: intervals below their numbers; neither a number nor a word of a head breaks."""
    parts, notes = shown(joined, PAGE, preset.title)
    for number, part in enumerate(parts, 1):
        sizes = [size - _GAP for size in _sizes(part)]
        yield Listing(
            tuple(_on_lines(head, size) for head, size in zip(part.heads, sizes, strict=True)),
            [[_on_lines(cell, size) for cell, size in zip(row, sizes, strict=True)] for row in part.rows],
            title_of(preset, joined) + part_of(number, parts),
            [fill(note, PAGE, subsequent_indent=" " * 4, break_long_words=False) for note in notes]
            if number == len(parts)
            else (),
        )


def _on_lines(cell: Cell | str, size: int) -> str:
    if isinstance(cell, str):
        return fill(end_of(cell), max(size, 1), break_long_words=False)
    return f"{cell.text}\n{cell.interval}" if cell.interval else cell.text


def write_tables(folder: Path, paper: str, tables: Sequence[JoinedTable]) -> list[Path]:
    """Writes each table as LaTeX, and `cells.csv`, a line a cell. Returns the paths."""
    preset = read_preset(paper)
    written = [_write(folder / f"{joined.table.file}.tex", _latex(preset, joined)) for joined in tables]
    return [*written, _write(folder / "cells.csv", csv_text(CELLS, [row for one in tables for row in _cells(one)]))]


def _cells(joined: JoinedTable) -> Iterator[tuple[object, ...]]:
    table = joined.table
    for line in joined.lines:
        place = table.paper, table.name, table.title, _SIDES[line.own].lower(), line.model, line.row
        for column, cell in line.cells.items():
            whole = "." not in cell.text  # a count
            numbers = (
                int(one) if one is not None and whole and one.is_integer() else one and round(one, 6)
                for one in (cell.value, cell.low, cell.high, cell.spread)
            )
            told = (cell.n, cell.unit or None, cell.note or None, (line.own and line.protocol) or None)
            yield (*place, column, *numbers, *told)


def _latex(preset: Preset, joined: JoinedTable) -> str:
    """With the notes below."""
    import pandas as pd

    [whole], notes = shown(joined, _ANY_WIDTH, "published")
    heads = [end_of(replace_control_chars(head)) for head in whole.heads]
    frame = pd.DataFrame([[_plain(cell) for cell in row] for row in whole.rows], columns=heads)
    said = title_of(preset, joined).replace("intervals below", "intervals in brackets")
    caption = latex_text(replace_control_chars(said))
    align = "".join("l" if place < whole.names else "r" for place in range(len(heads)))
    below = "".join(f"\n\n{latex_text(replace_control_chars(note))}" for note in notes)
    return longtable(frame, align, caption, f"{joined.table.paper}-{joined.table.file}") + f"{below}\n"


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
