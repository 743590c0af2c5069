"""Tables of the page: a query, a grouping of its rows and the columns. A section of one such table is one declaration.

    SECTIONS = (
        table_section(
            "corpora",
            ReportTable(_FOLDER / "corpus_outcomes.sql"),
            _FOLDER / "section.toml",
            (Column("Western more", measured("rate", "western_more")), Column("Pairs", counted("pairs"))),
        ),
    )

Importing this module loads neither DuckDB nor pandas, as `section`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from polyculture.cache.store.schema.measured import EVERY, WITHOUT
from polyculture.reports.names import Names, ordered
from polyculture.reports.numbers import FormattedEstimate, Row, count, decimal, estimate, known
from polyculture.reports.section import ReportData, ReportTable, Section
from polyculture.reports.texts import section_texts

_TEMPLATE = Path(__file__).parent / "templates" / "table.html.jinja"


@dataclass(frozen=True, slots=True)
class TextCell:
    """A cell that is no measured number; `note` stands below it in small print.

    `place` leads to the evidence: codes by axis, and the item to search for there. `bad` is worth a warning.
    """

    text: str
    note: str = ""
    place: Mapping[str, str] = field(default_factory=dict)
    bad: bool = False


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its head, the cell of a row, and what is shown over the head. A size is what other columns rest on."""

    head: str
    cell: Callable[[Row], FormattedEstimate | TextCell | str]
    hint: str = ""
    is_number: bool = True
    is_size: bool = False
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a table; with a `place` its label leads to the evidence. A `whole` line stands above its parts; what is
    `told` apart is in bold."""

    label: str
    cells: tuple[FormattedEstimate | TextCell | str, ...]
    place: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    whole: bool = False
    told: bool = False
    about: Mapping[str, str] = field(default_factory=dict)  # its language and topic, by axis; of several with spaces


@dataclass(frozen=True, slots=True)
class Group:
    """Lines of one model, under a common head or, without one, below a line of the whole model.

    Without a `model` they are of several.
    """

    model: str
    head: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class PageTable:
    """A table for the macro `grouped` of `parts.html.jinja`; `title` names it for screen readers."""

    title: str
    caption: str
    label: str  # the head of the lines
    columns: tuple[Column, ...]
    groups: tuple[Group, ...]
    style: str = ""  # a class of the page's style sheet


def about_of(row: Row) -> dict[str, str]:
    """The language and the topic that a row is about, where it is about one."""
    found = {axis: row.get(axis) for axis in ("language", "topic")}
    return {axis: code for axis, code in found.items() if isinstance(code, str) and code not in (EVERY, WITHOUT)}


def place_label(row: Row, names: Names) -> str:
    """The name of a line: language, culture and type; None in a column means all."""
    if row.get("language") is None:
        return "All languages, cultures and types"
    return f"{names.language(row['language'])}, {row['culture']}: {row['entity_type'] or 'all types'}"


def page_table(
    data: ReportData,
    rows: Sequence[Row],
    columns: Sequence[Column],
    *,
    title: str,
    caption: str,
    by: Sequence[str] = ("dataset", "form"),
    head: Callable[[Row], str] | None = None,
    label: Callable[[Row, Names], str] = place_label,
    line_head: str = "Language, culture: type",
    place: Sequence[str] = (),
) -> PageTable:
    """The table of rows, grouped by model, in the experiment file's order, and by the columns `by`, if they have them.

    The head of a group is the model's name and what `head` says of the group's first row: without it, these columns.
    The columns of `place` are axes of the evidence, where a line leads.
    """
    by = [name for name in by if rows and name in rows[0]]
    found: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        found.setdefault((row["model"], *(row[name] for name in by)), []).append(row)
    models = ordered(data.manifest.models, [model for model, *_ in found])
    groups = [
        Group(
            model,
            data.names.model(model) + (head(own[0]) if head else "".join(f", {own[0][name]}" for name in by)),
            tuple(
                Line(
                    label(row, data.names),
                    tuple(column.cell(row) for column in columns),
                    {axis: row[axis] for axis in place},
                    about=about_of(row),
                )
                for row in own
            ),
        )
        for (model, *_), own in sorted(found.items(), key=lambda one: (models.index(one[0][0]), *one[0][1:]))
    ]
    return PageTable(title, caption, line_head, tuple(columns), tuple(groups))


def plain_table(
    rows: Iterable[Row],
    columns: Sequence[Column],
    *,
    title: str,
    caption: str = "",
    line_head: str,
    label: Callable[[Row], str],
    head: Callable[[Row], str] = lambda _: "",
    note: Callable[[Row], str] = lambda _: "",
    told: Callable[[Row], bool] = lambda _: False,
    about: Callable[[Row], Mapping[str, str]] = about_of,
    style: str = "",
) -> PageTable:
    """The table of rows in their order, which are not of a model each; rows that follow with one head are a group."""
    groups = (
        Group(
            "",
            said,
            tuple(
                Line(
                    label(row),
                    tuple(column.cell(row) for column in columns),
                    note=note(row),
                    told=told(row),
                    about=about(row),
                )
                for row in own
            ),
        )
        for said, own in groupby(rows, head)
    )
    return PageTable(title, caption or f"{title}, with 95 % intervals", line_head, tuple(columns), tuple(groups), style)


def model_table(
    data: ReportData,
    rows: Sequence[Row],
    columns: Sequence[Column],
    *,
    title: str,
    caption: str,
    axis: str,
    place: Sequence[str] = (),
) -> PageTable:
    """The table of rows that are a model and a language, or a model and a topic (`axis`), in the experiment's order."""
    asked = {"language": data.manifest.languages, "topic": data.manifest.topics}[axis]
    order = ordered(asked, [row[axis] for row in rows])
    return page_table(
        data, sorted(rows, key=lambda row: order.index(row[axis])), columns, title=title, caption=caption, by=(),
        label=lambda row, names: getattr(names, axis)(row[axis]), line_head=f"Model, {axis}",
        place=place,
    )  # fmt: skip


def whole_table(
    data: ReportData,
    lines: Mapping[tuple[str, str | None], Row],
    columns: Sequence[Column],
    *,
    title: str,
    caption: str,
    note: Callable[[str], str] = lambda _: "",
) -> PageTable:
    """A line per model, with the `note` on it, and below it one per language, where there are several.

    `lines` are by model and language.
    """

    def line(model: str, language: str | None) -> Line:
        cells = tuple(column.cell(lines[model, language]) for column in columns)
        if language is None:
            return Line(data.names.model(model), cells, {"model": model}, note(model), whole=True)
        place = {"model": model, "language": language}
        return Line(data.names.language(language), cells, place, about={"language": language})

    groups = []
    several = len({language for _, language in lines if language is not None}) > 1
    for model in ordered(data.manifest.models, [model for model, _ in lines]):
        own = [language for of, language in lines if of == model]
        languages = ordered(data.manifest.languages, [language for language in own if language is not None])
        every = [None, *(languages if several else [])] if None in own else languages
        groups.append(Group(model, "", tuple(line(model, language) for language in every)))
    return PageTable(title, caption, "Model, language", tuple(columns), tuple(groups))


def table_section(name: str, table: ReportTable, texts: Path, columns: Sequence[Column]) -> Section:
    """The section of one table; its texts have the word `reads` (above the table) and may have `caption`."""

    def build(data: ReportData) -> PageTable | None:
        said = section_texts(texts)
        rows = data.reading.lines(table.file)
        return (
            page_table(data, rows, columns, title=said.title, caption=said.words.get("caption", said.title))
            if rows
            else None
        )

    return Section(name, build, _TEMPLATE, texts, (table,))


def measured(kind: str, column: str) -> Callable[[Row], FormattedEstimate]:
    """A number with its interval (`<column>_low`, `<column>_high`), or the reason in `lacking` why there is none."""

    def cell(row: Row) -> FormattedEstimate:
        low, high = row[f"{column}_low"], row[f"{column}_high"]
        return estimate(kind, row[column], low, high, without=known(row["lacking"]) or "no_interval")

    return cell


def number(kind: str, column: str) -> Callable[[Row], FormattedEstimate]:
    """A number that has no interval."""

    def cell(row: Row) -> FormattedEstimate:
        return FormattedEstimate(decimal(row[column], kind), None, None)

    return cell


def counted(column: str) -> Callable[[Row], str]:
    """A count: 1,234."""

    def cell(row: Row) -> str:
        return count(row[column])

    return cell


def written(column: str) -> Callable[[Row], str]:
    """A text."""
    return lambda row: str(row[column])
