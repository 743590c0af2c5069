"""What the report's section on question sets shows: a set and language a block, with figures and a table."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Any

from polyculture.instruments.questions.layout import ASK_METHODS
from polyculture.instruments.questions.numbers.families import MATCHES
from polyculture.instruments.questions.set_figures import SIGNED, MarkFigure, figures_of
from polyculture.instruments.questions.set_words import (
    STUDY,
    Unread,
    citation,
    coverage,
    different_questions,
    how_asked,
    part_label,
    study_label,
    title_of,
    unread_answers,
    unread_by_languages,
)
from polyculture.instruments.questions.shown import COVERAGE, SCORES, SETTINGS, TEXTS
from polyculture.reports.numbers import FormattedEstimate, Row, decimal, estimate, known, lacking, share
from polyculture.reports.section import ReportData
from polyculture.reports.table_section import Column, PageTable, counted, page_table
from polyculture.reports.texts import section_texts, texts

_BOUNDS = ("chance", "max_bias_a", "max_bias_d")
_KEYED = ("accuracy", "ranked_first")  # of answers to questions that have a right option
_MARKS = ("ᵃ", "ᵇ", "ᶜ", "ᵈ", "ᵉ", "ᶠ", "ᵍ")  # of reasons, each of which is written below the table once
_MINUS, _FACETS = re.compile(r"(?<!\w)-"), re.compile(r"\[[^\]]*\]")


@dataclass(frozen=True, slots=True)
class SetBlock:
    """A set in a language."""

    title: str
    asked: tuple[str, ...]  # how it was asked, a sentence each method
    cite: str
    figures: tuple[MarkFigure, ...]
    table: PageTable
    unkeyed: int  # answers to questions without a right option
    undirected: int
    has_bounds: bool  # a number depends on whether unread answers are counted as 'unknown'
    covered: str  # how many of the set's questions were answered
    differing: str | None  # that models answered different ones
    missing: tuple[tuple[str, str], ...]  # marks in the table, each with the reason why a number or interval is missing


@dataclass(frozen=True, slots=True)
class QuestionSets:
    """The context of the section."""

    sets: tuple[SetBlock, ...]
    unread: tuple[Unread, ...]
    languages: tuple[str, ...]  # of a model and set: shares that are not read by language, where they differ


def build(data: ReportData) -> QuestionSets | None:
    """The context of the section; None where no answer of a question set was measured."""
    lines = _study_lines(data.reading.rows(SCORES, part="any"))
    if not lines:
        return None
    covered: dict[Any, list[Row]] = defaultdict(list)
    for row in data.reading.rows(COVERAGE):
        covered[row["dataset"], row["language"]].append(row)
    asked: dict[Any, list[Row]] = defaultdict(list)
    for row in data.reading.rows(SETTINGS):
        asked[row["dataset"], row["language"]].append(row)
    blocks = groupby(lines, key=lambda line: (line["dataset"], line["language"]))
    return QuestionSets(
        tuple(_block(data, *key, list(some), covered[key], asked[key]) for key, some in blocks),
        tuple(unread_answers(data)),
        tuple(unread_by_languages(data)),
    )


def _study_lines(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """A line per study and part, with its `numbers` by metric."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows:
        key = tuple(row[name] for name in (*STUDY, "part", "value"))
        # Numbers that are called by their reader have one column: its group says which they are.
        own = "match" if row["metric"] in MATCHES else row["metric"]
        column = ASK_METHODS[row["method"]].column or own
        found.setdefault(
            key, {**row, "condition": row["condition"] or "", "prompt": row["prompt"] or "", "numbers": {}}
        )["numbers"][column] = row
    return list(found.values())


def _block(
    data: ReportData,
    dataset: str,
    language: str,
    lines: Sequence[Row],
    answered: Sequence[Row],
    settings: Sequence[Row],
) -> SetBlock:
    words = section_texts(TEXTS).words
    there = dict.fromkeys(name for line in lines for name in line["numbers"])
    declared = {
        name: str(row["declared"]) for line in lines for name, row in line["numbers"].items() if row["declared"]
    }
    heads = {name: (name, text) for name, text in declared.items()} | words["metrics"]
    metrics = [name for name in heads if name in there]
    title = title_of(data, dataset, language)
    marks: dict[str, str] = {}
    columns = [
        *(Column(heads[name][0], partial(_noted_cell, name, marks), heads[name][1]) for name in metrics),
        Column("Not read", _not_read, "answers that pick no option, of those that came"),
        Column("Answers", counted("answered"), is_size=True),
        Column("Failed", counted("failed"), "answers that did not come", is_size=True),
    ]
    sized = [line for line in lines if line["answered"] is not None]
    table = page_table(
        data,
        lines,
        columns if len(sized) == len(lines) else columns[: len(metrics)],
        title=title,
        caption=f"{title}, with 95 % intervals",
        by=("method", "reader", "condition", "prompt"),
        head=study_label,
        label=part_label,
        line_head="Questions",
    )
    whole = [line for line in lines if line["part"] == "all"]
    figures = figures_of(data, title, whole, [name for name in metrics if name not in (*_BOUNDS, *declared)])
    keyed = [(line, line["numbers"][name]["n"]) for line in whole for name in _KEYED if name in line["numbers"]]
    # A number that is withheld does not say how many answers it is about.
    unkeyed = max(((line["answered"] or 0) - n for line, n in keyed if n is not None), default=0)
    undirected = max((line["undirected"] or 0 for line in whole), default=0)
    return SetBlock(
        title,
        tuple(map(how_asked, settings)),
        citation(dataset),
        tuple(figures),
        table,
        unkeyed,
        undirected,
        any(row["as_unknown"] is not None for line in lines for row in line["numbers"].values()),
        coverage(answered),
        different_questions(data, answered),
        tuple((mark, reason) for reason, mark in marks.items()),
    )


def subtracts(declared: str) -> bool:
    """Is something taken off in a declaration, so that its number can be below 0? Names and facets have hyphens."""
    return _MINUS.search(_FACETS.sub("", declared)) is not None


def _cell(metric: str, line: Row) -> FormattedEstimate:
    row = line["numbers"].get(metric)
    if row is None or row["estimate"] is None:
        return lacking(row["no_estimate"] if row and row["no_estimate"] else "unread_answers")
    kind = "difference" if metric in SIGNED or subtracts(row["declared"] or "") else "share"
    if metric in _BOUNDS:
        return FormattedEstimate(decimal(row["estimate"], kind), None, None)
    reason = row["no_interval"] if row["no_interval"] in texts().missing else "no_interval"
    if row["as_unknown"] is None:
        return estimate(kind, row["estimate"], row["low"], row["high"], without=reason)
    first, second = (decimal(value, kind) for value in sorted((row["estimate"], row["as_unknown"])))
    ends = [known(row[name]) for name in ("low", "high", "as_unknown_from", "as_unknown_to")]
    whole = estimate(kind, row["estimate"], None, None, without=reason)
    if all(end is not None for end in ends):
        whole = estimate(kind, row["estimate"], min(ends[::2]), max(ends[1::2]))
    return replace(whole, value=f"{first} to {second}", thin="bounds")


def _noted_cell(metric: str, marks: dict[str, str], line: Row) -> FormattedEstimate:
    """A cell with a mark in the place of the reason why its number or interval is missing; `marks` takes the reason."""
    found = _cell(metric, line)
    if found.missing is None:
        return found
    mark = marks.setdefault(found.missing, _MARKS[min(len(marks), len(_MARKS) - 1)])
    return replace(found, value=f"{found.value or '–'}{mark}", missing=None)


def _not_read(line: Row) -> str:
    return "–" if line["unread"] is None else share(line["unread"], 1) or "–"
