"""One layout of a paper's table that a person reads, on the terminal and in LaTeX: a line for each number of yours."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from textwrap import fill
from typing import TYPE_CHECKING

import pandas as pd

from polyculture.cache.text.sanitize import replace_control_chars
from polyculture.instruments.contract import Listing
from polyculture.instruments.papers.compared import ComparedCell, compared_cells, difference
from polyculture.instruments.papers.join import COUNTS, CUT, THIN, JoinedTable, PaperCell
from polyculture.instruments.papers.marks import RemarkMarks, missing
from polyculture.published.cells import NONE
from polyculture.reports.escaping import latex_text
from polyculture.reports.latex import end_of, longtable
from polyculture.reports.numbers import FEWEST

if TYPE_CHECKING:
    from polyculture.instruments.datasets.presets import PaperPreset
    from polyculture.instruments.papers.tables import PaperTable

LONGEST = 78  # characters of a line below a table, in the narrowest of usual terminals
_SPREADS = {"sd": "standard deviation", "variance": "variance"}
Cells = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReadableTable:
    """The cells of a table as texts. `heads` are those of a line; a model's lines are a group."""

    title: str
    heads: Cells
    groups: Sequence[tuple[str, Sequence[Cells]]]  # the model with its mark, and its lines
    notes: Sequence[str]  # what the marks mean

    @property
    def size(self) -> int:
        """How many lines of numbers it has."""
        return sum(len(lines) for _, lines in self.groups)


def readable(preset: PaperPreset, joined: JoinedTable) -> ReadableTable:
    """The table with the models of the run one below the other; places without a number of a model are counted only.

    A model that has the name of one of the paper's is compared with that one alone.
    """
    cells = list(compared_cells(joined))
    most = max((len(one.published) for one in cells), default=0)
    marks, groups = RemarkMarks(), []
    for model, every in groupby(cells, lambda one: one.model):
        of_model = list(every)
        measured = [(one, one.yours) for one in of_model if one.yours]
        without = [one.remarks[0] for one in of_model if not one.yours]
        whole, each = marks.of([one.remarks for one, _ in measured], missing(len(of_model), without))
        same = namesake(model, joined.table)
        lines = [
            (f"{_place(one)} {mark}".rstrip(), *_numbers(_printed(one, same), yours, most, marks))
            for (one, yours), mark in zip(measured, each, strict=True)
        ]
        named = f"{model}, by name the paper's {same}" if any(same in one.published for one in of_model) else model
        groups.append((f"{named} {whole}".rstrip(), lines))
    heads = ["row, column", "yours", "95 % interval"]
    if most:
        heads += ["published" if most == 1 else f"published, {most} models", "yours less published"]
    kept = [at for at in range(len(heads)) if at != 2 or any(line[2] for _, lines in groups for line in lines)]
    title = f"{title_of(preset, joined)}. {unit_of(joined)}".rstrip(". ")
    return ReadableTable(
        title,
        tuple(heads[at] for at in kept),
        [(name, [tuple(line[at] for at in kept) for line in lines]) for name, lines in groups],
        marks.notes,
    )


def namesake(model: str, table: PaperTable) -> str:
    """The paper's model whose repository or version has the name of a model of the run; '' without one.

    'meta-llama/Llama-3.3-70B-Instruct' and 'vllm:/models/llama-3.3-70b-instruct' have one name. Whether they have the
    same weights, nobody knows.
    """
    name = _last_part(model.partition(" (")[0])
    return next(
        (cell.name for cell, _ in table.cells if cell.model_id != NONE and _last_part(cell.model_id) == name), ""
    )


def _last_part(name: str) -> str:
    return re.split(r"[:/\\]", name.rstrip("/\\"))[-1].casefold()


def _printed(one: ComparedCell, same: str) -> Sequence[PaperCell]:
    """The printed numbers that a model's number is compared with, the lowest first."""
    found = [one.published[same]] if same in one.published else one.published.values()
    return sorted(found, key=lambda cell: cell.value)


def listing(table: ReadableTable) -> Listing:
    """The table for the terminal."""
    rows: list[Cells] = []
    for model, lines in table.groups:
        rows.append((model, *[""] * (len(table.heads) - 1)))
        rows += [(f"  {name}", *cells) for name, *cells in lines]
    notes = [fill(note, LONGEST, subsequent_indent=" " * 4, break_long_words=False) for note in table.notes]
    return Listing(table.heads, rows, table.title, [*notes, ""])


def latex(table: ReadableTable, name: str) -> str:
    """The table as a `longtable`, and below it what its marks mean."""

    def written(number: str) -> str:
        return re.sub(r"(?<!\w)-(?=\d)", "\u2212", replace_control_chars(number))  # a minus sign, no hyphen

    rows = [
        [end_of(replace_control_chars(model)), replace_control_chars(place), *map(written, numbers)]
        for model, lines in table.groups
        for place, *numbers in lines or [("",) * len(table.heads)]
    ]
    frame = pd.DataFrame(rows, columns=["model", *table.heads])
    caption = latex_text(replace_control_chars(table.title))
    notes = "".join(f"\\noindent {latex_text(replace_control_chars(note))}\\par\n" for note in table.notes)
    below = f"{{\\footnotesize\n{notes}}}\n" if notes else ""
    return longtable(frame, "ll" + "r" * (len(table.heads) - 1), caption, name) + below


def title_of(preset: PaperPreset, joined: JoinedTable) -> str:
    """'Camellia, Table 14: Cultural Bias Score in grounded contexts'."""
    name = joined.table.name
    called = f"{name[:1].upper()}{name[1:]}" if name[0].isalpha() else f"Table {name}"
    return f"{preset.title}, {called}: {joined.table.title}"


def unit_of(joined: JoinedTable) -> str:
    """What a reader must know of the numbers: their unit, what is behind ±, and the signs behind a number."""
    percent = ({cell.unit for cell, _ in joined.table.cells} or {joined.table.drawn_unit}) == {"percent"}
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
        *([f"{THIN}: fewer than {FEWEST} linked items"] if any(THIN in text for text in texts) else []),
        *([f"{CUT}: an average over fewer columns than the paper's"] if any(CUT in text for text in texts) else []),
    ]  # fmt: skip
    return ", ".join(said).capitalize()


def _place(one: ComparedCell) -> str:
    return ": ".join(filter(None, (one.row, one.column))) or "all"


def _numbers(printed: Sequence[PaperCell], yours: PaperCell, most: int, marks: RemarkMarks) -> Cells:
    """The cells of a line behind its name; of several printed numbers the lowest and the highest."""
    own = yours.text, yours.interval
    if not most:
        return own
    digits = len(yours.text.partition(" ")[0].rstrip(THIN + CUT).partition(".")[2])
    apart = sorted(value for cell in printed if (value := difference(yours, cell)) is not None)
    ends = [*printed[:1], *printed[1:][-1:]]
    texts = [cell.text if len(ends) == 1 else cell.text.partition(" ")[0] for cell in ends]
    said = "; ".join(dict.fromkeys(remark for cell in ends for remark in cell.remarks))
    mark = marks.mark([f"published: {said}"] if said else [])
    differences = [f"{round(value, digits) or 0.0:+.{digits}f}" for value in apart]
    return (*own, f"{_range(texts)} {mark}".rstrip(), _range(differences))


def _range(texts: Sequence[str]) -> str:
    """'31.74 to 44.02'; one text of one."""
    return " to ".join(dict.fromkeys([*texts[:1], *texts[-1:]]))
